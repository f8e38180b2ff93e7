"""A study as a figure, from what it answers."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from dobandit.study.files import spending
from dobandit.study.pulls import amount

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dobandit.plots import Part
    from dobandit.study.reading import StudyReader


def plotted(study: StudyReader, part: Part) -> Figure:
    from dobandit.plots import OptionRow, study_figure

    found, problem = study.status(), study.problem
    rows = [
        OptionRow(arm.arm, arm.mean, arm.low, arm.high, arm.pulls, arm.probability_best)
        for arm in sorted(found.arms, key=lambda arm: arm.mean, reverse=problem.goal == "max")
    ]
    title = f"{amount(found.budget.spent)} of {amount(found.budget.total)} spent, {found.told:,} outcomes"
    if not math.isnan(found.expected_loss):
        per = "unit of budget" if problem.objective == "cumulative" else "use"
        much = f"{Decimal(f'{found.expected_loss:.3g}'):f} of {problem.reward}" if found.expected_loss else "nothing"
        title += f"\n{found.recommended} is expected to lose {much} per {per}"
    return study_figure(
        [] if part == "options" else _moments(study),
        found.budget.total,
        rows,
        xlabel=f"mean of {problem.reward}, with 95 % intervals",
        title=title if part == "all" else "",
        part=part,
    )


def _moments(study: StudyReader) -> list[tuple[datetime, float]]:
    """When money was spent, and how much by then."""
    return [(datetime.fromtimestamp(time, UTC), money) for time, money in spending(study.log(), study.problem)]
