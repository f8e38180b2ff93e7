"""The forms in which a graph is written, read and shown: text, DOT, dagitty, GML, networkx, notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dobandit.errors import MissingExtra
from dobandit.graph.edges import Edges

if TYPE_CHECKING:
    import networkx

    from dobandit.graph.admg import Graph


@dataclass(frozen=True, eq=False)
class Forms(Edges):
    """Edges that can be written and read."""

    def to_text(self) -> str:
        """The graph in our own grammar; `Graph(g.to_text()) == g`."""
        from dobandit.graph.text import write

        return write(self)

    def draw(self, width: int = 100) -> str:
        """A picture of the graph for terminals."""
        from dobandit.graph.drawing import draw

        return draw(self, width)

    def to_dot(self) -> str:
        from dobandit.graph.dot import write

        return write(self)

    @classmethod
    def from_dot(cls, text: str) -> Graph:
        """A DOT graph; variables marked `observed=no` or `latent=true` are projected out, as in dagitty."""
        from dobandit.graph.dot import read

        return read(text)

    def to_dagitty(self) -> str:
        from dobandit.graph.dagitty import write

        return write(self)

    @classmethod
    def from_dagitty(cls, text: str) -> Graph:
        """A dagitty model; its latent variables are projected out and named in `origin.notes`."""
        from dobandit.graph.dagitty import read

        return read(text)

    def to_gml(self) -> str:
        """GML, as DoWhy reads it: every `<->` is a node of its own with `observed "no"`."""
        from dobandit.graph.gml import write

        return write(self)

    @classmethod
    def from_gml(cls, text: str) -> Graph:
        """A GML graph; nodes marked as hidden (`observed "no"`, `latent 1`) are projected out."""
        from dobandit.graph.gml import read

        return read(text)

    def to_networkx(self) -> networkx.DiGraph[str]:
        """A DiGraph in which every `<->` is a node of its own with the attribute `hidden=True`."""
        from dobandit.graph.network import write

        return write(self)

    @classmethod
    def from_networkx(cls, graph: Any) -> Graph:
        """A DiGraph; nodes marked as hidden (`hidden=True`, `observed="no"`) are projected out."""
        from dobandit.graph.network import read

        return read(graph)

    def _repr_html_(self) -> str:
        """For notebooks: drawn, or as text where matplotlib is not installed."""
        from html import escape

        from dobandit.graph.drawing import draw
        from dobandit.markup import html_picture
        from dobandit.plots import graph_figure, to_bytes

        try:
            figure = graph_figure(self.variables, sorted(self.directed), sorted(self.bidirected))
        except MissingExtra:
            return f"<pre>{escape(draw(self))}</pre>"
        return html_picture(to_bytes(figure, "svg"), self.to_text())

    def __repr__(self) -> str:
        return f"Graph({self.to_text().replace(chr(10), '; ')!r})"
