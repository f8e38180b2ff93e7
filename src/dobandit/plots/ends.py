"""Names beside the ends of curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dobandit.plots import style
from dobandit.plots.rows import spaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.17  # inches: the distance of two names


class End(NamedTuple):
    """Where a curve ends, in the values of the axes; its name and its colour."""

    x: float
    y: float
    name: str
    colour: str


def name_ends(axes: Axes, ends: Sequence[End]) -> None:
    """The name of every curve beside its end, in its colour; names that would meet move apart."""
    if not ends:
        return
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = [float(to_axes.transform((end.x, end.y))[1]) for end in ends]
    order = sorted(range(len(ends)), key=heights.__getitem__)
    high = axes.get_window_extent().height / axes.figure.dpi
    levels = spaced(
        [heights[i] for i in order], [min(LINE / high, 1 / len(ends))] * (len(order) - 1), low=0.0, high=1.0
    )
    edge = float(to_axes.transform((max(end.x for end in ends), 0.0))[0])
    for i, level in zip(order, levels, strict=True):
        name = axes.annotate(
            ends[i].name,
            (edge, heights[i]),
            (edge + 0.03, level),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=ends[i].colour,
            size=style.SMALL,
            va="center",
            parse_math=False,
            annotation_clip=False,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},  # a name at the bottom lies on the axis
        )
        name.set_in_layout(True)
