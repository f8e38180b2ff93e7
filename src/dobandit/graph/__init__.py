"""Causal graphs with hidden confounders, and the formats they are written in."""

from dobandit.graph.admg import Edge, Graph, Origin

__all__ = ["Edge", "Graph", "Origin"]
