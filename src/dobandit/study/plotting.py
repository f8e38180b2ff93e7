"""A study as a figure, from what it answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dobandit.numerals import amount, number
from dobandit.study.answers import ArmStatus
from dobandit.study.progress import Moment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dobandit.plots import Part, Timeline
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
        much = f"{number(found.expected_loss, 3)} of {problem.reward}" if found.expected_loss else "nothing"
        title += f"\n{found.recommended} is expected to lose {much} per {per}"
    return study_figure(
        None if part == "options" else _timeline(study.progress(), found.arms, found.recommended),
        rows,
        reward=problem.reward,
        title=title if part == "all" else "",
        part=part,
    )


def _timeline(moments: Sequence[Moment], arms: Sequence[ArmStatus], recommended: str) -> Timeline:
    """The recommended option over time, and those that are most probably the best otherwise."""
    from dobandit.plots import MOST_OPTIONS, Course, Timeline

    ranked = sorted(range(len(arms)), key=lambda k: (arms[k].arm != recommended, -arms[k].probability_best))
    return Timeline(
        times=[datetime.fromtimestamp(moment.time, UTC) for moment in moments],
        spent=[moment.spent for moment in moments],
        totals=[moment.total for moment in moments],
        options=[
            Course(arms[k].arm, *zip(*((m.means[k], m.low[k], m.high[k]) for m in moments), strict=True))
            for k in ranked[:MOST_OPTIONS]
        ],
    )
