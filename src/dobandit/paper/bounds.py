"""What the paper proves about regret, as numbers for a given problem and world, with its slips corrected.

Upper bounds: `theorem_1` (cumulative regret of Algorithm 1) and `theorem_2` (simple regret of Algorithm 2). Lower
bounds, for the worst problem and not for the given one: `cumulative_lower` and `simple_lower_rate`. What is corrected,
and why, is in docs/theory.md. Costs and budgets are counted in units of the cost of do(), rewards from 0 to 1 while
things are computed; the curves are in the user's units.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dobandit.arrays import Array
from dobandit.errors import DobanditError
from dobandit.paper.rarity import Cells, Rarity, cells_of, rarity, thresholds
from dobandit.problem import Problem
from dobandit.simulation import positive, scale_of
from dobandit.worlds import World

TIE = 1e-12  # gaps below this are none
NO_BACKDOOR = 2 / (1 - math.exp(-2))  # M of Theorem 2 where E[Y | X=x] is the effect: there it can be proved
BINARY_REWARD = 32 / 3  # w of the lower bound: twice the Fisher information of a 0/1 reward with mean 1/4 or 3/4


class Theorem1(NamedTuple):
    """The bound on the cumulative regret of Algorithm 1 and its constants, with axes (arm) or (budget, arm)."""

    budgets: Array
    arms: tuple[str, ...]
    best: str  # a*: the arm with the largest mean per cost
    costs: Array  # c_a, in units of the cost of do()
    gaps: Array  # delta_a: by how much the mean per cost falls short of that of a*
    cells: Cells  # that S counts
    b: Array  # a number of rounds up to which the arm's evidence is surely too thin to stop pulling it
    tau: Array  # the probability that no cell has by then less than half of its share, at least
    saved: Array  # pulls that observations make needless, at least
    pulls: Array  # E[N_a], at most, as long as do() and a* can be paid
    curve: Array  # the regret, at most
    printed: Array  # the same from the formula as printed; NaN where a* is do()


class Theorem2(NamedTuple):
    """The bound on the simple regret of Algorithm 2 up to the unknown constant M, and what it is made of."""

    budgets: Array
    n: float  # n(q)
    k: int  # the size of the largest c-component
    q: float  # the smallest positive q_{i,x}
    cells: float  # Z: the number of values of Pa~, for the variable that has most
    rate: Array  # sqrt(n(q)/B log(N B/n(q)))
    curve: Array  # the regret, at most, if M is right


def theorem_1(
    problem: Problem, world: World, budgets: ArrayLike | None = None, costs: ArrayLike | None = None
) -> Theorem1:
    """E[regret] <= sum of c_a delta_a E[N_a] over the arms, and what the last, too small rest of the money may lose.

    >>> from dobandit.worlds import xor
    >>> problem = Problem("X -> Y", "Y", budget=1000, default_cost=1.2)
    >>> bound = theorem_1(problem, xor("X -> Y", seed=1), budgets=[100, 1000])
    >>> bound.best, bound.gaps.round(3), bound.curve.round(0)
    ('do()', array([0.   , 0.545, 0.045]), array([ 738., 1105.]))
    """
    stage, cells = _stage(problem, world, budgets, costs), cells_of(problem, world)
    budget, costs_ = stage.budgets[:, np.newaxis], stage.costs
    ratio = stage.means / costs_
    best = int(ratio.argmax())
    gaps = np.where(ratio[best] - ratio > TIE, ratio[best] - ratio, 0.0)
    last = max(1.0, float(costs_[best]))  # with less money do() or a* is out of reach
    log = np.log(np.maximum(budget / costs_.min(), 1.0))  # of the largest number of rounds
    with np.errstate(divide="ignore"):
        enough = 8 * log / (costs_ * gaps) ** 2  # pulls after which the index is misled with probability t^-4 only
    # Evidence grows by at most one a round, and so many rounds are surely played.
    b = np.floor(np.minimum(enough, np.maximum((budget - last) / costs_.max(), 0.0)))
    tau, saved = _saved(cells, b, costs_)
    pulls = enough + 1 + math.pi**2 / 3 - saved
    pulls[:, 0] = np.maximum(enough[:, 0], log[:, 0] ** 2) + 1 + math.pi**2 / 3  # forced while N_0 < beta^2 ln t
    with np.errstate(invalid="ignore"):
        lost = np.where(gaps > 0, costs_ * gaps * pulls, 0.0).sum(axis=1) + ratio[best] * last
    return Theorem1(
        budgets=stage.budgets * stage.unit,
        arms=tuple(map(str, problem.arms)),
        best=str(problem.arms[best]),
        costs=costs_,
        gaps=gaps,
        cells=cells,
        b=b,
        tau=tau,
        saved=saved,
        pulls=pulls,
        curve=lost * stage.scale,
        printed=_printed_theorem_1(cells, gaps, budget, float(costs_.max())) * stage.scale,
    )


def theorem_2(
    problem: Problem,
    world: World,
    budgets: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    constant: float = 1.0,
) -> Theorem2:
    """The last but one line of the proof, which needs no smallest budget; never more than the largest regret there is.

    `constant` is M, which is only known to exist and to depend on the graph alone: with the default the curve has the
    right shape but is no bound. Where no back-door path is open, NO_BACKDOOR makes it one.

    >>> from dobandit.worlds import parallel
    >>> world = parallel(n=3)
    >>> problem = Problem(world.graph, "Y", budget=1000, objective="simple", default_cost=4)
    >>> bound = theorem_2(problem, world, budgets=[1000, 1_000_000], constant=NO_BACKDOOR)
    >>> bound.n, bound.k, bound.q, bound.curve.round(3)
    (8.0, 1, 0.02, array([0.306, 0.085]))
    """
    stage = _stage(problem, world, budgets, costs)
    found = rarity(problem, world)
    n, variables, arms = thresholds(problem, world, stage.costs).n, len(problem.intervenable), len(problem.arms)
    q, k = _smallest(found, variables), int(found.k.max())
    with np.errstate(invalid="ignore"):
        rate = np.sqrt(n / stage.budgets * np.log(variables * stage.budgets / n))
    epsilon = np.sqrt(4 * 2 ** (k - 1) * constant) * rate
    misled = 2 * arms * n / (variables * stage.budgets)  # some mean is off by more than epsilon
    misjudged = 2 * (arms - 1) * found.cells.max() * np.exp(-(((1 - 2 ** (-1 / k)) * q) ** 2) * stage.budgets / 16)
    largest = float(np.ptp(stage.means))
    curve = np.fmin(2 * epsilon + misled + misjudged, largest)  # a budget below n(q)/N proves nothing
    return Theorem2(stage.budgets * stage.unit, n, k, q, float(found.cells.max()), rate, curve * stage.scale)


def simple_lower_rate(
    problem: Problem, world: World, budgets: ArrayLike | None = None, costs: ArrayLike | None = None
) -> Array:
    """sqrt(n(q)/B), which on some world with this n(q) no algorithm beats by more than a constant (Maiti et al. 2022).

    Known for trees whose arms all cost the same; the constant is not known.
    """
    stage = _stage(problem, world, budgets, costs)
    return np.asarray(np.sqrt(thresholds(problem, world, stage.costs).n / stage.budgets) * stage.scale)


def cumulative_lower(
    problem: Problem, budgets: ArrayLike | None = None, costs: ArrayLike | None = None, w: float = BINARY_REWARD
) -> Array:
    """floor(B/c)/(8e) sqrt(KN/(w floor(B/c))): what every algorithm loses on the worst bandit of this size.

    KN is the number of interventions, c the largest cost, which every arm has in that bandit. Its means are at most
    1/2 apart, so that they exist for rewards between 0 and 1.

    >>> cumulative_lower(Problem("X -> Y", "Y", budget=1), budgets=[100, 10_000]).round(3)
    array([0.199, 1.991])
    """
    prices, unit = costs_in_units(problem, costs)
    rounds = np.floor(positive(problem.budget if budgets is None else budgets, "budgets") / unit / prices.max())
    with np.errstate(divide="ignore"):
        gap = np.minimum(np.sqrt((len(problem.arms) - 1) / (w * rounds)), 0.25)
    return np.asarray(rounds / (8 * math.e) * gap * scale_of(problem))


# -- the pieces of Theorem 1 ---------------------------------------------------------------------------


def _saved(cells: Cells, b: Array, costs: Array) -> tuple[Array, Array]:
    """tau and E[S], at least, after b rounds (the lemma on E[S]).

    By then do() was observed beta^2 ln b times, unless the rounds since the first sweep are fewer; beta is at least 1,
    or 2 sqrt 2 times the smallest cost. Each factor has its part of these rows.
    """
    least = min(1.0, 8 * float(costs.min()) ** 2)  # beta^2
    with np.errstate(divide="ignore"):
        observed = np.ceil(np.clip(least * np.log(b), 0, np.maximum(b - len(costs) + 1, 0)))
    rows = np.floor(observed / cells.variables)
    tau = np.maximum(0.0, 1 - cells.number * np.exp(-(cells.rarest**2) * rows / 2)) * (cells.rarest > 0)
    return tau, cells.rarest / 2 * rows * tau


def _printed_theorem_1(cells: Cells, gaps: Array, budget: Array, dearest: float) -> Array:
    """As printed, with the lemma's p_{i,x}."""
    if gaps[0] == 0:
        return np.full(len(budget), np.nan)
    power = cells.rarest**2 / (2 * cells.variables)
    with np.errstate(divide="ignore", invalid="ignore"):
        b = np.maximum(8 / gaps**2 * np.log(budget / dearest) + 1, 1)
        tau = np.maximum(0.0, 1 - cells.variables * cells.alphabet * b**-power)
        less = 8 * cells.rarest / (18 * gaps[0] ** 2 * cells.variables) * np.log(b) * tau
        terms = gaps * (8 * np.log(budget) / gaps**2 + 2 - less + math.pi**2 / 3)
    terms[:, 0] -= gaps[0]  # its constant is 1, not 2
    return np.asarray(np.where(gaps > 0, terms, 0.0).sum(axis=1))


def _smallest(found: Rarity, variables: int) -> float:
    """q: the smallest positive q_{i,x}; 1/(N+1) where there is none."""
    positive = found.q[found.q > 0]
    return float(positive.min()) if len(positive) else 1 / (variables + 1)


# -- what is given -------------------------------------------------------------------------------------


class _Stage(NamedTuple):
    means: Array  # from 0 (worst) to 1 (best)
    costs: Array  # in units of the cost of do()
    budgets: Array  # likewise
    unit: float  # the cost of do()
    scale: float  # from the worst to the best reward


def _stage(problem: Problem, world: World, budgets: ArrayLike | None, costs: ArrayLike | None) -> _Stage:
    if world.trials != 1:
        raise DobanditError(f"a bound is for one world, but this is a batch of {world.trials}: use world.trial(i)")
    prices, unit = costs_in_units(problem, costs)
    given = positive(problem.budget if budgets is None else budgets, "budgets")
    return _Stage(problem.utility(world.means(problem)), prices, given / unit, unit, scale_of(problem))


def costs_in_units(problem: Problem, costs: ArrayLike | None) -> tuple[Array, float]:
    """The costs of the arms in units of the cost of do(), and that unit."""
    if costs is None and problem.costs_are_drawn:
        raise DobanditError("costs: the problem's are drawn for every trial; give those of one trial, one for each arm")
    prices = positive(problem.costs if costs is None else costs, "costs")
    if len(prices) != len(problem.arms):
        raise DobanditError(f"costs: expected {len(problem.arms)} numbers, one for each arm, not {len(prices)}")
    return prices / prices[0], float(prices[0])
