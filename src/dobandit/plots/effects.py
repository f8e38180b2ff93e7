"""What each arm earns and how sure that is, from logs, beside what confounding would have said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from dobandit.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, AXIS, MARGIN = 0.32, 6.2, 0.2  # inches: the height of an arm, the width of the values, white around
UNKNOWN = "not identifiable from observations"
ESTIMATE, NAIVE, TRUTH = "estimate with its interval", "naive conditional mean", "true value"
BOUNDS = "bounds: not identifiable, but in this range"


class EffectRow(NamedTuple):
    """One arm: the estimate of its effect with an interval, the naive conditional mean, the true value.

    None stands for what is not known; without a mean the arm counts as not identifiable.
    """

    label: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    naive: float | None = None
    truth: float | None = None
    bounds: tuple[float, float] | None = None  # the means that agree with observations


def effects_figure(
    rows: Sequence[EffectRow], *, xlabel: str, title: str | None = None, low_is_good: bool = False
) -> Figure:
    """One line for every arm, the best at the top, those that observations say nothing about at the bottom."""
    known = [row for row in rows if row.mean is not None]
    known.sort(key=lambda row: row.mean or 0.0, reverse=not low_is_good)
    ordered = [*known, *(row for row in rows if row.mean is None)]
    with style.plain_style():
        entries = _legend_entries(ordered)
        figure, axes = _page(ordered, title, entries)
        names = style.rows_of_arms(axes, [row.label for row in ordered], xlabel, style.TEXT)
        for row, name in zip(ordered, names, strict=True):
            name.set_color(style.GREY if row.mean is None else style.INK)
        axes.set_xlim(*_limits(ordered))
        for y, row in enumerate(ordered):
            _draw_row(axes, y, row)
    return figure


def _limits(rows: Sequence[EffectRow]) -> tuple[float, float]:
    """The range of all numbers and some air."""
    numbers = [(row.mean, row.low, row.high, row.naive, row.truth, *(row.bounds or ())) for row in rows]
    values = [value for row in numbers for value in row if value is not None] or [0.0, 1.0]
    air = 0.06 * (max(values) - min(values)) or 0.5
    return min(values) - air, max(values) + air


def _page(rows: Sequence[EffectRow], title: str | None, entries: Sequence[style.Entry]) -> tuple[Figure, Axes]:
    """A figure that fits the arms, with the title above and the legend below."""
    labels = [label for _, label in entries]
    left = max(style.text_width(row.label, style.TEXT) for row in rows) + MARGIN + 0.15
    width = max(left + AXIS, style.text_width(title or "", style.TITLE) + MARGIN) + MARGIN
    columns, legend_rows = style.legend_shape(labels, width - 2 * MARGIN)
    above, below = 0.45 if title else MARGIN, 0.62 + legend_rows * style.LEGEND_ROW
    high = len(rows) * ROW
    figure, axes = style.page((width, above + high + below), (left, below, AXIS, high), title)
    style.legend_below(figure, entries, columns)
    return figure, axes


def _draw_row(axes: Axes, y: float, row: EffectRow) -> None:
    identified = row.mean is not None
    _draw_estimate(axes, y, row)
    if row.naive is not None:
        axes.plot([row.naive], [y], **_hollow(style.VERMILION if identified else style.GREY))
    if row.truth is not None:
        axes.vlines(
            [row.truth], y - 0.32, y + 0.32, color=style.INK if identified else style.GREY, linewidth=1.3, zorder=6
        )
    if row.bounds is not None:
        _draw_bounds(axes, y, row.bounds)
    elif not identified:
        _say_unknown(axes, y, [value for value in (row.naive, row.truth) if value is not None])


def _draw_estimate(axes: Axes, y: float, row: EffectRow) -> None:
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [y, y], color=style.BLUE, linewidth=2, solid_capstyle="butt", zorder=3)
    if row.mean is not None:
        axes.plot([row.mean], [y], "o", color=style.BLUE, markersize=6.5, zorder=4)


def _draw_bounds(axes: Axes, y: float, bounds: tuple[float, float]) -> None:
    """An open range: thin, with a stop at each end."""
    axes.plot(list(bounds), [y, y], **_open_range())


def _open_range() -> dict[str, Any]:
    dashes = (0, (4, 2))
    return {"color": style.BLUE, "linewidth": 1.1, "linestyle": dashes, "marker": "|", "markersize": 8, "zorder": 3}


def _hollow(colour: str) -> dict[str, Any]:
    return {"marker": "o", "markersize": 8, "markerfacecolor": "none", "markeredgecolor": colour, "zorder": 5}


def _say_unknown(axes: Axes, y: float, marks: Sequence[float]) -> None:
    """The reason why an arm has no estimate, in the widest free part of the row: a third of it holds the text."""
    stops = sorted([*axes.get_xlim(), *marks])
    left, right = max(pairwise(stops), key=lambda pair: pair[1] - pair[0])
    text = axes.text(
        (left + right) / 2, y, UNKNOWN, color=style.GREY, style="italic", size=8.0, ha="center", va="center"
    )
    text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})


def _legend_entries(rows: Sequence[EffectRow]) -> list[style.Entry]:
    """The signs that occur, and what they mean."""
    from matplotlib.lines import Line2D

    estimate = Line2D([], [], color=style.BLUE, marker="o", markersize=6.5, linewidth=2)
    naive = Line2D([], [], linestyle="none", **_hollow(style.VERMILION))
    truth = Line2D([], [], linestyle="none", color=style.INK, marker="|", markersize=12, markeredgewidth=1.3)
    bounds = Line2D([], [], **_open_range())
    entries = [
        ("mean", estimate, ESTIMATE),
        ("bounds", bounds, BOUNDS),
        ("naive", naive, NAIVE),
        ("truth", truth, TRUTH),
    ]
    return [(sign, label) for field, sign, label in entries if any(getattr(row, field) is not None for row in rows)]
