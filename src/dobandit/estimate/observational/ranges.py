"""What rows say of the options of a problem that they do not identify: their bounds, and which cannot be the best."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

from dobandit.errors import DobanditError
from dobandit.estimate.observational.agreeing_means import Bounds
from dobandit.estimate.observational.from_rows import Effect, SparseDataWarning, estimates
from dobandit.estimate.observational.partial import arm_bounds
from dobandit.estimate.observational.ruled_out import RuledOut, ruled_out
from dobandit.evidence import Source
from dobandit.problem import Arm, Problem


class Range(NamedTuple):
    """The bounds of an option, and why it cannot be the best; None where observations identify it, or it can."""

    bounds: Bounds | None = None
    ruled_out: RuledOut | None = None


def arm_ranges(problem: Problem, source: Source, level: float = 0.95) -> list[Range]:
    """What rows say of all arms. Where every pull has to earn its cost, an option is ruled out only by one that costs
    no more.

    Parameters
    ----------
    problem
        The problem, whose values the rows must have.
    source
        The rows.
    level
        Of the bounds and intervals.
    """
    bounds = arm_bounds(problem, source, problem.arms, level)
    among = [k for k, found in enumerate(bounds) if found is not None]
    if not among:
        return [Range()] * len(bounds)
    known = _effects(problem, source, [arm for arm, found in zip(problem.arms, bounds, strict=True) if found is None])
    ends = [
        _ends(known.get(arm)) if found is None else (found.low, found.high)
        for arm, found in zip(problem.arms, bounds, strict=True)
    ]
    costs = [cost if isinstance(cost, float) else math.nan for cost in problem.costs]
    earns = problem.objective == "cumulative"
    out = ruled_out(problem.goal, [*map(str, problem.arms)], ends, among, costs if earns else None)
    return [Range(*pair) for pair in zip(bounds, out, strict=True)]


def _effects(problem: Problem, source: Source, arms: list[Arm]) -> dict[Arm, Effect]:
    """The effects that observations identify; if some need more than there is, that of do() alone."""
    for asked in (arms, [Arm()]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SparseDataWarning)
            try:
                return dict(zip(asked, estimates(problem, source, asked), strict=True))
            except DobanditError:
                continue
    return {}


def _ends(effect: Effect | None) -> tuple[float, float] | None:
    return None if effect is None or math.isnan(effect.low) else (effect.low, effect.high)
