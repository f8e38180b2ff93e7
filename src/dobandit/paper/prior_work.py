"""The error in prior work that the paper names (its last appendix): equation (17) of Nair et al. (2021).

N_T counts the pulls of do(X=x) in T rounds, O_T the observations with X=x, and E_t = N_t + O_t. The equation, a step in
the proof of their Lemma B.6, says that for every l

    N_T <= max(0, l - O_T) + #{t <= T: do(X=x) is pulled and E_t >= l}.

It subtracts all observations, also those that come after the pulls that they are to save. What holds is

    N_T <= l - O_l + #{t <= T: do(X=x) is pulled and E_t > l},

with the observations of the first l rounds only: the step that the paper's own proof takes. docs/theory.md tells more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from dobandit.problem import Problem
from dobandit.simulation import simulate
from dobandit.worlds import from_tables

PULLED, SEEN, OTHER = "pulled", "seen", "other"  # do(X=x) was pulled; do() was, and X=x was seen; anything else
GRAPH = "X -> Y"


class Sides(NamedTuple):
    """Of an inequality left <= right."""

    left: float
    right: float


def equation_17(rounds: Sequence[str], level: float) -> Sides:
    """As Nair et al. print it, for one history; `level` is l.

    >>> equation_17(["pulled", "other", "seen", "seen"], level=2)
    Sides(left=1, right=0)
    """
    late = sum(what == PULLED and e >= level for what, e in zip(rounds, _evidence(rounds), strict=True))
    return Sides(rounds.count(PULLED), max(0, level - rounds.count(SEEN)) + late)


def corrected_17(rounds: Sequence[str], level: int) -> Sides:
    """What holds, for one history.

    >>> corrected_17(["pulled", "other", "seen", "seen"], level=2)
    Sides(left=1, right=2)
    """
    late = sum(what == PULLED and e > level for what, e in zip(rounds, _evidence(rounds), strict=True))
    return Sides(rounds.count(PULLED), level - rounds[:level].count(SEEN) + late)


def _evidence(rounds: Sequence[str]) -> list[int]:
    """E_t."""
    return list(accumulate(int(what in (PULLED, SEEN)) for what in rounds))


def expected_17(p: float, cost: float, horizon: int, begin: float) -> Sides:
    """The expectation of both sides for do(X=1) where CRM-NB plays: the left at least, the right at most.

    The world: P(X=1) = p and Y = 1 always, so that do() is the best arm for any cost above 1, by delta = 1 - 1/cost;
    l = 8 ln T / delta^2 + 1. No side is sampled:

    - Left: if X=1 is not seen while the first `begin` of the money is spent, CRM-NB does what it does where X is never
      1, and that run leaves nothing to chance. Later pulls only add to it.
    - Right: do(X=x) has a larger index than do() only if E < 8 ln T / (cost - 1)^2, so no pull is late. All but a few
      rounds are observations, and at least a binomial number of them has X=1.

    >>> expected_17(p=0.001, cost=2, horizon=1_000_000, begin=400).left > 11
    True
    """
    never = from_tables(GRAPH, {"X": ([], [1.0, 0.0]), "Y": (["X"], [[0.0, 1.0]] * 2)}, {})
    run = simulate(Problem(GRAPH, "Y", begin, default_cost=cost), never, "crm-nb", trials=1)
    observed, _, pulled = run.pulls["crm-nb"][0, 0]
    most = 8 * math.log(horizon) / (cost - 1) ** 2 + 2  # pulls of do(X=x)
    level = 8 * math.log(horizon) / (1 - 1 / cost) ** 2 + 1  # l
    return Sides(float((1 - p) ** observed * pulled), _shortfall(level, max(0, math.floor(horizon - 2 * most)), p))


def _shortfall(level: float, n: int, p: float) -> float:
    """E[max(0, level - O)] for a binomial O."""

    def chance(k: int) -> float:
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))

    return sum((level - k) * chance(k) for k in range(min(math.ceil(level), n + 1)))
