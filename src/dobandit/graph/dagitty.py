"""The format of dagitty.net: `dag { X [exposure]; Y [outcome]; U [latent]; U -> {X Y}; X -> Y }`.

Latent variables are projected out, and `origin` keeps what the file said of roles and of them.
"""

from __future__ import annotations

import re

from dobandit.graph.admg import Graph
from dobandit.graph.checking import Origin
from dobandit.graph.edges import Edges, edges_in_order
from dobandit.graph.formats import Attribute, Braces, Link
from dobandit.graph.marks import arrow, hides
from dobandit.graph.names import RULE, in_quotes
from dobandit.graph.scan import Token

PATTERNS = {
    "skip": r"[ \t\r\n]+",
    "quoted": r'"(?:[^"\\]|\\.)*"',
    "unclosed": '".*',
    "partial": "@->|<-@|@-@|@--|--@",
    "undirected": "--",
    "operator": "<->|<-|->",
    "word": r"-?[\w.\x80-\U0010ffff]+",
    "mark": r"[{}\[\]=;,]",
    "other": ".",
}
# dagitty itself reserves the first two; the others, bare, are DOT that it would take for variables.
RESERVED = frozenset({"graph", "node", "edge", "subgraph"})
REFUSED = {
    "unclosed": "this quote is never closed",
    "undirected": "'--' has no direction; write '->', '<-', or '<->' for a hidden common cause",
    "partial": "'@' leaves an end of the edge open; decide it, and write '->', '<-' or '<->'",
}
SYNONYMS = ("exposure e source", "outcome o target", "latent l unobserved u", "adjusted a", "selected s")
ROLES = {word: words.split()[0] for words in SYNONYMS for word in words.split()}
SEVERAL_GRAPHS = "stands for several graphs at once; choose one of them and write it as 'dag { ... }'"
OTHER_TYPES = {
    **{kind: f"a {kind} {SEVERAL_GRAPHS}" for kind in ("mag", "pdag", "pag")},
    "graph": "a graph has no directions; write 'dag { ... }' with '->' and '<->'",
    "digraph": "a digraph is DOT; read it with Graph.from_dot, or write 'dag { ... }'",
}


def read(text: str) -> Graph:
    """
    >>> graph = read("dag { X [exposure]; Y [outcome]; U [latent]; U -> {X Y}; X -> M -> Y }")
    >>> graph
    Graph('X -> M; M -> Y; X <-> Y')
    >>> graph.origin.exposures, graph.origin.outcome, graph.origin.notes
    (('X',), 'Y', ('U is latent and was projected out; it leaves X <-> Y',))
    """
    return _Reader(text).graph()


def write(graph: Edges) -> str:
    """All variables in their order with their roles, then the edges.

    >>> print(write(Graph("X -> Y; X <-> Y")))
    dag {
    X
    Y
    X -> Y
    X <-> Y
    }
    """
    directed, bidirected = edges_in_order(graph)
    lines = [_quoted(v) + _role(v, graph.origin) for v in graph.variables]
    lines += [f"{_quoted(a)} -> {_quoted(b)}" for a, b in directed]
    lines += [f"{_quoted(a)} <-> {_quoted(b)}" for a, b in bidirected]
    return "\n".join(["dag {", *lines, "}"])


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_.]+", name) and name.lower() not in RESERVED else in_quotes(name)


def _role(variable: str, origin: Origin) -> str:
    if variable == origin.outcome:
        return " [outcome]"
    return " [exposure]" if variable in origin.exposures else ""


class _Reader(Braces):
    opening, other_openings = "dag", OTHER_TYPES
    patterns, reserved, defaults, refused = PATTERNS, RESERVED, ("graph",), REFUSED

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.roles: dict[str, str] = {}

    def hidden(self) -> list[str]:
        return self.having("latent")

    def origin(self) -> Origin:
        return Origin(exposures=tuple(self.having("exposure")), outcome=next(iter(self.having("outcome")), None))

    def variable(self, token: Token) -> Token:
        if token.text.startswith("-"):  # the sign of a number, which attributes may have
            token.fail(f"expected a variable, found {token}; {RULE}")
        return super().variable(token)

    def edges(self, links: list[Link], attributes: list[Attribute]) -> None:
        for attribute in attributes:
            key, value = attribute
            if value is None and key.text in ROLES:
                key.fail(f"the role {key} stands at an edge; give it to a variable in a statement of its own")
            if attribute.read(arrow):
                key.fail("dagitty has no dir; write '->', '<-', or '<->' for a hidden common cause")
        for link in links:
            self.found.join(*link)

    def mark(self, variable: Token, attributes: list[Attribute]) -> None:
        for attribute in attributes:
            key, value = attribute
            if value is None and key.text not in ROLES:
                key.fail(f"unknown role {key}; roles are exposure, outcome, latent and adjusted")
            if value and key.text in ROLES:
                value.fail(f"the role {key} takes no value; write [{key.text}], or leave it out")
            if value is None:
                self.give_role(variable.text, key)
            elif attribute.read(hides) is not None:
                key.fail(f"dagitty marks hidden variables as [latent]; write that instead of {key}, or leave it out")

    def give_role(self, variable: str, key: Token) -> None:
        role = ROLES[key.text]
        if role == "adjusted":  # a choice of analysis; it says nothing about the graph
            return
        if role == "selected":
            key.fail(
                f"{variable} is selected, and selection is not a hidden common cause: no edge here can stand "
                f"for it; drop the mark only if the data were not chosen by {variable}"
            )
        for other in self.having("outcome"):
            if role == "outcome" and other != variable:
                key.fail(f"{other} and {variable} are both outcomes; mark only one")
        before = self.roles.setdefault(variable, role)
        if before != role:
            key.fail(f"{variable} is both {before} and {role}; mark it as one of them")

    def having(self, role: str) -> list[str]:
        return [variable for variable, given in self.roles.items() if given == role]
