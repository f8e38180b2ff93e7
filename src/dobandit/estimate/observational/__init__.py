"""Effects from logged rows alone: the plug-in estimate of an estimand with its interval, and tests of what the graph
implies about the rows.

Each part is loaded when it is first used: a study needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dobandit.estimate.observational.ruled_out import RuledOut, ruled_out  # its module has the name of the function

if TYPE_CHECKING:
    from dobandit.estimate.observational.agreeing_means import Bounds, assumed
    from dobandit.estimate.observational.from_rows import (
        Effect,
        SparseDataWarning,
        effect,
        estimates,
        naive_means,
    )
    from dobandit.estimate.observational.independence import FEWEST, LEVEL, Verdict, check_graph
    from dobandit.estimate.observational.partial import arm_bounds, bounds
    from dobandit.estimate.observational.question import Question
    from dobandit.estimate.observational.ranges import Range, arm_ranges
    from dobandit.estimate.observational.skewness import MOST_SKEWED, leaning
    from dobandit.estimate.observational.table import Effects, effects

_PARTS = {
    "agreeing_means": ("Bounds", "assumed"),
    "from_rows": ("Effect", "SparseDataWarning", "effect", "estimates", "naive_means"),
    "independence": ("FEWEST", "LEVEL", "Verdict", "check_graph"),
    "partial": ("arm_bounds", "bounds"),
    "question": ("Question",),
    "ranges": ("Range", "arm_ranges"),
    "skewness": ("MOST_SKEWED", "leaning"),
    "table": ("Effects", "effects"),
}
_HOME = {name: part for part, names in _PARTS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dobandit.estimate.observational' has no attribute {name!r}")
    return getattr(import_module(f"dobandit.estimate.observational.{_HOME[name]}"), name)
