"""GML, which DoWhy and networkx write: `graph [ directed 1 node [ id 0 label "X" ] edge [ source 0 target 1 ] ]`.

The name of a node is its label, or its id if that is a text. A node with `observed "no"`, `latent 1` or the like is
hidden: it is projected out, and `origin` keeps what it left. An edge with `dir "both"` is a hidden common cause of
its ends. Attributes of drawing are passed over; any other one is an error with its place.
"""

from __future__ import annotations

import html
import re
from functools import partial
from typing import NamedTuple

from dobandit.graph.admg import Graph
from dobandit.graph.checking import Origin
from dobandit.graph.edges import Edges, edges_in_order
from dobandit.graph.formats import DEEPEST, Attribute, Found
from dobandit.graph.latents import hidden_nodes, without_latents
from dobandit.graph.marks import UNOBSERVED_LABEL, Marks, arrow, check_setting
from dobandit.graph.names import in_quotes
from dobandit.graph.scan import Token, Tokens

PATTERNS = {
    "skip": r"\s+|#[^\n]*",
    "quoted": r'"[^"]*"',
    "unclosed": '"',
    "number": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?",
    "word": "[A-Za-z][A-Za-z0-9_]*",
    "mark": r"[\[\]]",
    "other": ".",
}
ABOUT_THE_FILE = frozenset({"directed", "multigraph", "hierarchic", "isplanar", "creator", "version", "stylesheet"})
GRAPHICS = frozenset({"graphics", "labelgraphics", "edgeanchor"})
_ENTITY = re.compile(r"&(?:\w+|#\d+|#x[0-9A-Fa-f]+);")


class Entry(NamedTuple):
    """A key with its value, which is a token or, in brackets, more entries."""

    key: Token
    value: Token | list[Entry]

    @property
    def word(self) -> str:
        return self.key.text.lower()

    @property
    def text(self) -> Token:
        """The value, if it is a single one."""
        if not isinstance(self.value, Token):
            self.key.fail(f"expected a single value after {self.key}, found '['")
        return self.value

    @property
    def entries(self) -> list[Entry]:
        """What stands in the brackets."""
        if isinstance(self.value, Token):
            self.value.fail(f"expected '[' after {self.key}, found {self.value}")
        return self.value

    def one(self, word: str) -> Token | None:
        """The value of the only entry with this key; None if there is none."""
        found = [entry for entry in self.entries if entry.word == word]
        if len(found) > 1:
            found[1].key.fail(f"{word} is given twice")
        return found[0].text if found else None


def read(text: str) -> Graph:
    """
    >>> read('graph [ directed 1 node [ id "X" ] node [ id "Y" ] edge [ source "X" target "Y" ] ]')
    Graph('X -> Y')
    """
    tokens = Tokens(text, PATTERNS)
    graphs = [entry for entry in _entries(tokens, 0) if entry.word == "graph"]
    if len(graphs) != 1:
        (graphs[1].key if graphs else tokens.next).fail(f"expected one 'graph [ ... ]', found {len(graphs)}")
    return _Reader(graphs[0]).graph()


def write(graph: Edges) -> str:
    """The variables in their order, a hidden node for each `<->`, then the edges.

    >>> print(write(Graph("X <-> Y")))
    graph [
      directed 1
      node [ id 0 label "X" observed "yes" ]
      node [ id 1 label "Y" observed "yes" ]
      node [ id 2 label "U_X_Y" observed "no" ]
      edge [ source 2 target 0 ]
      edge [ source 2 target 1 ]
    ]
    """
    hidden = hidden_nodes(graph)
    ids = {name: i for i, name in enumerate([*graph.variables, *hidden])}
    edges = [*edges_in_order(graph)[0], *((name, end) for name, ends in hidden.items() for end in ends)]
    lines = [
        f'  node [ id {i} label "{_escaped(name)}" observed "{"no" if name in hidden else "yes"}" ]'
        for name, i in ids.items()
    ]
    lines += [f"  edge [ source {ids[a]} target {ids[b]} ]" for a, b in edges]
    return "\n".join(["graph [", "  directed 1", *lines, "]"])


class _Reader:
    def __init__(self, whole: Entry) -> None:
        self.whole = whole
        self.found = Found()
        self.marks = Marks()
        self.names: dict[str, Token] = {}  # the variable that each id stands for

    def graph(self) -> Graph:
        directed = self.whole.one("directed")
        if directed is None or directed.text != "1":
            (directed or self.whole.key).fail("the edges of this graph have no directions; write 'directed 1'")
        for entry in self.whole.entries:
            if entry.word == "node":
                self.node(entry)
            elif entry.word in ("node_default", "edge_default"):
                self.default(entry)
            elif entry.word not in ("edge", *ABOUT_THE_FILE, *GRAPHICS):
                Attribute(entry.key, entry.text).read(check_setting)
        for entry in self.whole.entries:
            if entry.word == "edge":
                self.edge(entry)
        whole = self.found.build(Graph.from_edges)
        hidden = {name for name in self.found.names if self.marks.hidden(name)}
        return without_latents(whole, self.found.names, hidden, Origin())

    def node(self, node: Entry) -> None:
        number, label = node.one("id"), node.one("label")
        name = label or number
        if name is None or (label is None and name.kind == "number"):
            node.key.fail("this node has no name; give it a label")
        name = name._replace(text=in_quotes(name.text)).named()
        if name.text in self.found.names:
            name.fail(f"the node {name.text} is given twice")
        self.found.declare(name.text)
        if self.names.setdefault((number or name).text, name) is not name:
            (number or name).fail(f"the id {(number or name).text} is given twice")
        for entry in node.entries:
            if entry.word == "label":  # it is the name, and names may well contain the word "hidden"
                if name.text.lower() == UNOBSERVED_LABEL:
                    self.marks.add(name.text, True, f"label={name.text}")
            elif entry.word not in ("id", *GRAPHICS):
                Attribute(entry.key, entry.text).read(partial(self.marks.read, name.text))

    def edge(self, edge: Entry) -> None:
        ends: list[Token] = []
        for word in ("source", "target"):
            end = edge.one(word) or edge.key.fail(f"this edge has no {word}")
            known = self.names.get(end.text) or end.fail(f"there is no node with the id {end}")
            ends.append(end._replace(text=known.text))
        direction = "->"
        for entry in edge.entries:
            if entry.word not in ("source", "target", "id", *GRAPHICS):
                direction = Attribute(entry.key, entry.text).read(arrow) or direction
        self.found.edge(ends[0], edge.key._replace(text=direction), ends[1])

    def default(self, defaults: Entry) -> None:
        """networkx writes what it would give to new nodes and edges; it does not hold for those of the file."""
        for entry in defaults.entries:
            if entry.word not in GRAPHICS:
                Attribute(entry.key, entry.text).read(check_setting)


def _entries(tokens: Tokens, depth: int) -> list[Entry]:
    """Keys and values up to the bracket that closes them, or to the end of the text."""
    found, closing = [], " or ']'" if depth else ""
    while not (tokens.take_if("]") if depth else tokens.next.kind == "end"):
        key = tokens.take()
        if key.kind == "unclosed":
            key.fail("this quote is never closed")
        if key.kind != "word":
            key.fail(f"expected a key such as 'node'{closing}, found {key}")
        if opening := tokens.take_if("["):
            if depth == DEEPEST:
                opening.fail(f"more than {DEEPEST} brackets are open inside each other")
            found.append(Entry(key, _entries(tokens, depth + 1)))
        else:
            found.append(Entry(key, _value(tokens.take(), key)))
    return found


def _value(token: Token, key: Token) -> Token:
    if token.kind == "unclosed":
        token.fail("this quote is never closed")
    if token.kind not in ("quoted", "number", "word"):  # a bare word is not GML, but people write it
        token.fail(f"expected a value after {key}, found {token}")
    if token.kind == "quoted":
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), token.text[1:-1])
        return token._replace(text=text)
    return token


def _escaped(name: str) -> str:
    """A text of GML is ASCII; `&`, `"` and other letters are written as numbers."""
    return re.sub(r'[^ -~]|[&"]', lambda found: f"&#{ord(found[0])};", name)
