"""Estimates: evidence turned into means and uncertainty."""

from dobandit.estimate.effects import Effect, SparseDataWarning, effect
from dobandit.estimate.independence import check_graph

__all__ = ["Effect", "SparseDataWarning", "check_graph", "effect"]
