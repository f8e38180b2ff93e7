"""A study over time: the money, and what was known of some options."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from dobandit.plots import style
from dobandit.plots.ends import End, name_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOMENT, AIR = 1 / 86400, 0.02  # before the first outcome: a second, in days, or this share of the time since then
# Colour and dashes of the options: the first one has the band.
LOOKS: tuple[tuple[str, str | tuple[int, tuple[float, ...]]], ...] = (
    (style.BLUE, "-"),
    (style.VERMILION, (0, (5, 2))),
    ("#007A59", (0, (5, 2, 1, 2))),
    ("#9C4F80", (0, (1, 1.2))),
)
MOST_OPTIONS = len(LOOKS)
ABOUT = "the band is the 95 % interval of {}"


class Course(NamedTuple):
    """The mean of an option at every moment, and the ends of its interval."""

    label: str
    means: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


class Timeline(NamedTuple):
    """What was spent by each moment, the budget at that moment, and what was known of some options."""

    times: Sequence[datetime]
    spent: Sequence[float]
    totals: Sequence[float]
    options: Sequence[Course]


def draw_money(axes: Axes, timeline: Timeline) -> None:
    """The money spent, against the budget."""
    days = _days(timeline)
    axes.step(days, timeline.totals, where="post", color=style.GREY, linewidth=1.0, linestyle="--")
    axes.step(days, timeline.spent, where="post", color=style.BLUE, linewidth=1.8)
    axes.set_ylim(0, max(*timeline.totals, *timeline.spent) * 1.08)
    axes.set_ylabel("spent", color=style.INK)
    style.dress(axes, "y")
    _as_dates(axes, timeline)
    axes.tick_params(labelbottom=False)
    axes.xaxis.get_offset_text().set_visible(False)


def draw_estimates(axes: Axes, timeline: Timeline, ylabel: str) -> None:
    """The mean of every option, with a band for the first; names at the ends."""
    days, ends = _days(timeline), []
    for (colour, dashes), option in zip(LOOKS, timeline.options, strict=False):
        axes.step(days, option.means, where="post", color=colour, linestyle=dashes, linewidth=1.6)
        if not math.isnan(option.means[-1]):
            ends.append(End(days[-1], option.means[-1], option.label, colour))
    first = timeline.options[0]
    axes.fill_between(days, first.low, first.high, step="post", color=style.BLUE, alpha=0.15, linewidth=0)
    note = ABOUT.format(first.label)
    axes.text(0.0, 1.03, note, transform=axes.transAxes, size=8.0, color=style.GREY, parse_math=False)
    axes.set_ylabel(ylabel, color=style.INK, parse_math=False)
    style.dress(axes, "y")
    _as_dates(axes, timeline)
    _limit(axes, timeline.options)
    name_ends(axes, ends)


def _limit(axes: Axes, options: Sequence[Course]) -> None:
    """All means but those before any data, and the later half of the band; what lies beyond is cut off."""
    first, later = options[0], len(options[0].means) // 2
    shown = [*first.low[later:], *first.high[later:], *(x for option in options for x in option.means[1:])]
    numbers = [x for x in shown if math.isfinite(x)]
    if numbers and max(numbers) > min(numbers):
        air = 0.06 * (max(numbers) - min(numbers))
        axes.set_ylim(min(numbers) - air, max(numbers) + air)


def _days(timeline: Timeline) -> list[float]:
    return [time.timestamp() / 86400 for time in timeline.times]  # matplotlib counts the days since 1970


def _as_dates(axes: Axes, timeline: Timeline) -> None:
    """Dates below the axes, from when money was first spent: a study may wait for a long time before that."""
    from matplotlib import dates

    days = _days(timeline)
    start = next((day for day, spent in zip(days, timeline.spent, strict=True) if spent > 0), days[0])
    axes.set_xlim(start - max(MOMENT, AIR * (days[-1] - start)), days[-1])
    # With matplotlib's usual minimum of five ticks, no unit fits some spans, such as four days.
    locator = dates.AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
