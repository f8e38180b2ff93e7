"""Causal graphs with hidden confounders, and the formats they are written in."""

from dobandit.graph.admg import Graph
from dobandit.graph.checking import Edge
from dobandit.graph.files import GraphLike, as_graph
from dobandit.graph.origin import Origin

__all__ = ["Edge", "Graph", "GraphLike", "Origin", "as_graph"]
