"""Effects from logged rows alone: the plug-in estimate of an estimand with its interval, and tests of what the graph
implies about the rows."""

from dobandit.estimate.observational.effects import Effect, SparseDataWarning, effect, effects, naive_means
from dobandit.estimate.observational.independence import LEVEL, Verdict, check_graph

__all__ = ["LEVEL", "Effect", "SparseDataWarning", "Verdict", "check_graph", "effect", "effects", "naive_means"]
