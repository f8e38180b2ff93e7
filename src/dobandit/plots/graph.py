"""A causal graph as a figure: causes left, effects right, hidden common causes dashed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dobandit.plots import style
from dobandit.plots.curves import Box, Point
from dobandit.plots.layers import Edge, Line
from dobandit.plots.layout import Layout, layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN = 0.2
NARROWEST = 4.0
HEAD, HEAD_HALF = 0.11, 0.042  # length and half the width of an arrowhead
DASHES = (0, (4, 2))
HIDDEN = "hidden common cause"
NOTE_ROW = 0.19  # inches: the height of a line below the legend


class Kind(NamedTuple):
    """A kind of variable: what the legend calls it, its colour, and its outline (a width and dashes)."""

    label: str
    colour: str
    width: float = 1.1
    dashes: tuple[float, tuple[float, ...]] | None = None


PLAIN = Kind("", "white")


def graph_figure(
    nodes: Sequence[str],
    directed: Iterable[Edge],
    bidirected: Iterable[Edge],
    *,
    kinds: Mapping[str, str] | None = None,
    legend: Mapping[str, Kind] | None = None,
    notes: Sequence[str] = (),
) -> Figure:
    """The graph with `nodes` in causal order.

    `kinds` says of what kind a variable is, `legend` how a kind is called and drawn:
    `kinds={"Y": "reward"}, legend={"reward": Kind("the reward", "#F0E442")}`; `notes` are lines of text below it.
    """
    directed, bidirected, kinds, legend = list(directed), list(bidirected), kinds or {}, legend or {}
    with style.plain_style():
        widths = {node: max(0.52, style.text_width(node, style.TEXT) + 0.26) for node in nodes}
        drawing = layout(nodes, directed, bidirected, widths)
        entries = _legend_entries(kinds, legend, bool(bidirected))
        figure, axes = _page(drawing, entries, notes)
        for line, points in drawing.routes.items():
            _draw_line(axes, line, points)
        for node, box in drawing.boxes.items():
            _draw_box(axes, node, box, legend[kinds[node]] if node in kinds else PLAIN)
    return figure


def _page(drawing: Layout, entries: Sequence[style.Entry], notes: Sequence[str]) -> tuple[Figure, Axes]:
    """A figure that fits the drawing, with the legend and the notes below it; a unit of its axes is an inch."""
    left, right, top, bottom = _bounds(drawing)
    labels = [label for _, label in entries]
    texts = [style.text_width(label, style.SMALL) + style.SWATCH for label in labels]
    texts += [style.text_width(note, style.SMALL) for note in notes]
    width = max(right - left, NARROWEST, *texts) + 2 * MARGIN
    columns, rows = style.legend_shape(labels, width - 2 * MARGIN)
    noted = len(notes) * NOTE_ROW + (0.1 if notes else 0.0)
    below = noted + rows * style.LEGEND_ROW + (0.28 if rows else MARGIN)
    height = MARGIN + bottom - top + below
    figure, axes = style.page((width, height), (0, below, width, bottom - top))
    middle = (left + right) / 2
    axes.set(xlim=(middle - width / 2, middle + width / 2), ylim=(bottom, top))
    axes.set_axis_off()
    style.legend_below(figure, entries, columns, noted)
    for row, note in zip(range(len(notes) - 1, -1, -1), notes, strict=True):
        place = (0.5, (0.12 + row * NOTE_ROW) / height)
        figure.text(*place, note, size=style.SMALL, color=style.GREY, ha="center", parse_math=False)
    return figure, axes


def _bounds(drawing: Layout) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of all that is drawn."""
    boxes = drawing.boxes.values()
    points = [point for route in drawing.routes.values() for point in route]
    xs = [*(x for x, _ in points), *(b.x + s * b.width / 2 for b in boxes for s in (-1, 1))]
    ys = [*(y for _, y in points), *(b.y + s * b.height / 2 for b in boxes for s in (-1, 1))]
    return min(xs), max(xs), min(ys) - 0.03, max(ys) + 0.03


def _legend_entries(kinds: Mapping[str, str], legend: Mapping[str, Kind], hidden: bool) -> list[style.Entry]:
    """A swatch for every kind that occurs, in the order of the legend, and the dashes if there are any."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    occurring = set(kinds.values())
    entries: list[style.Entry] = [
        (Patch(facecolor=k.colour, edgecolor=style.INK, linewidth=k.width, linestyle=k.dashes), k.label)
        for name, k in legend.items()
        if name in occurring
    ]
    if hidden:
        entries.append((Line2D([], [], color=style.VERMILION, linewidth=1.4, linestyle=DASHES), HIDDEN))
    return entries


def _draw_box(axes: Axes, node: str, box: Box, kind: Kind) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import FancyBboxPatch

    corner = (box.x - box.width / 2, box.y - box.height / 2)
    shape = FancyBboxPatch(corner, box.width, box.height, boxstyle="round,pad=0,rounding_size=0.1")
    shape.set(facecolor=kind.colour, edgecolor=style.INK, linewidth=kind.width, zorder=3, label=node)
    shape.set_linestyle(kind.dashes)
    axes.add_patch(shape)
    red, green, blue = to_rgb(kind.colour)
    ink = style.INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
    axes.text(box.x, box.y, node, size=style.TEXT, color=ink, ha="center", va="center", zorder=4, parse_math=False)


def _draw_line(axes: Axes, line: Line, points: Sequence[Point]) -> None:
    """The curve, and a head at the right end, or at both ends of a `<->`."""
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    curve = list(points)
    colour, width, dashes, rank = (style.VERMILION, 1.4, DASHES, 2) if line.hidden else (style.INK, 1.1, "-", 1)
    for end, inner in [(-1, -2), (0, 1)] if line.hidden else [(-1, -2)]:
        head = _head(points[end], points[inner])
        curve[end] = head[2]
        axes.add_patch(Polygon(head, closed=True, color=colour, linewidth=0, zorder=rank))
    path = Path(curve, [Path.MOVETO, *[Path.CURVE4] * (len(curve) - 1)])
    shape = PathPatch(path, fill=False, edgecolor=colour, linewidth=width, linestyle=dashes, zorder=rank)
    shape.set_label(f"{line.left} {'<->' if line.hidden else '->'} {line.right}")
    axes.add_patch(shape)


def _head(tip: Point, before: Point) -> list[Point]:
    """An arrowhead: its tip, two barbs, and the notch between them, where the curve ends."""
    length = math.dist(tip, before)
    dx, dy = (tip[0] - before[0]) / length, (tip[1] - before[1]) / length
    x, y = tip[0] - HEAD * dx, tip[1] - HEAD * dy
    notch = (tip[0] - 0.8 * HEAD * dx, tip[1] - 0.8 * HEAD * dy)
    left, right = (x - HEAD_HALF * dy, y + HEAD_HALF * dx), (x + HEAD_HALF * dy, y - HEAD_HALF * dx)
    return [tip, left, notch, right]
