"""Estimates: evidence turned into means and uncertainty."""

from dobandit.estimate.effects import Effect, SparseDataWarning, effect

__all__ = ["Effect", "SparseDataWarning", "effect"]
