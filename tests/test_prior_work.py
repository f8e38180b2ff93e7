"""Equation (17) of Nair et al. (2021), which the paper calls wrong: every short history, and CRM-NB itself, exactly."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product

import pytest

from dobandit.paper.prior_work import OTHER, PULLED, SEEN, Sides, corrected_17, equation_17, expected_17

SHORT = [h for rounds in range(8) for h in product((PULLED, SEEN, OTHER), repeat=rounds)]


def test_the_counterexample_of_the_paper() -> None:
    """do(X=x), another arm, do(), do(), X=x seen both times; l = 2: the inequality becomes 1 <= 0."""
    assert equation_17([PULLED, OTHER, SEEN, SEEN], 2) == (1, 0)


def test_what_fails_and_what_holds_in_every_short_history() -> None:
    fails: dict[int, list[tuple[tuple[str, ...], int]]] = {}
    for history in SHORT:
        for level in range(1, 9):
            printed, corrected = equation_17(history, level), corrected_17(history, level)
            assert corrected.left <= corrected.right
            if printed.left > printed.right:
                fails.setdefault(len(history), []).append((history, level))
            if history[:1] == (PULLED,) and level > 1 and history.count(SEEN) >= level:
                assert printed.left > printed.right, "a pull came first, and then observations that save nothing"
    assert min(fails) == 3
    assert fails[3] == [((PULLED, SEEN, SEEN), 2)]


def exact_17(p: float, cost: float, horizon: int, level: float) -> Sides:
    """The expectation of both sides under CRM-NB, from the probabilities of all counts after every round: of do(), of
    do() with X=1, of do(X=0), of do(X=1), and of late pulls of the last. Y is 1 always, so beta stays 1."""
    late = int(level <= 1), int(level <= 2)
    now = {(1, seen, 1, 1, late[seen]): p if seen else 1 - p for seen in (0, 1)}  # the sweep: each arm once
    for t in range(4, horizon + 1):
        then: dict[tuple[int, int, int, int, int], float] = defaultdict(float)
        for (n, k, zeros, ones, late_pulls), chance in now.items():
            log = 8 * math.log(t)
            index = [1 + math.sqrt(log / n), *((1 + math.sqrt(log / e)) / cost for e in (zeros + n - k, ones + k))]
            if n < math.log(t) or index[0] == max(index):
                then[n + 1, k, zeros, ones, late_pulls] += (1 - p) * chance
                then[n + 1, k + 1, zeros, ones, late_pulls] += p * chance
            elif index[1] > index[2]:
                then[n, k, zeros + 1, ones, late_pulls] += chance
            else:
                then[n, k, zeros, ones + 1, late_pulls + (ones + 1 + k >= level)] += chance
        now = {counts: chance for counts, chance in then.items() if chance}
    assert sum(now.values()) == pytest.approx(1)
    left = sum(chance * ones for (_, _, _, ones, _), chance in now.items())
    return Sides(left, sum(chance * (max(0, level - k) + late) for (_, k, _, _, late), chance in now.items()))


def proofs_level(cost: float, horizon: int) -> float:
    return 8 * math.log(horizon) / (1 - 1 / cost) ** 2 + 1


@pytest.mark.parametrize(
    ("p", "cost", "horizon", "begin"), [(0.01, 2, 150, 100), (0.02, 1.5, 100, 60), (0.6, 4, 200, 9)]
)
def test_what_is_said_of_the_expectations_is_true(p: float, cost: float, horizon: int, begin: float) -> None:
    exact, bounds = exact_17(p, cost, horizon, proofs_level(cost, horizon)), expected_17(p, cost, horizon, begin)
    assert bounds.left <= exact.left
    assert exact.right <= bounds.right


def test_where_nothing_is_seen_the_run_is_certain() -> None:
    """364 observations, one pull of do(X=0), and 17 of do(X=1) cost 400."""
    left = exact_17(0.0, 2, 364 + 1 + 17, math.inf).left
    assert left == 17
    assert expected_17(1e-12, 2, 10**6, 400).left == pytest.approx(left)


def test_the_equation_fails_in_expectation_under_crm_nb() -> None:
    """Exactly, where X=1 is frequent; and by more than the pi^2/3 that the proof adds, where it is rare."""
    common = exact_17(0.6, 4, 200, proofs_level(4, 200))
    assert common.left > 0.999
    assert common.right < 1e-6
    rare = expected_17(0.001, 2, 1_000_000, 400)
    assert rare.left > 11.8
    assert rare.right < 1e-80
