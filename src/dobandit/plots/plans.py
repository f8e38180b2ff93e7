"""A plan as a figure: regret, and the chances of a good answer, against the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dobandit.numerals import amount
from dobandit.plots import style
from dobandit.plots.regret import Curve, curves_figure, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEFT, BOTTOM, INSIDE, HIGH, ABOVE = 0.8, 0.85, 3.9, 2.9, 0.55  # inches: the axes, and white around them
BETWEEN, MARGIN = 1.05, 0.2  # beside the names of policies


class Expected(NamedTuple):
    """What is expected of a policy at some budgets."""

    policy: str
    budgets: Sequence[float]
    regret: Sequence[float]
    se: Sequence[float]
    best: Sequence[float]  # chances
    within: Sequence[float]


def plan_figure(
    curves: Sequence[Expected], *, regret: str, within: str, best: str, chance: float, needed: float | None
) -> Figure:
    """Regret on the left, the two chances on the right, with the chance that is asked for as a line.

    Parameters
    ----------
    curves
        One for each policy.
    regret, within, best
        What is on the left, and what the chances are of.
    chance, needed
        The chance that is asked for, and the budget that reaches it.
    """
    with style.plain_style():
        title = "" if needed is None else f"about {amount(needed)} for a {chance:.0%} chance to {within}"
        start = LEFT + INSIDE + BETWEEN + max(style.text_width(curve.policy, style.SMALL) for curve in curves)
        width, height = start + INSIDE + MARGIN, BOTTOM + HIGH + ABOVE
        figure, left = style.page((width, height), (LEFT, BOTTOM, INSIDE, HIGH), title)
        right = figure.add_axes((start / width, BOTTOM / height, INSIDE / width, HIGH / height))
        losses = [Curve(c.policy, c.budgets, c.regret, c.se) for c in curves]
        curves_figure(losses, xlabel="budget", ylabel=regret, axes=left)
        entries = _draw_chances(right, curves, losses, within, best)
        right.axhline(chance, color=style.GREY, linewidth=1.0, linestyle=":")
        for axes in (left, right):
            _scale(axes, curves[0].budgets)
            if needed is not None:
                axes.axvline(needed, color=style.GREY, linewidth=1.0, linestyle=":")
        columns, _ = style.legend_shape([label for _, label in entries], width - 2 * MARGIN)
        style.legend_below(figure, entries, columns)
    return figure


def _draw_chances(
    axes: Axes, curves: Sequence[Expected], losses: Sequence[Curve], within: str, best: str
) -> list[style.Entry]:
    from matplotlib.lines import Line2D

    style.dress(axes, "both", frame=("left", "bottom"))
    for curve, (colour, *_) in zip(curves, styles(losses), strict=True):
        axes.plot(curve.budgets, curve.within, color=colour, linewidth=1.8)
        axes.plot(curve.budgets, curve.best, color=colour, linewidth=1.4, linestyle="--")
    axes.set_ylim(0, 1)
    axes.set_yticks([k / 10 for k in range(0, 11, 2)], [f"{10 * k} %" for k in range(0, 11, 2)])
    axes.set_xlabel("budget", color=style.INK)
    axes.set_ylabel("chance", color=style.INK)
    firm = Line2D([], [], color=style.INK, linewidth=1.8)
    dashed = Line2D([], [], color=style.INK, linewidth=1.4, linestyle="--")
    return [(firm, within), (dashed, best)]


def _scale(axes: Axes, budgets: Sequence[float]) -> None:
    """Budgets on a logarithmic axis, written as they are."""
    if len(budgets) < 2:
        return
    axes.set_xscale("log")
    some = budgets[:: -(-len(budgets) // 6)]
    axes.set_xticks(list(some), [amount(budget) for budget in some])
    axes.set_xticks([], minor=True)
