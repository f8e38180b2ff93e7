"""Effects from logged rows alone: the plug-in estimate of an estimand with its interval, and tests of what the graph
implies about the rows.

Each part is loaded when it is first used: a study needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.estimate.observational.enough import FEWEST
from dobandit.estimate.observational.ruled_out import RuledOut, ruled_out  # its module has the name of the function
from dobandit.later import loaded_later

if TYPE_CHECKING:
    from dobandit.estimate.observational.agreeing_means import Bounds, assumed
    from dobandit.estimate.observational.from_rows import (
        Effect,
        SparseDataWarning,
        effect,
        estimates,
        naive_means,
    )
    from dobandit.estimate.observational.independence import LEVEL, Verdict, check_graph
    from dobandit.estimate.observational.partial import arm_bounds, bounds
    from dobandit.estimate.observational.question import Question
    from dobandit.estimate.observational.ranges import Range, arm_ranges
    from dobandit.estimate.observational.skewness import MOST_SKEWED, leaning
    from dobandit.estimate.observational.table import Effects, effects

_LATER = {
    "agreeing_means": ("Bounds", "assumed"),
    "from_rows": ("Effect", "SparseDataWarning", "effect", "estimates", "naive_means"),
    "independence": ("LEVEL", "Verdict", "check_graph"),
    "partial": ("arm_bounds", "bounds"),
    "question": ("Question",),
    "ranges": ("Range", "arm_ranges"),
    "skewness": ("MOST_SKEWED", "leaning"),
    "table": ("Effects", "effects"),
}

__getattr__ = loaded_later(__name__, _LATER)
