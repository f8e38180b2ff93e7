"""The thirteen panels of the paper's experiments as data; `reproduce` runs them. Everywhere do() costs 1."""

from __future__ import annotations

from functools import partial
from typing import Any

from dobandit import worlds
from dobandit.errors import DobanditError, did_you_mean, listing
from dobandit.paper.claims import Claim, below, fails, flattens, grows, grows_slower, keeps_growing, vanishes
from dobandit.paper.panel import Experiment, Panel
from dobandit.paper.published import points
from dobandit.problem import Axis
from dobandit.worlds import N5, N6, N6_HIDDEN, N7

ALG1, ALG2, SR = "paper-cumulative", "paper-simple", "successive-rejects"

COST_BLIND = {"f-kube": "f-kube[as_published=true]"}
BOTH_VALUES = {name: f"{name}[explored=both-values]" for name in ("gamma-nb", "parallel-bandit")}
HALF = {SR: f"{SR}[form=half]"}
ROUNDS = {"srm": "srm[form=rounds]"}

# Why a curve differs from the published one; said where the numbers show the difference. How near the variants come
# is computed and said by `comparison.notes`.
OF_ALG1 = {
    ALG1: (
        "Here the index is divided by the cost, as the proof has it; with the index as printed in line 7, Algorithm 1 "
        "does as badly as CRM. The published curve is neither of them. The cause cannot be settled without the "
        "authors' code."
    )
}
OF_F_KUBE = {
    "f-kube": (
        "The published curve looks like that of UCB1, which does not know costs. F-KUBE divides its index by the "
        "cost (Tran-Thanh et al. 2012), and then its regret is far lower. The variant leaves the division out."
    )
}
OF_CRM = {
    "crm": (
        "Algorithms that do not know costs mostly pull do(X6=1), so their regret depends on what that arm costs. The "
        "paper does not say whether its random costs were drawn once or for every trial; in a single draw that made "
        "do(X6=1) cost 3, CRM comes nearer to its published curve."
    )
}
OF_PARALLEL = {
    ALG2: (
        "At the smallest budgets the published curve lies above ours. The cause cannot be settled without the "
        "authors' code."
    ),
    "gamma-nb": (
        "The published curve is worse than the algorithm of its paper, which explores the two rare arms do(X1=1) and "
        "do(X2=1), as Algorithm 2 does. It looks like one that explores more arms; the variant explores both values "
        "of every rare variable."
    ),
    "parallel-bandit": (
        "The published curve is worse than the algorithm of its paper (in the form for budgets of Nair et al. 2021), "
        "which explores the two rare arms. The variant explores both values of every rare variable."
    ),
}
OF_SRM = {
    "srm": (
        "The paper does not say how SRM, which knows no costs, was adapted to them. Here it spends half of the budget "
        "on observations; the variant spends half of the rounds."
    )
}
OF_SR = {
    SR: (
        "The published curve looks like that of Successive Rejects with about B / (2c) pulls, half of what the budget "
        "pays for. The variant has that many."
    )
}
OF_BUDGET = {
    ALG2: (
        "The text says B = 800, but the points of Algorithm 2 look like a larger budget: at c = 6 it has "
        f"{points('fig4-cost', ALG2)[6.0].regret:.3f} here and {points('fig4-budget', ALG2)[800.0].regret:.3f} at "
        "B = 800 in the paper's other panel, where interventions cost 5 to 7. Of the budgets that were tried "
        "afterwards, B = 1500 brings our Algorithm 2 near the points. Whether the budget was larger remains open; how "
        "the other curves agree at B = 800 is said with them."
    )
}

SIX = Experiment("cumulative", N6, "xor", (ALG1, "crm", "f-kube"), COST_BLIND, OF_ALG1 | OF_CRM | OF_F_KUBE)
SIX_HIDDEN = Experiment("cumulative", N6_HIDDEN, "xor", (ALG1, "f-kube"), COST_BLIND, OF_ALG1 | OF_F_KUBE)
P50, P7 = worlds.parallel(n=50).graph, worlds.parallel(n=7).graph
ON_PARALLEL, ON_GENERAL = (ALG2, "gamma-nb", "parallel-bandit"), (ALG2, "srm", SR)
FIFTY = Experiment("simple", P50, "parallel", ON_PARALLEL, BOTH_VALUES, OF_PARALLEL)
SEVEN = Experiment("simple", P7, "parallel", (*ON_PARALLEL, SR), BOTH_VALUES | HALF, OF_PARALLEL | OF_SR)
GENERAL_SEVEN = Experiment("simple", N7, "xor", ON_GENERAL, HALF | ROUNDS, OF_SRM | OF_SR)
GENERAL_FIVE = Experiment("simple", N5, "xor", ON_GENERAL, HALF | ROUNDS, OF_SRM | OF_SR)

ALG1_SLOWER = Claim("The regret of Algorithm 1 grows more slowly than that of the others.", grows_slower, (ALG1,))
ALG2_SLOWER = Claim("The regret of Algorithm 2 grows more slowly than that of the others.", grows_slower, (ALG2,))
ALG2_FASTER = Claim("Algorithm 2 converges faster than the others.", below, (ALG2,))
ALG2_VANISHES = Claim("The regret of Algorithm 2 converges to zero.", vanishes, (ALG2,))
GROW_WITH_BUDGET = Claim("The regret of all algorithms grows with the budget.", grows)
GROW_WITH_COST = Claim("The regret grows with the cost of intervening.", grows)
OTHERS_GROW_ON = Claim("F-KUBE and CRM do not reach a constant for B <= 2500.", keeps_growing, ("crm", "f-kube"))
ALG1_FLATTENS = Claim("The regret of Algorithm 1 stays constant for large budgets.", flattens, (ALG1,))
ALL_VANISH = Claim("The regret of all algorithms converges to zero.", vanishes)
ALG2_OUTPERFORMS = Claim("Algorithm 2 drastically outperforms the others.", partial(below, start=0.5), (ALG2,))
ALG2_BELOW = Claim("Algorithm 2 lies below the others (drawn, not said).", below, (ALG2,))
SR_FAILS = Claim("Successive Rejects fails to perform well for large N.", fails, (SR,), also=(SR,))  # where N = 50
NOT_DRAWN = "Successive Rejects is not in the figure; a footnote is about it. fig10-budget has it for 7 variables."
NO_BUDGET = "The paper does not state the budget; 800 is that of fig4-cost."

# What the paper leaves open, and what is done here.
CHOICES = (
    "Whether the chances of variables without parents and the random costs were drawn once or for every trial is not "
    "said; here they are drawn for every trial.",
    "How a hidden cause enters the XOR is not said; here it is one more parent of both variables.",
    "How algorithms that know no costs, or only equal ones, were adapted to costs is not said; `dobandit policies` "
    "tells what is done here.",
    "The text says 100 trials for each point; the points of the parallel graphs are multiples of 0.3/200, so they are "
    "means of 200 trials.",
)


def _panel(name: str, figure: str, experiment: Experiment, grid: range, *claims: Claim, **rest: Any) -> Panel:
    """A panel against costs where it states a budget, else against budgets."""
    axis: Axis = "cost" if "budget" in rest else "budget"
    return Panel(name, f"Figure {figure}", experiment, axis, tuple(map(float, grid)), claims, **rest)


ABOUT_ALG1 = GROW_WITH_BUDGET, ALG1_SLOWER, OTHERS_GROW_ON, ALG1_FLATTENS
ABOUT_FIFTY = ALL_VANISH, ALG2_FASTER, SR_FAILS
ALG2_WINS = ALG2_VANISHES, ALG2_FASTER
_ALL = (
    _panel("fig2-budget", "2, above", SIX, range(100, 2451, 50), *ABOUT_ALG1, costs=(2, 3)),
    _panel("fig2-cost", "2, below", SIX, range(2, 21), ALG1_SLOWER, budget=1000),
    _panel("fig3-budget", "3, above", FIFTY, range(100, 1391, 30), *ABOUT_FIFTY, costs=(2, 3, 4, 5), remark=NOT_DRAWN),
    _panel("fig3-cost", "3, below", FIFTY, range(1, 21), GROW_WITH_COST, ALG2_OUTPERFORMS, budget=1500),
    _panel("fig4-budget", "4, above", GENERAL_SEVEN, range(300, 2451, 50), *ALG2_WINS, costs=(5, 6, 7)),
    _panel("fig4-cost", "4, below", GENERAL_SEVEN, range(2, 21), ALG2_BELOW, budget=800, own_notes=OF_BUDGET),
    _panel("fig8-budget", "8, left", SIX_HIDDEN, range(100, 2451, 50), GROW_WITH_BUDGET, ALG1_SLOWER, costs=(2, 3)),
    _panel("fig8-cost", "8, right", SIX_HIDDEN, range(2, 21), ALG1_SLOWER, budget=1000),
    _panel("fig9-budget", "9", FIFTY, range(100, 1461, 40), ALG2_FASTER, costs=(4,)),
    _panel("fig10-budget", "10, left", SEVEN, range(100, 1391, 30), ALG2_FASTER, costs=(2, 3, 4, 5)),
    _panel("fig10-cost", "10, right", SEVEN, range(1, 21), ALG2_SLOWER, budget=1500),
    _panel("fig13-budget", "13, left", GENERAL_FIVE, range(300, 2461, 40), *ALG2_WINS, costs=(5, 6, 7)),
    _panel(
        "fig13-cost", "13, right", GENERAL_FIVE, range(1, 21), GROW_WITH_COST, ALG2_SLOWER, budget=800, remark=NO_BUDGET
    ),
)
PANELS = {panel.name: panel for panel in _ALL}


def panels_of(name: str) -> list[Panel]:
    """The panel of this name, or all of a figure (`fig10`); an unknown name is answered with the nearest."""
    known = name.strip().lower()
    if found := [panel for panel in _ALL if known in (panel.name, panel.name.partition("-")[0])]:
        return found
    meant = did_you_mean(known, PANELS, most=3) or f"there are {listing(PANELS, most=len(PANELS))}"
    raise DobanditError(f"there is no panel {name!r}; {meant}")
