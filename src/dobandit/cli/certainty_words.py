"""How sure an answer is, in sentences."""

from __future__ import annotations

import math

from dobandit.cli.printable import printable
from dobandit.cli.tables import number, percent
from dobandit.errors import listing
from dobandit.problem import Problem
from dobandit.study import Best


def lost(loss: float, problem: Problem) -> str:
    """What an answer is expected to lose against the best option, in words."""
    if math.isnan(loss):
        return "what it may lose is not known yet"
    unit = "per unit of budget" if problem.objective == "cumulative" else "per use"
    return f"it is expected to lose {number(loss, 3)} of {printable(problem.reward)} {unit}"


def nothing_known(found: Best, arms: int) -> str:
    """Which options no data tell about, in words; nothing if there are none."""
    if len(found.unknown) == arms:
        return "Nothing is known yet: no outcome was told and no log observed, so any option may be best."
    if not found.unknown:
        return ""
    one = len(found.unknown) == 1
    verb, may = ("has", "it") if one else ("have", "either" if len(found.unknown) == 2 else "any of them")
    return (
        f"{listing(found.unknown)} {verb} not been tried, and the other data cannot tell about "
        f"{'it' if one else 'them'}; {may} may be best."
    )


def sources(observational: float) -> str:
    """Where the evidence comes from: the share of plain observations, in words."""
    if observational == 1:
        return "All evidence so far comes from observations; no experiment has been told."
    if observational == 0:
        return "No evidence comes from observations."
    share = percent(observational)
    return f"Of the evidence, {share} comes from observations, the rest from experiments."
