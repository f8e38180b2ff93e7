"""Graphs from files and from what people hand in: DOT, dagitty or our own text, told apart by what they begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from dobandit.errors import DobanditError, FileError, GraphError
from dobandit.files import read_text
from dobandit.graph.admg import Graph

FORMATS = (  # what a text begins with, and how it is read; any other one is our own
    (re.compile(r"(strict\s+)?(di)?graph\b", re.IGNORECASE), Graph.from_dot),
    (re.compile(r"(dag|pdag|mag|pag)\b[^{;\n]*\{"), Graph.from_dagitty),
)


class HasGraph(Protocol):
    """A Problem, for instance."""

    @property
    def graph(self) -> Graph: ...


GraphLike = Graph | str | HasGraph


def as_graph(given: GraphLike) -> Graph:
    """The graph that is meant: a Graph itself, a text in any of the three formats, or the graph of a Problem.

    >>> as_graph("digraph { X -> Y }") == as_graph("X -> Y")
    True
    """
    if isinstance(given, str):
        return parse(given)
    found = getattr(given, "graph", given)
    if not isinstance(found, Graph):
        raise GraphError(f"expected a Graph, a text such as 'X -> Y' or a Problem, not {type(given).__name__}")
    return found


def read_file(path: Path) -> Graph:
    """The graph in this file; an error names the file before the line."""
    try:
        return parse(read_text(path))
    except DobanditError as error:
        raise error if isinstance(error, FileError) else GraphError(f"{path.name}: {error}") from None


def parse(text: str) -> Graph:
    """The graph in this text, whichever format it is written in."""
    start = re.sub(r"\A(\s+|//[^\n]*\n|#[^\n]*\n|/\*.*?\*/)*", "", text, flags=re.DOTALL)
    return next((read for begins, read in FORMATS if begins.match(start)), Graph)(text)
