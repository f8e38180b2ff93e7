"""A study as a figure: the money and the estimates over time, and what is known about every option now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from dobandit.plots import style
from dobandit.plots.timeline import Timeline, draw_estimates, draw_money

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, AXIS, MARGIN = 0.32, 5.0, 0.2  # inches: the height of an option, the width of the values, white around
MONEY, ESTIMATES, BETWEEN = 1.5, 2.2, 0.3  # inches: the heights of what is over time, and white between the two
APART, BELOW = 0.85, 0.62  # inches: white above the options, and below all
NOTES = (0.75, 0.55)  # inches: the columns to the right of the options
Part = Literal["all", "time", "options"]


class OptionRow(NamedTuple):
    """An option of a study: its mean with an interval, its own pulls, and how probable it is that it is the best."""

    label: str
    mean: float
    low: float
    high: float
    pulls: int
    probability_best: float


def study_figure(
    timeline: Timeline | None, rows: Sequence[OptionRow], *, reward: str, title: str, part: Part = "all"
) -> Figure:
    """The money spent and some estimates over time; below them the mean of every option with its interval.

    Parameters
    ----------
    timeline
        What is over time; only the options do without it.
    rows
        The options, the best at the top.
    reward, title
        What the means are of, and what is written above.
    part
        Both, or one of the two.
    """
    over_time, options = part != "options", len(rows) * ROW if part != "time" else 0.0
    with style.plain_style():
        left, right = _sides(timeline if over_time else None, rows)
        above = 0.45 + 0.2 * title.count("\n") if title else MARGIN + (0.0 if over_time else 0.22)
        times = MONEY + BETWEEN + ESTIMATES if over_time else 0.0
        height = above + times + (APART if over_time and options else 0.0) + options + BELOW
        figure = style.blank(left + AXIS + right, height)
        if title:
            figure.text(0.5, 1 - 0.13 / height, title, size=style.TITLE, ha="center", va="top", parse_math=False)
        if over_time and timeline is not None:
            draw_money(_axes(figure, left, height - above - MONEY, MONEY), timeline)
            draw_estimates(_axes(figure, left, height - above - times, ESTIMATES), timeline, f"mean of {reward}")
        if options:
            _draw_options(_axes(figure, left, BELOW, options), rows, f"mean of {reward}, with 95 % intervals")
    return figure


def _sides(timeline: Timeline | None, rows: Sequence[OptionRow]) -> tuple[float, float]:
    """The width left of the axes, for names of options, and right of them, for numbers and names of curves."""
    names = [style.text_width(option.label, style.SMALL) for option in timeline.options] if timeline else []
    left = max([style.text_width(row.label, style.SMALL) for row in rows] + [0.6]) + MARGIN + 0.15
    return left, max(sum(NOTES), *names, 0.0) + MARGIN + (0.15 if names else 0.0)


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
