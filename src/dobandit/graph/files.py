"""Graphs from files and from what people hand in; the format of a text is told by what it begins with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from dobandit.errors import DobanditError, FileError, GraphError
from dobandit.files import read_text
from dobandit.graph.admg import Graph
from dobandit.graph.checking import Parts, checked

# What a text begins with, and how it is read; any other one is our own, such as one in which `graph` is a variable.
FORMATS = (
    (r"(?:(?:creator|version|comment)[ \t]+[^\n\[\]{}]*\n\s*)*graph\s*\[", Graph.from_gml),
    (r"(?:strict\s+)?(?:di)?graph\b(?!\s*(?:[-<;#]|\Z))", Graph.from_dot),
    (r'(?:dag|pdag|mag|pag)\b\s*(?:[^\W\d][\w.]*|"[^"\n]*")?\s*\{', Graph.from_dagitty),
)


class HasGraph(Protocol):
    """A Problem, for instance."""

    @property
    def graph(self) -> Graph: ...


class Network(Protocol):
    """A graph of networkx, or what behaves like one, such as a network of pgmpy."""

    def is_directed(self) -> bool: ...


GraphLike = Graph | str | Network | HasGraph


def as_graph(given: GraphLike) -> Graph:
    """The graph that is meant.

    >>> as_graph("digraph { X -> Y }") == as_graph("X -> Y")
    True
    """
    return given if isinstance(given, Graph) else Graph(given)


def parts_of(given: GraphLike, variables: Iterable[str] | None) -> Parts:
    """What the graph that is meant is made of, with its variables in the given order."""
    found = _graph_in(given) if isinstance(given, str) else _graph_of(given)
    if isinstance(found, str):
        from dobandit.graph.text import read

        return read(found, variables)
    if variables is None:
        return found.variables, found.directed, found.bidirected, found.origin
    return checked(found.directed, found.bidirected, variables, found.origin)


def read_file(path: Path) -> Graph:
    """The graph in this file; an error names the file before the line."""
    try:
        return Graph(read_text(path))
    except DobanditError as error:
        raise error if isinstance(error, FileError) else GraphError(f"{path.name}: {error}") from None


def _graph_in(given: str) -> Graph | str:
    """The graph of a text, or the text itself if it is one of our own."""
    start = re.sub(r"\A(\s+|//[^\n]*\n|#[^\n]*\n|/\*.*?\*/)*", "", given, flags=re.DOTALL)
    return next((read(given) for begins, read in FORMATS if re.match(begins, start, re.IGNORECASE)), given)


def _graph_of(given: Graph | Network | HasGraph) -> Graph:
    if hasattr(given, "is_directed"):
        return Graph.from_networkx(given)
    found = given if isinstance(given, Graph) else getattr(given, "graph", None)
    if not isinstance(found, Graph):
        raise GraphError(
            "expected a text such as 'X -> Y', a Graph, a graph of networkx or pgmpy, or a Problem, "
            f"not {type(given).__name__}"
        )
    return found
