"""Effects from logged rows alone: the plug-in estimate of an estimand with its interval, and tests of what the graph
implies about the rows."""

from dobandit.estimate.observational.from_rows import Effect, SparseDataWarning, effect, effects, naive_means
from dobandit.estimate.observational.independence import FEWEST, LEVEL, Verdict, check_graph
