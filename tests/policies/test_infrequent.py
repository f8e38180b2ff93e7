"""The thresholds n(q), m(q) and m'(q), by hand and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dobandit.policies.infrequent import first_variables, rarer, threshold_m, threshold_n


def n_of(rarity: list[float], costs: list[float]) -> float:
    return float(threshold_n(np.array([rarity]), np.array([costs]))[0])


def m_of(rarest: list[float], largest: int) -> float:
    return float(threshold_m(np.array([rarest]), largest)[0])


@pytest.mark.parametrize(
    ("rarity", "costs", "n"),
    [
        ([0.02, 0.98, 0.02, 0.98, *[0.5] * 10], [4.0] * 14, 8.0),  # the parallel graph: 2 x 4 from tau = 2 on
        ([0.0] * 14, [2.0, 3.0] * 7, 35.0),  # nothing was seen: all costs together
        ([0.5, 0.5], [1.0, 1.0], 2.0),  # 1 < tau < 2: both are rarer than 1/tau and cost 2; at 2 none is
        ([0.5, 0.5], [0.5, 0.5], 1.0),  # both cost 1 together: tau = 1 is enough
        ([0.1, 0.25], [3.0, 7.0], 4.0),  # from 4 on only the first is rare, and costs 3
        ([0.1, 0.25], [6.0, 7.0], 6.0),  # only the first from 4 on, and it needs 6
        ([0.1, 0.25], [20.0, 7.0], 10.0),  # the first needs 20, but is not rare from 10 on
        ([1.0], [5.0], 1.0),
    ],
)
def test_n_by_hand(rarity: list[float], costs: list[float], n: float) -> None:
    assert n_of(rarity, costs) == pytest.approx(n, rel=1e-12)


@pytest.mark.parametrize(
    ("rarest", "largest", "m"),
    [
        ([0.5] * 50, 50, 2),
        ([0.49] * 50, 50, 3),  # estimates are never exactly one half: 50 variables are rarer than 1/2, none than 1/3
        ([0.02, 0.02, *[0.48] * 48], 50, 3),
        ([0.0] * 5, 5, 5),
        ([0.0], 1, 2),  # a single variable
        ([0.1, 0.1, 0.1, 0.4], 8, 3),  # four are rarer than 1/2, three than 1/3
    ],
)
def test_m_by_hand(rarest: list[float], largest: int, m: int) -> None:
    assert m_of(rarest, largest) == m


def test_the_infrequent_set_by_hand() -> None:
    """n(q) is 1/q of the second arm: the first costs less than that. `<=` explores the second arm, `<` does not."""
    rarity, costs = np.array([[0.1, 0.5, 0.9]]), np.ones((1, 3))
    n = threshold_n(rarity, costs)
    assert n.tolist() == [2.0]
    assert rarer(rarity, n, or_as_rare=True).tolist() == [[True, True, False]]
    assert rarer(rarity, n, or_as_rare=False).tolist() == [[True, False, False]]


arms = st.lists(
    st.tuples(st.one_of(st.just(0.0), st.integers(1, 40).map(lambda k: k / 40)), st.floats(0.1, 30)),
    min_size=1,
    max_size=8,
)


@given(arms)
def test_n_is_the_smallest_tau_of_its_definition(arms: list[tuple[float, float]]) -> None:
    rarity, costs = map(list, zip(*arms, strict=True))
    n = n_of(rarity, costs)

    def rarer_cost(tau: float) -> float:
        return sum(c for q, c in arms if q * tau < 1 - 1e-12)

    assert rarer_cost(n) <= n + 1e-9
    steps = [1 / q for q in rarity if q > 0]
    totals = [sum(c for q, c in arms if q <= limit) for limit in [*rarity, -1.0]]
    for tau in [t * f for t in (*steps, *totals, n) for f in (0.5, 0.999, 1.0) if 0 < t * f < n - 1e-6]:
        assert rarer_cost(tau) > tau, tau


@given(st.lists(st.integers(0, 40).map(lambda k: k / 40), min_size=1, max_size=8), st.floats(1, 20))
def test_remark_5(p: list[float], c: float) -> None:
    """n(q) <= c m'(q) where every intervention costs c >= 1; m' is n with costs of one."""
    assert n_of(p, [c] * len(p)) <= c * n_of(p, [1.0] * len(p)) + 1e-9


@given(arms, st.data())
def test_a_larger_q_gives_a_smaller_n(arms: list[tuple[float, float]], data: st.DataObject) -> None:
    """The remark on graphs without back doors: P(X=x) is at least the probability of its rarest cell."""
    rarity, costs = map(list, zip(*arms, strict=True))
    larger = [data.draw(st.floats(max(q, 1e-9), 1)) for q in rarity]
    assert n_of(larger, costs) <= n_of(rarity, costs) + 1e-9


def test_the_rule_of_the_public_code_explores_four_arms_on_the_parallel_graph() -> None:
    rarest = np.array([[0.02, 0.01, *[0.47] * 48]])
    assert first_variables(rarest).sum() == 2  # two variables, both values
