"""A study as a figure: the money over time, and what is known of every arm."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from dobandit.plots import style
from dobandit.plots.effects import EffectRow
from dobandit.plots.style import BLUE, GREY, INK, TEXT, plain_style, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, MONEY, ROW, MARGIN, BETWEEN = 6.2, 2.0, 0.32, 0.2, 0.75  # inches
MOMENT = 1 / 86400  # a second, in days: air at both ends of the time


def study_figure(
    spent: Sequence[tuple[datetime, float]], total: float, rows: Sequence[EffectRow], *, xlabel: str, title: str
) -> Figure:
    """The money spent over time, against the total; below it the mean of every arm with its interval."""
    with plain_style():
        left = max([text_width(row.label, TEXT) for row in rows] + [0.5]) + MARGIN + 0.15
        arms, below = len(rows) * ROW, 0.62
        width, height = left + WIDTH + MARGIN, 0.45 + MONEY + BETWEEN + arms + below
        figure, above = style.page((width, height), (left, below + arms + BETWEEN, WIDTH, MONEY), title)
        _draw_money(above, spent, total)
        _draw_arms(figure.add_axes((left / width, below / height, WIDTH / width, arms / height)), rows, xlabel)
    return figure


def _draw_money(axes: Axes, spent: Sequence[tuple[datetime, float]], total: float) -> None:
    from matplotlib import dates

    axes.axhline(total, color=GREY, linewidth=1.0, linestyle="--")
    axes.set_ylim(0, total * 1.08)
    axes.set_xticks([])
    if spent:
        times = [time.timestamp() / 86400 for time, _ in spent]  # matplotlib counts the days since 1970
        axes.step(times, [money for _, money in spent], where="post", color=BLUE, linewidth=1.8)
        axes.set_xlim(times[0] - MOMENT, times[-1] + MOMENT)
        locator = dates.AutoDateLocator()  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.set_ylabel("spent", color=INK)
    style.dress(axes, "y")


def _draw_arms(axes: Axes, rows: Sequence[EffectRow], xlabel: str) -> None:
    style.rows_of_arms(axes, [row.label for row in rows], xlabel, style.SMALL)
    for y, row in enumerate(rows):
        if row.mean is not None and row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [y, y], color=BLUE, linewidth=2, solid_capstyle="butt")
            axes.plot([row.mean], [y], "o", color=BLUE, markersize=6.5)
