"""Effects from logged rows alone: the plug-in estimate of an estimand with its interval, and tests of what the graph
implies about the rows."""

from dobandit.estimate.observational.from_rows import (
    Effect,
    SparseDataWarning,
    effect,
    estimates,
    naive_means,
)
from dobandit.estimate.observational.independence import FEWEST, LEVEL, Verdict, check_graph
from dobandit.estimate.observational.interval import MOST_SKEWED, leaning
from dobandit.estimate.observational.partial import Bounds, arm_bounds, assumed, bounds
from dobandit.estimate.observational.question import Question
from dobandit.estimate.observational.ranges import Range, arm_ranges
from dobandit.estimate.observational.ruled_out import RuledOut, ruled_out
from dobandit.estimate.observational.table import Effects, effects
