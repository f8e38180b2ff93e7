"""A study as a figure: the money over time, and what is known of every option."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from dobandit.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, AXIS, MARGIN = 0.32, 5.0, 0.2  # inches: the height of an option, the width of the values, white around
MONEY, BETWEEN, BELOW = 2.0, 0.75, 0.62  # inches: the height of the money over time, white below it, below all
NOTES = (0.75, 0.55)  # inches: the columns to the right of the options
MOMENT = 1 / 86400  # a second, in days: air at both ends of the time
MOST_STEPS = 400  # of the line of the money: a page has no more dots
Part = Literal["all", "spending", "options"]


class OptionRow(NamedTuple):
    """An option of a study: its mean with an interval, its own pulls, and how probable it is that it is the best."""

    label: str
    mean: float
    low: float
    high: float
    pulls: int
    probability_best: float


def study_figure(
    spent: Sequence[tuple[datetime, float]],
    total: float,
    rows: Sequence[OptionRow],
    *,
    xlabel: str,
    title: str,
    part: Part = "all",
) -> Figure:
    """The money spent over time, against the total; below it the mean of every option with its interval.

    Parameters
    ----------
    spent
        When money was spent, and how much by then.
    total
        The budget.
    rows
        The options, the best at the top.
    xlabel, title
        What the means are of, and what is written above.
    part
        Both, or one of the two.
    """
    with style.plain_style():
        left = max([style.text_width(row.label, style.SMALL) for row in rows] + [0.6]) + MARGIN + 0.15
        options = len(rows) * ROW if part != "spending" else 0.0
        money = MONEY if part != "options" else 0.0
        above = 0.45 + 0.2 * title.count("\n") if title else MARGIN + (0.0 if money else 0.22)
        height = above + money + (BETWEEN if money and options else 0.0) + options + BELOW
        width = left + AXIS + sum(NOTES) + MARGIN
        figure = style.blank(width, height)
        if title:
            figure.text(0.5, 1 - 0.13 / height, title, size=style.TITLE, ha="center", va="top", parse_math=False)
        if money:
            _draw_money(_axes(figure, left, height - above - money, money), spent, total)
        if options:
            _draw_options(_axes(figure, left, BELOW, options), rows, xlabel)
    return figure


def _axes(figure: Figure, left: float, bottom: float, height: float) -> Axes:
    """Axes in this place, in inches."""
    wide, high = figure.get_size_inches()
    return figure.add_axes((left / wide, bottom / high, AXIS / wide, height / high))


def _draw_options(axes: Axes, rows: Sequence[OptionRow], xlabel: str) -> None:
    style.rows_of_arms(axes, [row.label for row in rows], xlabel, style.SMALL)
    right = [1 + NOTES[0] / AXIS, 1 + sum(NOTES) / AXIS]
    for x, head in zip(right, ("P(best)", "pulls"), strict=True):
        _note(axes, x, -0.75, head, style.GREY)
    for y, row in enumerate(rows):
        axes.plot([row.low, row.high], [y, y], color=style.BLUE, linewidth=2, solid_capstyle="butt", zorder=3)
        axes.plot([row.mean], [y], "o", color=style.BLUE, markersize=6.5, zorder=4)
        _note(axes, right[0], y, _percent(row.probability_best), style.INK)
        _note(axes, right[1], y, f"{row.pulls:,}", style.INK)


def _note(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    """A text that ends to the right of the axes."""
    axes.text(x, y, text, transform=axes.get_yaxis_transform(), size=style.SMALL, color=colour, ha="right", va="center")


def _percent(share: float) -> str:
    return ">99 %" if share > 0.99 else "<1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _draw_money(axes: Axes, spent: Sequence[tuple[datetime, float]], total: float) -> None:
    from matplotlib import dates

    axes.axhline(total, color=style.GREY, linewidth=1.0, linestyle="--")
    axes.set_ylim(0, total * 1.08)
    axes.set_xticks([])
    if spent:
        some = spent[:: -(-len(spent) // MOST_STEPS)]
        times = [time.timestamp() / 86400 for time, _ in [*some, spent[-1]]]  # matplotlib counts the days since 1970
        money = [money for _, money in [*some, spent[-1]]]
        axes.step(times, money, where="post", color=style.BLUE, linewidth=1.8)
        axes.set_xlim(times[0] - MOMENT, times[-1] + MOMENT)
        locator = dates.AutoDateLocator()  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.set_ylabel("spent", color=style.INK)
    style.dress(axes, "y")
