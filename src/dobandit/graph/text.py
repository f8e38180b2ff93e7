"""Our own way to write a graph: `X1 -> X2 -> "Customer segment"; {X1, X2} <-> X3  # a comment`.

Statements end with `;` or a newline. A chain joins variables, or sets of them in braces, by `->`,
`<-` and `<->`; a variable on its own declares itself. `<->` between two sets that overlap joins every two
different variables, so `{A, B, C} <-> {A, B, C}` says that hidden causes may relate them all. The reader is
strict: whatever it does not know is an error with its place, because an edge that is lost silently makes a
wrong effect look right.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from dobandit.errors import listing
from dobandit.graph.checking import Parts, checked
from dobandit.graph.edges import Edges, edges_in_order
from dobandit.graph.formats import Found
from dobandit.graph.names import RULE, name_pattern, normal, quoted
from dobandit.graph.scan import Token, Tokens

PATTERNS = {
    "skip": r"[ \t\r]+|#[^\n]*",
    "newline": r"\n",
    "end_of_statement": ";",
    "name": name_pattern(),
    "unclosed": r'"[^\n]*',
    "operator": r"[-<>=~@|*+]+",
    "mark": r"[{},]",
    "other": r".",
}
OPERATORS = ("->", "<-", "<->")


def read(text: str, variables: Iterable[str] | None) -> Parts:
    """The variables and edges of a text."""
    return _Reader(Tokens(text, PATTERNS), variables).found.build(checked)


def write(graph: Edges) -> str:
    """One line for each variable's children, then the hidden causes; bare names where the order needs them.

    >>> from dobandit.graph import Graph
    >>> print(write(Graph("A <-> C; A -> B; A -> C")))
    A -> {C, B}
    A <-> C
    """
    from dobandit.graph.admg import Graph

    directed, bidirected = edges_in_order(graph)
    lines = []
    for a, edges in groupby(directed, key=lambda edge: edge[0]):
        children = [quoted(b) for _, b in edges]
        lines.append(f"{quoted(a)} -> " + (children[0] if len(children) == 1 else f"{{{', '.join(children)}}}"))
    lines += [f"{quoted(a)} <-> {quoted(b)}" for a, b in bidirected]
    if Graph("\n".join(lines)).variables != graph.variables:
        lines.insert(0, "; ".join(map(quoted, graph.variables)))
    return "\n".join(lines)


class _Reader:
    def __init__(self, tokens: Tokens, variables: Iterable[str] | None) -> None:
        self.tokens = tokens
        self.allowed = None if variables is None else list(map(normal, variables))
        self.found = Found(self.allowed or [])
        while tokens.next.kind != "end":
            if not tokens.take_if("newline", "end_of_statement"):
                self.statement()

    def statement(self) -> None:
        left = self.ends("a variable")
        while self.tokens.next.kind not in ("newline", "end_of_statement", "end"):
            operator = self.operator()
            right = self.ends(f"a variable after '{operator.text}'")
            # Two sets mean every two different variables, since they may overlap.
            are_sets = operator.text == "<->" and len(left) > 1 and len(right) > 1
            self.found.join(left, operator, right, all_pairs=are_sets)
            left = right

    def operator(self) -> Token:
        token = self.tokens.take()
        if token.kind != "operator":
            token.fail(f"expected '->', '<-', '<->' or the end of the statement, found {token}{_hint(token)}")
        if token.text not in OPERATORS:
            token.fail(f"unknown operator '{token.text}'; edges are written '->', '<-' or '<->'")
        return token

    def ends(self, wanted: str) -> list[Token]:
        """One variable, or a set of them in braces."""
        if not self.tokens.take_if("{"):
            return [self.name(wanted)]
        found = [self.name("a variable after '{'")]
        while self.tokens.take_if(","):
            found.append(self.name("a variable after ','"))
        self.tokens.expect("}", f"expected ',' or '}}'{_hint(self.tokens.next)}")
        for i, token in enumerate(found):
            if token.text in [t.text for t in found[:i]]:
                token.fail(f"{quoted(token.text)} is named twice in this set")
        return found

    def name(self, wanted: str) -> Token:
        token = self.tokens.take()
        if token.kind == "other":
            token.fail(f"expected {wanted}, found {token}; {RULE}")
        if token.kind == "unclosed":
            token.fail("this quote is not closed on its line")
        if token.kind != "name":
            token.fail(f"expected {wanted}" + ("" if token.kind in ("end", "newline") else f", found {token}"))
        token = token.named()
        if self.allowed is not None and token.text not in self.found.names:
            token.fail(f"{quoted(token.text)} is not among the variables {listing(map(quoted, self.allowed))}")
        self.found.declare(token.text)
        return token


def _hint(token: Token) -> str:
    """Two names in a row may be one."""
    return '; a name with a space is written in quotes: "my name"' if token.kind == "name" else ""
