"""Options that cannot be the best, whatever the hidden causes are: even their upper bound is below another's lower one.

>>> found = ruled_out("max", ["do()", "do(X=0)", "do(X=1)"], [(0.77, 0.81), (0.1, 0.61), (0.5, 0.95)], [1, 2])
>>> found[1]
RuledOut(by='do()', high=0.61, low=0.77)
>>> print(found[1].told("do(X=0)"), found[2])
do(X=0) cannot be the best option if the graph is right: at most 0.61, and do() at least 0.77 None
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from dobandit.numerals import number
from dobandit.problem import Goal


class RuledOut(NamedTuple):
    """Why an option cannot be the best: `by` which other one, whose `low` end is above its own `high` one. Where small
    is good, it is the other way round: the other's `high` end is below its own `low` one."""

    by: str
    high: float
    low: float

    def told(self, arm: str, goal: Goal = "max") -> str:
        """The reason in words."""
        mine, other = (f"at most {number(self.high)}", f"at least {number(self.low)}")
        if goal == "min":
            mine, other = (f"at least {number(self.low)}", f"at most {number(self.high)}")
        return f"{arm} cannot be the best option if the graph is right: {mine}, and {self.by} {other}"


def ruled_out(
    goal: Goal,
    names: Sequence[str],
    ends: Sequence[tuple[float, float] | None],
    among: Collection[int],
    costs: Sequence[float] | None = None,
) -> list[RuledOut | None]:
    """Which options cannot be the best.

    Parameters
    ----------
    goal
        Whether large or small means are good.
    names
        The options.
    ends
        Between which numbers their means lie; None where that is not known.
    among
        The places of those that may be ruled out: options that observations do not identify.
    costs
        If they are given, an option is ruled out only by one that costs no more.
    """
    sign = 1 if goal == "max" else -1
    known = {k: sorted((sign * pair[0], sign * pair[1])) for k, pair in enumerate(ends) if pair is not None}

    def found(k: int) -> RuledOut | None:
        if k not in among or k not in known:
            return None
        best = max((j for j in known if costs is None or j == k or costs[j] <= costs[k]), key=lambda j: known[j][0])
        low, high = known[best][0], known[k][1]
        if not high < low:
            return None
        return RuledOut(names[best], high, low) if goal == "max" else RuledOut(names[best], -low, -high)

    return [found(k) for k in range(len(names))]
