"""Regret as a figure: one curve for every policy, with a band of its standard error, or dots at a single place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

from dobandit.numerals import amount
from dobandit.plots import style
from dobandit.plots.ends import End, name_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSIDE, HEIGHT, LEFT, MARGIN = 5.4, 3.6, 0.8, 0.2  # inches
TILT, TILTED = 25.0, 0.43  # of names below dots, in degrees, and its sine
READABLE = 7  # curves that can be told apart
FADED = "#AAAAAA"
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
    log: bool = False,
    axes: Axes | None = None,
) -> Figure:
    """One curve for every policy with its name at its end; at a single place dots with bars, side by side.

    The best curves are coloured; where there are more than can be told apart, the others are grey. Curves that others
    published are dotted, in the same colours; bounds that theory gives are thin and black. `log` makes the axis of
    regret logarithmic. With `axes`, everything is drawn there.
    """
    with style.plain_style():
        has_dots = {len(curve.x) for curve in curves} == {1}
        legend, names = [PUBLISHED] * bool(published) + [b.policy for b in bounds], [c.policy for c in curves]
        columns, page, axes = _axes(axes, legend, names, title, has_dots)
        _dress(axes, xlabel, ylabel)
        looks = styles(curves)
        if has_dots:
            _draw_dots(axes, curves, xlabel)
            published, bounds = _side_by_side(curves, published, bounds)
        else:
            order = range(len(curves) + 2, 2, -1)  # where curves meet, the first is seen
            for each in zip(curves, looks, order, strict=True):
                _draw(axes, *each)
        entries = _draw_published(axes, published, dict(zip(map(_policy, curves), looks, strict=True)))
        entries += [_draw_bound(axes, *bound) for bound in zip(bounds, cycle(BOUNDS), strict=False)]
        if log:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=min(0.0, *(min(curve.mean) for curve in curves)))
        if not has_dots:
            ends = zip(curves, looks, strict=True)
            name_ends(axes, [End(curve.x[-1], curve.mean[-1], curve.policy, look[0]) for curve, look in ends])
        _say_what_bands_are(axes, curves, has_dots)
        if page is not None:
            style.legend_below(page, entries, columns)
    figure = axes.figure.figure
    assert figure is not None, "axes are in a figure"
    return figure


def _dress(axes: Axes, xlabel: str, ylabel: str) -> None:
    style.dress(axes, "both", frame=("left", "bottom"))
    axes.set_xlabel(xlabel, color=style.INK, parse_math=False)
    axes.set_ylabel(ylabel, color=style.INK, parse_math=False)
    axes.locator_params(axis="x", steps=[1, 2, 5, 10])  # no ticks at 2.5 where costs are whole


def _axes(
    axes: Axes | None, legend: Sequence[str], names: Sequence[str], title: str | None, has_dots: bool
) -> tuple[int, Figure | None, Axes]:
    """The axes to draw in, with room for names at their right or below them, and for a legend below: its columns, and
    its page. Where axes are given, they are in a figure that is not ours, and so are its legends."""
    if axes is not None:
        if title:
            axes.set_title(title, parse_math=False)
        return 1, None, axes
    widest = max(style.text_width(name, style.SMALL) for name in names)
    right, lower = (MARGIN, widest * TILTED) if has_dots else (widest + 0.35, 0.0)
    width = max(LEFT + INSIDE + right, style.text_width(title or "", style.TITLE) + 2 * MARGIN)
    columns, rows = style.legend_shape(legend, width - 2 * MARGIN) if legend else (1, 0)
    above, below = 0.45 if title else MARGIN, 0.62 + lower + rows * style.LEGEND_ROW
    inside = LEFT, below, width - LEFT - right, HEIGHT
    figure, made = style.page((width, above + HEIGHT + below), inside, title)
    return columns, figure, made


def _say_what_bands_are(axes: Axes, curves: Sequence[Curve], has_dots: bool) -> None:
    if any(se > 0 for curve in curves for se in curve.se):
        text = f"{'bars' if has_dots else 'bands'}: ± 1 standard error of the mean"
        axes.text(0.0, 1.015, text, transform=axes.transAxes, size=8.0, color=style.GREY)


Style = tuple[str, "str | tuple[int, tuple[float, ...]]", str]  # colour, dashes, sign


def styles(curves: Sequence[Curve]) -> list[Style]:
    """A colour for every policy, dashes for its variants, and a sign for every curve. The best ones are coloured."""
    spare = cycle(["#56B4E9", "#999933", "#882255", "#44AA99"])
    best = sorted(range(len(curves)), key=lambda i: curves[i].mean[-1])[:READABLE]
    colours: dict[str, str] = {}
    variants: dict[str, int] = {}
    styles: list[Style] = []
    for i, (curve, sign) in enumerate(zip(curves, cycle(SIGNS), strict=False)):
        name = _policy(curve)
        colour = colours.setdefault(name, COLOURS.get(name) or next(spare))
        styles.append((colour if i in best else FADED, LINES[variants.get(name, 0) % len(LINES)], sign))
        variants[name] = variants.get(name, 0) + 1
    return styles


def _policy(curve: Curve) -> str:
    """Without the options of a variant."""
    return curve.policy.partition("[")[0]


def _draw(axes: Axes, curve: Curve, look: Style, order: int) -> None:
    colour, dashes, sign = look
    order = 1 if colour == FADED else order
    (line,) = axes.plot(curve.x, curve.mean, color=colour, linestyle=dashes, linewidth=1.6, zorder=order)
    line.set(marker=sign, markersize=4, markevery=max(1, len(curve.x) // 8))
    low = [m - s for m, s in zip(curve.mean, curve.se, strict=True)]
    high = [m + s for m, s in zip(curve.mean, curve.se, strict=True)]
    axes.fill_between(curve.x, low, high, color=colour, alpha=0.18, linewidth=0)


def _draw_dots(axes: Axes, curves: Sequence[Curve], xlabel: str) -> None:
    """Regret at one place: a dot for every policy above its name, with a bar of one standard error each way."""
    for i, (curve, (colour, _, sign)) in enumerate(zip(curves, styles(curves), strict=True)):
        axes.errorbar([i], curve.mean, curve.se, fmt=sign, color=colour, markersize=6, capsize=4, linewidth=1.4)
    axes.set_xlim(-0.5, len(curves) - 0.5)
    names = [curve.policy for curve in curves]
    axes.set_xticks(range(len(curves)), names, rotation=TILT, ha="right", rotation_mode="anchor")
    for text in axes.get_xticklabels():
        text.set_parse_math(False)
    axes.set_xlabel(f"{xlabel} {amount(curves[0].x[0])}", color=style.INK, parse_math=False)
    axes.grid(visible=False, axis="x")


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
