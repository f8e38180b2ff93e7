"""Regret as a figure: one curve for every policy, with a band of its standard error, or dots at a single place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

from dobandit.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, LEFT, MARGIN = 6.4, 3.6, 0.8, 0.2  # inches
# The same policy has the same colour in every figure (Okabe and Ito 2008, without the yellow).
_COLOURED = {
    "#0072B2": "paper-cumulative paper-simple",
    "#D55E00": "crm srm",
    "#CC79A7": "crm-nb gamma-nb",
    "#009E73": "f-kube successive-rejects",
    "#767676": "ucb uniform",
    "#E69F00": "thompson parallel-bandit",
    "#56B4E9": "sh-rr",
    "#222222": "causal-thompson causal-explore",
}
COLOURS = {policy: colour for colour, policies in _COLOURED.items() for policy in policies.split()}
LINES = ("-", (0, (5, 2)), (0, (5, 2, 1, 2)), (0, (9, 2, 2, 2)))  # variants of one policy differ by their dashes
SIGNS = "osD^v<>PX*"
DOTS = (0, (1, 1.2))
BOUNDS = ((0, (9, 2, 1, 2)), (0, (4, 3)))
PUBLISHED = "dotted: as published"


class Curve(NamedTuple):
    """Mean regret of a policy at some places, and the standard errors."""

    policy: str
    x: Sequence[float]
    mean: Sequence[float]
    se: Sequence[float]


def curves_figure(
    curves: Sequence[Curve],
    *,
    xlabel: str,
    ylabel: str,
    title: str | None = None,
    published: Sequence[Curve] = (),
    bounds: Sequence[Curve] = (),
) -> Figure:
    """One curve for every policy, the legend below; at a single place dots with bars, side by side.

    Curves that others published are dotted, in the same colours; bounds that theory gives are thin and black.
    """
    with style.plain_style():
        labels = [*(curve.policy for curve in curves), *[PUBLISHED] * bool(published), *(b.policy for b in bounds)]
        columns, rows = style.legend_shape(labels, WIDTH - 2 * MARGIN)
        above, below = 0.45 if title else MARGIN, 0.62 + rows * style.LEGEND_ROW
        width = max(WIDTH, style.text_width(title or "", style.TITLE) + 2 * MARGIN)
        inside = LEFT, below, width - LEFT - MARGIN, HEIGHT
        figure, axes = style.page((width, above + HEIGHT + below), inside, title)
        style.dress(axes, "both", frame=("left", "bottom"))
        axes.set_xlabel(xlabel, color=style.INK, parse_math=False)
        axes.set_ylabel(ylabel, color=style.INK, parse_math=False)
        axes.locator_params(axis="x", steps=[1, 2, 5, 10])  # no ticks at 2.5 where costs are whole
        if {len(curve.x) for curve in curves} == {1}:
            entries = _draw_dots(axes, curves)
            published, bounds = _side_by_side(curves, published, bounds)
        else:
            order = range(len(curves) + 2, 2, -1)  # where curves meet, the first is seen
            entries = [_draw(axes, *each) for each in zip(curves, _styles(curves), order, strict=True)]
        entries += _draw_published(axes, published, dict(zip(map(_policy, curves), _styles(curves), strict=True)))
        entries += [_draw_bound(axes, *bound) for bound in zip(bounds, cycle(BOUNDS), strict=False)]
        axes.set_ylim(bottom=min(0.0, *(min(curve.mean) for curve in curves)))
        style.legend_below(figure, entries, columns)
    return figure


Style = tuple[str, "str | tuple[int, tuple[float, ...]]", str]  # colour, dashes, sign


def _styles(curves: Sequence[Curve]) -> list[Style]:
    """A colour for every policy, dashes for its variants, and a sign for every curve."""
    spare = cycle(["#56B4E9", "#999933", "#882255", "#44AA99"])
    colours: dict[str, str] = {}
    variants: dict[str, int] = {}
    styles: list[Style] = []
    for curve, sign in zip(curves, cycle(SIGNS), strict=False):
        name = _policy(curve)
        colour = colours.setdefault(name, COLOURS.get(name) or next(spare))
        styles.append((colour, LINES[variants.get(name, 0) % len(LINES)], sign))
        variants[name] = variants.get(name, 0) + 1
    return styles


def _policy(curve: Curve) -> str:
    """Without the options of a variant."""
    return curve.policy.partition("[")[0]


def _draw(axes: Axes, curve: Curve, look: Style, order: int) -> style.Entry:
    colour, dashes, sign = look
    (line,) = axes.plot(curve.x, curve.mean, color=colour, linestyle=dashes, linewidth=1.6, zorder=order)
    line.set(marker=sign, markersize=4, markevery=max(1, len(curve.x) // 8))
    low = [m - s for m, s in zip(curve.mean, curve.se, strict=True)]
    high = [m + s for m, s in zip(curve.mean, curve.se, strict=True)]
    axes.fill_between(curve.x, low, high, color=colour, alpha=0.18, linewidth=0)
    return line, curve.policy


def _draw_dots(axes: Axes, curves: Sequence[Curve]) -> list[style.Entry]:
    """Regret at one place: a dot for every policy, from left to right, with a bar of one standard error each way."""
    entries: list[style.Entry] = []
    for i, (curve, (colour, _, sign)) in enumerate(zip(curves, _styles(curves), strict=True)):
        bars = axes.errorbar([i], curve.mean, curve.se, fmt=sign, color=colour, markersize=6, capsize=4, linewidth=1.4)
        entries.append((bars.lines[0], curve.policy))
    axes.set_xlim(-0.5, len(curves) - 0.5)
    axes.set_xticks([(len(curves) - 1) / 2], [f"{curves[0].x[0]:g}"])
    axes.grid(visible=False, axis="x")
    return entries


def _side_by_side(
    curves: Sequence[Curve], published: Sequence[Curve], bounds: Sequence[Curve]
) -> tuple[list[Curve], list[Curve]]:
    """What others published, and bounds, as level lines: beside the dots they belong to, and across all of them."""
    (place,) = curves[0].x
    at = {name: [i for i, curve in enumerate(curves) if _policy(curve) == name] for name in map(_policy, curves)}
    ends = {name: (found[0] - 0.4, found[-1] + 0.4) for name, found in at.items()}
    across = (-0.5, len(curves) - 0.5)
    return (
        [_level(curve, place, ends[_policy(curve)]) for curve in published if _policy(curve) in ends],
        [_level(bound, place, across) for bound in bounds],
    )


def _level(curve: Curve, place: float, ends: tuple[float, float]) -> Curve:
    """The value of a curve at a place, as a line from end to end."""
    height = dict(zip(curve.x, curve.mean, strict=True)).get(place, float("nan"))
    return Curve(curve.policy, ends, (height, height), (0.0, 0.0))


def _draw_published(axes: Axes, curves: Sequence[Curve], styles: Mapping[str, Style]) -> list[style.Entry]:
    """One dotted line for every policy, and one entry of the legend for all of them."""
    if not curves:
        return []
    from matplotlib.lines import Line2D

    for name, curve in {_policy(curve): curve for curve in curves}.items():
        colour = styles[name][0] if name in styles else style.GREY
        axes.plot(curve.x, curve.mean, color=colour, linestyle=DOTS, linewidth=1.4)
    return [(Line2D([], [], color=style.GREY, linestyle=DOTS, linewidth=1.4), PUBLISHED)]


def _draw_bound(axes: Axes, bound: Curve, dashes: tuple[int, tuple[float, ...]]) -> style.Entry:
    (line,) = axes.plot(bound.x, bound.mean, color=style.INK, linestyle=dashes, linewidth=0.9)
    return line, bound.policy
