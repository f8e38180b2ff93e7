"""Graphviz DOT: `digraph { X -> M -> Y; X -> Y [dir=both] }`.

An edge with `dir=both` is a hidden common cause (`<->`); every other attribute is drawing and is passed
over. The reader is strict: an undirected edge, or a construct that would change which variables an edge
joins without our knowing it, is an error with its place.
"""

from __future__ import annotations

from dobandit.graph.admg import Graph
from dobandit.graph.formats import Attribute, Braces, Link, edges_in_order
from dobandit.graph.scan import Token

PATTERNS = {
    "skip": r"(?m:^[ \t]*#[^\n]*)|\n|[ \t\r\f\v]+|//[^\n]*|/\*.*?\*/",
    "quoted": r'"(?:[^"\\]|\\.)*"',
    "unclosed": r'(?:"|/\*).*',
    "operator": "->",
    "undirected": "--",
    "backwards": "<->|<-",
    "html": "<",
    "word": r"[^\W\d][\w.]*|-?(?:\.\d+|\d+(?:\.\d*)?)",
    "mark": r"[{}\[\]=;,]",
    "port": ":",
    "other": ".",
}
RESERVED = frozenset({"strict", "graph", "digraph", "subgraph", "node", "edge"})
REFUSED = {
    "unclosed": "this quote or comment is never closed",
    "undirected": "'--' has no direction; write 'X -> Y', or 'X -> Y [dir=both]' for a hidden cause of both",
    "backwards": "DOT has only '->'; write 'X -> Y [dir=back]' for <- and 'X -> Y [dir=both]' for <->",
    "html": "HTML labels '<...>' are not read; write the label in quotes",
    "port": "ports such as X:n are not read; leave ':' and what follows it out",
}
ARROWS = {"forward": "->", "back": "<-", "both": "<->"}


def read(text: str) -> Graph:
    """
    >>> read('digraph { rankdir=LR; X -> {M Y}; M -> Y; X -> Y [dir=both] }')
    Graph('X -> {M, Y}; M -> Y; X <-> Y')
    """
    return _Reader(text).graph()


def write(graph: Graph) -> str:
    """All variables in their order, then the edges; names in quotes, so that none is a word of DOT.

    >>> print(write(Graph("X -> Y; X <-> Y")))
    digraph {
      "X";
      "Y";
      "X" -> "Y";
      "X" -> "Y" [dir=both, style=dashed];
    }
    """
    directed, bidirected = edges_in_order(graph)
    lines = [f'  "{v}";' for v in graph.variables]
    lines += [f'  "{a}" -> "{b}";' for a, b in directed]
    lines += [f'  "{a}" -> "{b}" [dir=both, style=dashed];' for a, b in bidirected]
    return "\n".join(["digraph {", *lines, "}"])


class _Reader(Braces):
    patterns, reserved, refused = PATTERNS, RESERVED, REFUSED

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.arrow = "->"  # of an edge that does not say its `dir`
        self.subgraphs: set[str] = set()

    def header(self) -> None:
        self.keyword("strict")
        if undirected := self.keyword("graph"):
            undirected.fail("a 'graph' has no directions; write 'digraph' and '->'")
        if not self.keyword("digraph"):
            self.refuse(self.tokens.next, "'digraph'")
        if not self.at_set():
            self.identifier("a name or '{' after 'digraph'")

    def block(self) -> list[Token]:
        outside = self.arrow  # `edge [dir=...]` holds up to the brace that closes its block
        named = super().block()
        self.arrow = outside
        return named

    def statement(self) -> list[Token]:
        defaults = self.defaults("node", "edge", "graph")
        if defaults is None:
            return super().statement()
        word, attributes = defaults
        if word == "edge":
            self.arrow = self.direction(attributes)
        return []

    def at_set(self) -> bool:
        token = self.tokens.next
        return super().at_set() or (token.kind == "word" and token.text.lower() == "subgraph")

    def members(self) -> list[Token]:
        if self.keyword("subgraph") and self.tokens.next.text != "{":
            name = self.identifier("a name or '{' after 'subgraph'")
            if name.text in self.subgraphs:
                # Graphviz would add to the first one, and let its variables take part in this edge.
                name.fail(f"subgraph {name.text} is given twice; give the second one another name")
            self.subgraphs.add(name.text)
        return self.block()

    def attributes(self) -> list[Attribute]:
        attributes = super().attributes()
        for key, value in attributes:
            if value is None:
                key.fail(f"the attribute {key} has no value; write {key.text}=...")
        return attributes

    def edges(self, links: list[Link], attributes: list[Attribute]) -> None:
        arrow = self.direction(attributes)
        for left, operator, right in links:
            self.found.join(left, operator._replace(text=arrow), right)

    def mark(self, variable: str, attributes: list[Attribute]) -> None:
        """Whatever DOT says of a single variable is drawing."""

    def direction(self, attributes: list[Attribute]) -> str:
        """The arrow that `dir` asks for, the last one if there are several, else that of the block."""
        arrow = self.arrow
        for value in [value for key, value in attributes if key.text == "dir" and value]:
            if value.text == "none":
                value.fail("dir=none leaves open which way the edge points; write forward, back or both")
            if value.text not in ARROWS:
                value.fail(f"unknown dir {value}; write forward, back or both")
            arrow = ARROWS[value.text]
        return arrow
