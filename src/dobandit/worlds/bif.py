"""The Bayesian Interchange Format, in which the networks of the literature are handed around.

    variable rain { type discrete [ 2 ] { yes, no }; }
    variable wet { type discrete [ 2 ] { yes, no }; }
    probability ( rain ) { table 0.2, 0.8; }
    probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.1, 0.9; }

A row names the values of the parents; `default` fills the rows that are not named. A `table` with
parents runs through the values of the variable slowest and of the last parent fastest, as the
format says (Cozman 1998). Commas and `|` are optional there, and here. The reader is strict in
everything else, and every error has its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import GraphError, WorldError
from dobandit.graph import Found, Graph, Token, Tokens, check_name
from dobandit.problem import label
from dobandit.worlds.tables import TOLERANCE, check_size, normalised, number

PATTERNS = {
    "skip": r"\s+|//[^\n]*|/\*.*?\*/",
    "quoted": r'"[^"\n]*"',
    "mark": r"[{}()\[\],;|]",
    "word": r'(?:(?!//|/\*)[^\s{}()\[\],;|"])+',
}


@dataclass(frozen=True)
class Network:
    """What a file says: the arrows, the values, and tables with axes (trial, *parents, the variable)."""

    graph: Graph
    domains: dict[str, tuple[str, ...]]
    parents: dict[str, tuple[str, ...]]
    tables: dict[str, Array]


def read(text: str, source: str) -> Network:
    """The network in this text; `source` is what errors call it.

    >>> read("variable rain { type discrete [ 2 ] { yes, no } }", "wet.bif")
    Traceback (most recent call last):
    dobandit.errors.WorldError: wet.bif, line 1, column 49: expected ';', found '}'
    """
    try:
        return _Reader(text).network()
    except GraphError as error:
        raise WorldError(f"{source}, line {error.line}, column {error.column}: {error.message}") from None


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text, PATTERNS)
        self.found = Found()
        self.declared: dict[str, Token] = {}
        self.domains: dict[str, tuple[str, ...]] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, Array] = {}

    def network(self) -> Network:
        blocks = {"network": self.header, "variable": self.variable, "probability": self.probability}
        while self.tokens.next.kind != "end":
            word = self.tokens.take()
            if word.text not in blocks:
                word.fail(f"expected 'network', 'variable' or 'probability', found {word}")
            blocks[word.text]()
        if not self.declared:
            self.tokens.next.fail("there is no variable in this file")
        for name, place in self.declared.items():
            if name not in self.tables:
                place.fail(f"{name} has no probabilities: there is no block 'probability ( {name} )'")
        return Network(self.found.build(Graph.from_edges), self.domains, self.parents, self.tables)

    # -- blocks --------------------------------------------------------------------------------

    def header(self) -> None:
        if self.tokens.next.text != "{":
            self.word("the name of the network or '{'")
        for entry in self.entries():
            entry.fail(f"expected 'property' or '}}', found {entry}")

    def variable(self) -> None:
        name = self.word("the name of a variable")
        try:
            check_name(name.text)
        except GraphError as error:
            name.fail(error.message)
        if name.text in self.declared:
            name.fail(f"the variable {name.text} is declared twice")
        values: tuple[str, ...] = ()
        for entry in self.entries():
            if entry.text != "type" or values:
                entry.fail("expected " + ("" if values else "'type', ") + f"'property' or '}}', found {entry}")
            values = self.type()
        if not values:
            name.fail(f"the type of {name.text} is missing")
        self.declared[name.text], self.domains[name.text] = name, values
        self.found.declare(name.text)

    def type(self) -> tuple[str, ...]:
        kind = self.word("'discrete'")
        if kind.text != "discrete":
            kind.fail(f"only variables of the type 'discrete' can be read, not {kind}")
        self.tokens.expect("[", "expected '['")
        count = self.word("the number of values")
        self.tokens.expect("]", "expected ']'")
        self.tokens.expect("{", "expected '{'")
        values: dict[str, None] = {}
        for token in self.items("}", "a value"):
            value = label(token.text)
            if not value or value in values:
                token.fail(f"the value {value} is listed twice" if value else "a value must not be empty")
            values[value] = None
        self.tokens.expect(";", "expected ';'")
        if not values or count.text != str(len(values)):
            count.fail(f"the number of values is {count}, but {len(values)} are listed")
        return tuple(values)

    def probability(self) -> None:
        self.tokens.expect("(", "expected '('")
        child = self.known(self.word("a variable"))
        if child.text in self.tables:
            child.fail(f"the probabilities of {child.text} are given twice")
        self.tokens.take_if("|", ",")
        for parent in self.items(")", "a parent"):
            edge = (self.known(parent).text, child.text)
            if parent.text == child.text or edge in self.found.directed:
                parent.fail(f"{parent.text} is named twice")
            self.found.directed[edge] = parent
        parents = tuple(a for a, b in self.found.directed if b == child.text)
        self.parents[child.text] = parents
        self.tables[child.text] = self.table(child, parents)

    # -- probabilities -------------------------------------------------------------------------

    def table(self, child: Token, parents: tuple[str, ...]) -> Array:
        """What stands between the braces of a block 'probability'."""
        table = self.empty(child, parents)
        card = table.shape[-1]
        default: Array | None = None
        for entry in self.entries():
            if entry.text == "table":
                flat = self.numbers(entry, prod(table.shape)).reshape(card, *table.shape[1:-1])
                self.fill(entry, table, np.moveaxis(flat, 0, -1)[np.newaxis], child, parents)
            elif entry.text == "(":
                row = table[0][tuple(self.codes(entry, parents))]
                self.fill(entry, row[np.newaxis], self.numbers(entry, card)[np.newaxis], child)
            elif entry.text == "default" and default is None:
                default = np.full((1, card), np.nan)
                self.fill(entry, default, self.numbers(entry, card)[np.newaxis], child)
            else:
                entry.fail(f"expected a row such as '(yes, no)', 'table', 'default' or '}}', found {entry}")
        missing = np.isnan(table[..., 0])
        if missing.any() and default is None:
            named = zip(parents, np.argwhere(missing)[0][1:], strict=True)
            values = ", ".join(self.domains[parent][code] for parent, code in named)
            child.fail(f"the row ({values}) of {child.text} is missing, and there is no default")
        table[missing] = default
        return table

    def empty(self, child: Token, parents: tuple[str, ...]) -> Array:
        shape = [len(self.domains[name]) for name in (*parents, child.text)]
        try:
            check_size(child.text, shape)
        except WorldError as error:
            child.fail(str(error))
        return np.full([1, *shape], np.nan)

    def fill(self, entry: Token, into: Array, rows: Array, child: Token, parents: tuple[str, ...] = ()) -> None:
        """Write distributions where none are yet."""
        if not np.isnan(into).all():
            entry.fail(f"these probabilities of {child.text} are given twice")
        try:
            into[...] = normalised(rows, child.text, parents, self.domains)
        except WorldError as error:
            entry.fail(str(error))

    def codes(self, entry: Token, parents: tuple[str, ...]) -> list[int]:
        """The values of the parents that a row names."""
        named = list(self.items(")", "a value"))
        if len(named) != len(parents):
            entry.fail(f"a row names one value for each parent ({', '.join(parents)}), not {len(named)}")
        codes = []
        for parent, token in zip(parents, named, strict=True):
            if label(token.text) not in self.domains[parent]:
                known = ", ".join(self.domains[parent])
                token.fail(f"{parent} has no value {token.text}; its values are {known}")
            codes.append(self.domains[parent].index(label(token.text)))
        return codes

    def numbers(self, entry: Token, count: int) -> Array:
        values = []
        for token in self.items(";", "a probability"):
            value = number(token.text)
            if value is None or not 0 <= value <= 1 + TOLERANCE:
                token.fail(f"a probability is a number from 0 to 1, not {token}")
            values.append(value)
        if len(values) != count:
            entry.fail(f"expected {count} probabilities, found {len(values)}")
        return np.array(values, dtype=float)

    # -- words ---------------------------------------------------------------------------------

    def entries(self) -> Iterator[Token]:
        """The first token of every statement in braces; properties mean nothing here and are passed over."""
        self.tokens.expect("{", "expected '{'")
        while not self.tokens.take_if("}"):
            token = self.tokens.take()
            if token.text != "property":
                yield token
                continue
            while not self.tokens.take_if(";"):
                inside = self.tokens.take()
                if inside.kind == "end" or inside.text in ("{", "}"):
                    inside.fail(f"expected ';' at the end of the property, found {inside}")

    def items(self, closing: str, wanted: str) -> Iterator[Token]:
        """Words up to the closing mark, with or without commas between them."""
        while not self.tokens.take_if(closing):
            yield self.word(f"{wanted} or '{closing}'")
            self.tokens.take_if(",")

    def known(self, name: Token) -> Token:
        if name.text not in self.declared:
            name.fail(f"there is no variable {name.text} declared above")
        return name

    def word(self, wanted: str) -> Token:
        token = self.tokens.take()
        if token.kind == "quoted":
            return token._replace(text=token.text[1:-1])
        if token.kind != "word":
            token.fail(f"expected {wanted}, found {token}")
        return token
