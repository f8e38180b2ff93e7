"""What the formats of graphs have in common: edges that know their place, statements in braces (DOT and
its descendant dagitty), and hidden variables that are projected out and reported."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, NoReturn, TypeVar

from dobandit.errors import CycleError, GraphError, UnknownAttribute
from dobandit.graph.admg import Graph
from dobandit.graph.checking import Edge, Origin
from dobandit.graph.latents import without_latents
from dobandit.graph.marks import check_setting
from dobandit.graph.names import RULE, quoted
from dobandit.graph.scan import Token, Tokens

DEEPEST = 50
_ESCAPED = re.compile(r'\\(["\\])')
T = TypeVar("T")


class Found:
    """The variables and edges that a reader has met, in their order, and the place of every edge."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = dict.fromkeys(names)
        self.directed: dict[Edge, Token] = {}
        self.bidirected: dict[Edge, Token] = {}

    def declare(self, name: str) -> None:
        self.names.setdefault(name)

    def join(self, left: Sequence[Token], operator: Token, right: Sequence[Token], all_pairs: bool = False) -> None:
        """An edge between every variable of `left` and every one of `right`; with `all_pairs`, where both name the
        same two variables, once, and none from a variable to itself."""
        pairs = {(a.text, b.text): (a, b) for a in left for b in right}
        for (a, b), ends in pairs.items():
            if not (all_pairs and (a == b or ((b, a) in pairs and b < a))):
                self.edge(ends[0], operator, ends[1])

    def edge(self, a: Token, operator: Token, b: Token) -> None:
        if a.text == b.text:
            b.fail(f"{quoted(a.text)} {operator.text} {quoted(b.text)} is a self loop; a variable cannot act on itself")
        if operator.text == "<->":
            pair, edges = (min(a.text, b.text), max(a.text, b.text)), self.bidirected
        else:
            pair, edges = (a.text, b.text) if operator.text == "->" else (b.text, a.text), self.directed
        if pair in edges:
            edge = f"{quoted(a.text)} {operator.text} {quoted(b.text)}"
            operator.fail(f"the edge {edge} is given twice (first in line {edges[pair].line})")
        edges[pair] = operator

    def build(self, build: Callable[[list[Edge], list[Edge], list[str]], T]) -> T:
        """`build(directed, bidirected, names)`, where a cycle is reported at the last of its edges."""
        try:
            return build(list(self.directed), list(self.bidirected), list(self.names))
        except CycleError as error:
            steps = [self.directed[edge] for edge in pairwise(error.cycle)]
            last = max(steps, key=lambda token: (token.line, token.column))
            raise CycleError(error.cycle, last.line, last.column) from None


class Link(NamedTuple):
    """One arrow of a chain such as `{a b} -> c -> d`."""

    left: list[Token]
    operator: Token
    right: list[Token]


class Attribute(NamedTuple):
    key: Token
    value: Token | None

    def read(self, read: Callable[[str, str], T]) -> T:
        """`read(key, value)`, where what is wrong is reported at its place; without a value it is a yes."""
        try:
            return read(self.key.text, self.value.text if self.value else "yes")
        except UnknownAttribute as error:
            self.key.fail(error.message)
        except GraphError as error:
            (self.value or self.key).fail(error.message)


class Braces(ABC):
    """A reader of DOT or a descendant of it, where a set of variables is itself statements in braces.

    A format says with which word a text begins (`opening`) and why other words are refused there (`other_openings`),
    what its tokens are (`patterns`), which words cannot be bare names (`reserved`) and which of them set defaults
    (`defaults`), why some kinds of tokens are refused (`refused`), and what attributes mean for edges and variables.
    """

    opening: str
    other_openings: Mapping[str, str]
    patterns: Mapping[str, str]
    reserved: Collection[str]
    defaults: Collection[str]
    refused: Mapping[str, str]

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text, self.patterns)
        self.found = Found()
        self.depth = 0

    def graph(self) -> Graph:
        """Read everything, and build the graph of the variables that are not hidden."""
        self.header()
        self.block()
        if self.tokens.next.kind != "end":
            self.refuse(self.tokens.next, "the end of the text after the last '}'")
        whole = self.found.build(Graph.from_edges)
        return without_latents(whole, self.found.names, self.hidden(), self.origin())

    def header(self) -> None:
        """Everything before the first brace."""
        if other := self.keyword(*self.other_openings):
            other.fail(self.other_openings[other.text.lower()])
        if not self.keyword(self.opening):
            self.refuse(self.tokens.next, f"'{self.opening}'")
        if not self.at_set():
            self.identifier(f"a name or '{{' after '{self.opening}'")

    @abstractmethod
    def hidden(self) -> Collection[str]:
        """The variables that are hidden, once everything is read."""

    def origin(self) -> Origin:
        """What else the text says."""
        return Origin()

    @abstractmethod
    def edges(self, links: list[Link], attributes: list[Attribute]) -> None:
        """What a chain of variables and sets says."""

    @abstractmethod
    def mark(self, variable: Token, attributes: list[Attribute]) -> None:
        """What attributes say of a single variable."""

    def set_default(self, word: str, attributes: list[Attribute]) -> None:
        """What `word [...]` says of what follows. Of the whole drawing it says nothing about causes (rankdir=LR)."""
        for attribute in attributes:
            attribute.read(check_setting)

    # -- statements ----------------------------------------------------------------------------

    def block(self) -> list[Token]:
        """Statements in braces; hands back the variables that they name, each once."""
        if self.tokens.next.text != "{":
            self.refuse(self.tokens.next, "'{'")
        opening = self.tokens.take()
        if self.depth == DEEPEST:
            opening.fail(f"more than {DEEPEST} braces are open inside each other")
        self.depth += 1
        named: dict[str, Token] = {}
        while not self.tokens.take_if("}"):
            if not self.tokens.take_if(";"):
                named |= {token.text: token for token in self.statement()}
        self.depth -= 1
        return list(named.values())

    def statement(self) -> list[Token]:
        """One statement; hands back the variables that it names."""
        if default := self.keyword(*self.defaults):
            if self.tokens.next.text != "[":
                self.refuse(self.tokens.next, f"'[' after the word '{default.text}', which as a name needs quotes")
            self.set_default(default.text.lower(), self.attributes())
            return []
        word = None if self.at_set() else self.identifier("a variable, a set or '}'")
        if word and self.tokens.take_if("="):
            Attribute(_plain(word), self.value()).read(check_setting)
            return []
        word = word and self.variable(word)
        left = [word] if word else self.members()
        links = self.links(left)
        attributes = self.attributes() if word or links else []
        if links:
            self.edges(links, attributes)
        elif word:
            self.mark(word, attributes)
        return [*left, *(token for link in links for token in link.right)]

    def links(self, left: list[Token]) -> list[Link]:
        links: list[Link] = []
        while self.tokens.next.kind == "operator":
            operator = self.tokens.take()
            if self.at_set():
                right = self.members()
            else:
                right = [self.variable(self.identifier(f"a variable or a set after {operator}"))]
            links.append(Link(left, operator, right))
            left = right
        return links

    def at_set(self) -> bool:
        return self.tokens.next.text == "{"

    def members(self) -> list[Token]:
        return self.block()

    def attributes(self) -> list[Attribute]:
        """`[key=value, key]`, any number of times."""
        found: list[Attribute] = []
        while self.tokens.take_if("["):
            while not self.tokens.take_if("]"):
                key = _plain(self.identifier("an attribute or ']'"))
                value = self.value() if self.tokens.take_if("=") else None
                found.append(Attribute(key, value))
                self.tokens.take_if(",", ";")
        return found

    def value(self) -> Token:
        """The value of an attribute."""
        return _plain(self.identifier("a value after '='"))

    # -- words ---------------------------------------------------------------------------------

    def keyword(self, *words: str) -> Token | None:
        """The next token if it is one of these words without quotes, in capitals or not."""
        token = self.tokens.next
        return self.tokens.take() if token.kind == "word" and token.text.lower() in words else None

    def identifier(self, wanted: str) -> Token:
        """A word, or a text in quotes as it is written."""
        token = self.tokens.take()
        if token.kind not in ("word", "quoted"):
            self.refuse(token, wanted)
        if token.text.lower() in self.reserved:
            word = f"the word '{token.text}' of this format"
            token.fail(f"expected {wanted}, found {word}; as a name it needs quotes")
        return token

    def variable(self, token: Token) -> Token:
        token = token.named()
        self.found.declare(token.text)
        return token

    def refuse(self, token: Token, wanted: str) -> NoReturn:
        rule = f"; {RULE}" if token.kind == "other" else ""
        token.fail(self.refused.get(token.kind) or f"expected {wanted}, found {token}{rule}")


def _plain(token: Token) -> Token:
    """The text of an attribute, without its quotes."""
    return token._replace(text=_ESCAPED.sub(r"\1", token.text[1:-1])) if token.kind == "quoted" else token
