"""Graphviz DOT: `digraph { X -> M -> Y; X -> Y [dir=both] }`.

An edge with `dir=both` is a hidden common cause (`<->`). A variable with `observed=no`, `latent=true` or the
like is hidden: it is projected out, and `origin` keeps what it left. Attributes of drawing, HTML labels and ports are
passed over.
The reader is strict: an attribute that is not known, an undirected edge, or a construct that would change
which variables an edge joins without our knowing it, is an error with its place.
"""

from __future__ import annotations

from functools import partial

from dobandit.graph.admg import Graph
from dobandit.graph.edges import Edges, edges_in_order
from dobandit.graph.formats import Attribute, Braces, Link
from dobandit.graph.marks import Marks, arrow
from dobandit.graph.names import in_quotes
from dobandit.graph.scan import Token

PATTERNS = {
    "skip": r"(?m:^[ \t]*#[^\n]*)|\n|[ \t\r\f\v]+|//[^\n]*|/\*.*?\*/",
    "quoted": r'"(?:[^"\\]|\\.)*"',
    "unclosed": r'(?:"|/\*).*',
    "operator": "->",
    "undirected": "--",
    "backwards": "<->|<-",
    "html": "<(?:[^<>]|<[^<>]*>)*>",  # a label; tags inside are closed each
    "less": "<",
    "word": r"[A-Za-z_\x80-\U0010ffff][\w.\x80-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?)",
    "mark": r"[{}\[\]=;,]",
    "port": ":",
    "other": ".",
}
RESERVED = frozenset({"strict", "graph", "digraph", "subgraph", "node", "edge"})
REFUSED = {
    "unclosed": "this quote or comment is never closed",
    "undirected": "'--' has no direction; write 'X -> Y', or 'X -> Y [dir=both]' for a hidden cause of both",
    "backwards": "DOT has only '->'; write 'X -> Y [dir=back]' for <- and 'X -> Y [dir=both]' for <->",
    "html": "HTML is the value of an attribute only; write a name in quotes",
    "less": "this '<' is never closed",
    "port": "a port such as ':n' follows the name of a variable",
}


def read(text: str) -> Graph:
    """
    >>> read('digraph { rankdir=LR; X -> {M Y}; M -> Y; X -> Y [dir=both] }')
    Graph('X -> {M, Y}; M -> Y; X <-> Y')
    >>> read('digraph { U [observed="no"]; U -> {X Y}; X -> Y }')
    Graph('X -> Y; X <-> Y')
    """
    return _Reader(text).graph()


def write(graph: Edges) -> str:
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
    lines = [f"  {in_quotes(v)};" for v in graph.variables]
    lines += [f"  {in_quotes(a)} -> {in_quotes(b)};" for a, b in directed]
    lines += [f"  {in_quotes(a)} -> {in_quotes(b)} [dir=both, style=dashed];" for a, b in bidirected]
    return "\n".join(["digraph {", *lines, "}"])


class _Reader(Braces):
    opening, other_openings = "digraph", {"graph": "a 'graph' has no directions; write 'digraph' and '->'"}
    patterns, reserved, defaults, refused = PATTERNS, RESERVED, ("node", "edge", "graph"), REFUSED

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.arrow = "->"  # of an edge that does not say its `dir`
        self.hides: bool | None = None  # what `node [...]` says of variables that are named here for the first time
        self.marks = Marks()
        self.by_default: dict[str, bool] = {}  # whether each variable was hidden where it was first named
        # Variables that are named again on their own where the default is another one, and that default:
        self.unclear: list[tuple[Token, bool | None]] = []
        self.subgraphs: set[str] = set()
        self.is_strict = False
        self.joined: dict[tuple[str, str], Token] = {}  # the arrows of a strict graph

    def header(self) -> None:
        self.is_strict = self.keyword("strict") is not None
        super().header()

    def block(self) -> list[Token]:
        outside = self.arrow, self.hides  # defaults hold up to the brace that closes their block
        named = super().block()
        self.arrow, self.hides = outside
        return named

    def set_default(self, word: str, attributes: list[Attribute]) -> None:
        if word == "edge":
            self.arrow = self.direction(attributes)
        elif word == "node":
            self.hides = self.default(attributes)
        else:
            super().set_default(word, attributes)

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

    def value(self) -> Token:
        return self.tokens.take_if("html") or super().value()

    def attributes(self) -> list[Attribute]:
        attributes = super().attributes()
        for key, value in attributes:
            if value is None:
                key.fail(f"the attribute {key} has no value; write {key.text}=...")
        return attributes

    def edges(self, links: list[Link], attributes: list[Attribute]) -> None:
        direction = self.direction(attributes)
        for left, operator, right in links:
            join = self.join_once if self.is_strict else self.found.join
            join(left, operator._replace(text=direction), right)
            # Named for the edge, not on their own, unless a default inside the braces was meant for them.
            ends = [(token, self.hides) for token in (*left, *right)]
            self.unclear = [named for named in self.unclear if named not in ends]

    def join_once(self, left: list[Token], arrow: Token, right: list[Token]) -> None:
        """A strict graph has one edge from a variable to another, however often it is written."""
        for a, b in {(a.text, b.text): (a, b) for a in left for b in right}.values():
            before = self.joined.setdefault((a.text, b.text), arrow)
            if before is arrow:
                self.found.edge(a, arrow, b)
            elif before.text != arrow.text:
                arrow.fail(
                    f"a strict graph has one edge from {a.text} to {b.text}, and line {before.line} gives it another "
                    "dir; leave out the word strict"
                )

    def variable(self, token: Token) -> Token:
        token = super().variable(token)
        self.by_default.setdefault(token.text, bool(self.hides))
        for _ in range(2):  # where an edge is drawn to, such as `:port:ne`, says nothing about causes
            if self.tokens.take_if(":"):
                self.identifier("a port after ':'")
        return token

    def mark(self, variable: Token, attributes: list[Attribute]) -> None:
        for attribute in attributes:
            attribute.read(partial(self.marks.read, variable.text))
        if self.hides not in (None, self.by_default[variable.text]):
            self.unclear.append((variable, self.hides))

    def default(self, attributes: list[Attribute]) -> bool | None:
        """Whether `node [...]` hides the variables that are new from here on; None if nothing was said."""
        marks = Marks()
        for attribute in attributes:
            attribute.read(partial(marks.read, "node"))
        hidden = marks.hidden("node")
        return self.hides if hidden is None else hidden

    def direction(self, attributes: list[Attribute]) -> str:
        """The arrow that `dir` asks for, the last one if there are several, else that of the block."""
        found = self.arrow
        for attribute in attributes:
            found = attribute.read(arrow) or found
        return found

    def hidden(self) -> set[str]:
        """The variables that are marked as hidden themselves, or by a default where they were first named."""
        for token, _ in self.unclear:
            if self.marks.hidden(token.text) is None:
                token.fail(
                    f"{token.text} was named before, under another default of hidden variables than here; "
                    f"write {token.text} [observed=no] if it is hidden, [observed=yes] if not"
                )
        said = {name: self.marks.hidden(name) for name in self.by_default}
        return {name for name, hidden in self.by_default.items() if (hidden if said[name] is None else said[name])}
