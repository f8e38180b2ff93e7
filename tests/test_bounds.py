"""The bounds of the paper: by hand, against simulations, and the remarks about them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dobandit as db
from dobandit import worlds
from dobandit.errors import DobanditError
from dobandit.paper.bound_curves import bound_curves
from dobandit.paper.bounds import NO_BACKDOOR, cumulative_lower, simple_lower_rate, theorem_1, theorem_2
from dobandit.paper.rarity import cells_of, general_rarity, thresholds
from dobandit.policies.infrequent import threshold_m, threshold_n
from dobandit.problem import Problem
from dobandit.worlds import World
from tests import named_graphs as named

SURPLUS = 1 + math.pi**2 / 3  # the pulls of an arm that do not grow with the budget


def two(x: float, y0: float, y1: float) -> World:
    """X -> Y with P(X=1) and P(Y=1 | X)."""
    tables = {"X": ([], [1 - x, x]), "Y": (["X"], [[1 - y0, y0], [1 - y1, y1]])}
    return worlds.from_tables(db.Graph("X -> Y"), tables, {})


def pair(cost: float, budget: float = 2000, reward: Any = "Y", **rest: Any) -> Problem:
    return Problem("X -> Y", reward, budget, default_cost=cost, **rest)


def back_door() -> World:
    """Z -> X -> Y, Z -> Y with P(Z=1) = .3, P(X=1 | Z) = .2, .6."""
    rows = {"Z": ([], [0.7, 0.3]), "X": (["Z"], [[0.8, 0.2], [0.4, 0.6]]), "Y": (["Z", "X"], np.full((2, 2, 2), 0.5))}
    return worlds.from_tables(named.BACK_DOOR, rows, {})


# -- Theorem 1 -----------------------------------------------------------------------------------------


def test_theorem_1_by_hand() -> None:
    """Means .5, .1, .9 for 1, 1.5, 1.5: per cost .5, .0667, .6. ln 2000 = 7.601 < 8/.1^2, so that forced observation
    adds nothing; the last 1.5 of the money may lose .9."""
    bound = theorem_1(pair(1.5), two(0.5, 0.1, 0.9))
    assert bound.best == "do(X=1)"
    assert bound.gaps == pytest.approx([0.1, 0.6 - 0.1 / 1.5, 0])
    log = math.log(2000)
    assert bound.pulls[0, :2] == pytest.approx([8 * log / 0.1**2 + SURPLUS, 8 * log / 0.8**2 + SURPLUS])
    assert bound.curve == pytest.approx([0.1 * bound.pulls[0, 0] + 0.8 * bound.pulls[0, 1] + 0.9])
    assert bound.tau.max() == 0  # three cells, but no more than eight observations are sure
    printed = 0.1 * (8 * log / 0.01 + SURPLUS) + bound.gaps[1] * (8 * log / bound.gaps[1] ** 2 + 1 + SURPLUS)
    assert bound.printed == pytest.approx([printed])


def test_forced_observation_costs_more_than_the_index_would() -> None:
    """With a gap of .9 the index needs 8 ln T / .81 observations, but up to ln^2 T of them are forced."""
    bound = theorem_1(pair(1.0), two(0.1, 0.0, 1.0), budgets=[10**4, 10**5])
    log = np.log([10**4, 10**5])
    assert bound.gaps[0] == pytest.approx(0.9)
    assert bound.pulls[:, 0] == pytest.approx([8 * log[0] / 0.81 + SURPLUS, log[1] ** 2 + SURPLUS])


def test_what_observations_save() -> None:
    """A gap of 1e-11 needs b = 8 ln 1e30 / 1e-22 pulls; ln b = 56.97 observations are sure by then, 28 for each of the
    two factors. The cells are X's only one and Y's two, one of which counts: p = 1/2; three cells at most."""
    bound = theorem_1(pair(1.0), two(0.5, 0.5, 0.5 + 1e-11), budgets=[1e30])
    assert math.ceil(math.log(bound.b[0, 1])) == 57
    assert bound.tau[0, 1] == pytest.approx(1 - 3 * math.exp(-(0.5**2) * 28 / 2))
    assert bound.saved[0, 1] == pytest.approx(0.25 * 28 * bound.tau[0, 1])
    assert 0 < bound.saved[0, 1] < 14  # S is binomial with mean 28/2
    # Where an intervention costs .1, beta^2 may be as small as .08: five observations are sure, too few.
    assert theorem_1(pair(0.1), two(0.5, 0.5, 0.5 + 1e-11), budgets=[1e30]).saved.max() == 0


def test_nothing_is_saved_during_the_first_sweep() -> None:
    """Of 203 arms most do nothing. ln 204 observations would save something, but after 204 rounds only two are sure."""
    tables = {"A": ([], [1 / 200] * 200), "X": ([], [0.001, 0.999]), "Y": (["X"], [[0.6, 0.4], [0.5, 0.5]])}
    world = worlds.from_tables(db.Graph("X -> Y; A"), tables, {})
    problem = Problem(world.graph, "Y", 1, domains={"A": range(200)})
    saved = theorem_1(problem, world, budgets=[205, 240]).saved.max(axis=1)
    assert saved[0] == 0 < saved[1]


def test_cheap_interventions_mean_more_rounds() -> None:
    """Means .5, .4, .6 for 1, .5, .5: two rounds for each unit of money."""
    bound = theorem_1(pair(0.5), two(0.5, 0.4, 0.6))
    assert bound.pulls[0, :2] == pytest.approx(8 * math.log(4000) / np.array([0.7, 0.2]) ** 2 + SURPLUS, rel=1e-12)


def test_the_rarest_cell_by_hand() -> None:
    """For do(X=1): P(Z) for X's own factor, P(Z, X=1) for that of Y."""
    problem = Problem(named.BACK_DOOR, "Y", budget=1)
    cells = cells_of(problem, back_door())
    by_arm = dict(zip(map(str, problem.arms), cells.rarest.tolist(), strict=True))
    expected = {"do()": 0, "do(Z=0)": 0.14, "do(Z=1)": 0.12, "do(X=0)": 0.12, "do(X=1)": 0.14}
    assert by_arm == pytest.approx(expected)
    assert (cells.variables, cells.alphabet[4], cells.number[4]) == (3, 2, 2 * (3 + 1))
    # X <-> Y, P(X=1) = .9: the factor of Y is in X's c-component, so it needs X = 0 for do(X=1) too: .1 times .5.
    tables = {
        "X": (["U"], [[0.1, 0.9]] * 2),
        "M": (["X"], [[0.5, 0.5]] * 2),
        "Y": (["M", "U"], np.full((2, 2, 2), 0.5)),
    }
    world = worlds.from_tables(named.FRONT_DOOR, tables, {"U": ([0.5, 0.5], ["X", "Y"])})
    assert cells_of(Problem(named.FRONT_DOOR, "Y", 1), world).rarest[1:3] == pytest.approx([0.05, 0.05])
    bow = Problem(named.BOW, "Y", budget=1)
    assert cells_of(bow, worlds.random(named.BOW, 0)).rarest.max() == 0  # learns from its own pulls only


@pytest.mark.parametrize(
    ("problem", "world", "best"),
    [
        (pair(1.5), two(0.5, 0.1, 0.9), "do(X=1)"),
        (pair(1.25), two(0.9, 0.1, 0.9), "do()"),
        (pair(1.2, costs={"do()": 3, "do(X=0)": 0.5}), two(0.5, 0.4, 0.6), "do(X=0)"),
        (pair(1.1, reward={"variable": "Y", "values": {"0": 5, "1": -5}}, goal="min"), two(0.5, 0.1, 0.9), "do(X=1)"),
    ],
    ids=["a* intervenes", "a* observes", "cheap interventions", "other units"],
)
def test_theorem_1_lies_above_what_happens(problem: Problem, world: World, best: str) -> None:
    """The regret, and the pulls of every arm but the best: the endgame may add as many as its money pays. The bound
    says something: it is below what the worst arm would lose."""
    budgets = [500, 2000]
    bound = theorem_1(problem, world, budgets)
    assert bound.best == best
    r = db.simulate(problem, world, "paper-cumulative", 64, seed=1, budgets=budgets)
    mean, pulls = r.regret["paper-cumulative"].mean(axis=0), r.pulls["paper-cumulative"].mean(axis=0)
    assert (mean <= bound.curve).all()
    endgame = max(1.0, bound.costs[bound.arms.index(best)]) / bound.costs
    worse = bound.gaps > 0
    assert (pulls <= bound.pulls + endgame)[:, worse].all()
    rewards = max(problem.reward_values) - min(problem.reward_values)
    assert bound.curve[-1] < bound.gaps.max() * 2000 / problem.costs[0] * rewards


def test_the_printed_formula_has_no_value_where_observing_is_best() -> None:
    assert np.isnan(theorem_1(pair(1.25), two(0.9, 0.1, 0.9)).printed).all()
    bound = theorem_1(pair(2.0), two(0.5, 0.0, 1.0))  # do() ties with do(X=1) for twice the cost
    assert bound.gaps[0] == bound.gaps[2] == 0
    assert np.isfinite(bound.curve).all()


def test_units_do_not_matter() -> None:
    world = two(0.5, 0.1, 0.9)
    plain = theorem_1(pair(1.5), world, [100, 2000]).curve
    euros = theorem_1(pair(3.0, costs={"do()": 2}), world, [200, 4000])
    assert euros.curve == pytest.approx(plain)
    assert euros.budgets.tolist() == [200, 4000]
    tenfold = pair(1.5, reward={"variable": "Y", "values": {"0": -3, "1": 7}})
    assert theorem_1(tenfold, world, [100, 2000]).curve == pytest.approx(10 * plain)


# -- thresholds and Theorem 2 ----------------------------------------------------------------------------


def test_thresholds_by_hand() -> None:
    """Z -> X -> Y, Z -> Y has an open back-door path, X -> Y has none."""
    simple = two(0.1, 0.2, 0.8)
    costs = np.array([1.0, 3.0, 3.0])
    # Rarity .9 and .1: below tau = 10 do(X=1) is rare and costs 3, so n = 3; m, m' and m(C) are 2.
    assert thresholds(pair(3.0), simple, costs) == (3.0, 3.0, 3.0, 2, 2, 2)
    problem, world = Problem(named.BACK_DOOR, "Y", 1), back_door()
    assert general_rarity(problem, world).q == pytest.approx([0.7, 0.3, 0.12, 0.14])
    found = thresholds(problem, world, np.array([1.0, 2, 2, 2, 2]))
    # General: do(X=0), do(X=1) are rarer than 1/7 and cost 4; do(Z=1) is rare below 1/.3: n = 4, marginal:
    # .7, .3, .68, .32; from tau = 1/.32 = 3.125 on only do(Z=1) is rare, for 2.
    assert [found.n, found.n_general, found.n_no_backdoor] == pytest.approx([4, 4, 3.125])


def test_hidden_causes_raise_the_power() -> None:
    graph = db.Graph("X -> M -> Y; X <-> Y")
    found = general_rarity(Problem(graph, "Y", 1), worlds.random(graph, 3))
    assert found.k.tolist() == [2, 2, 1, 1]
    assert theorem_2(Problem(graph, "Y", 1), worlds.random(graph, 3)).k == 2  # the largest
    bow = Problem(named.BOW, "Y", 1)
    assert general_rarity(bow, worlds.random(named.BOW, 3)).q.tolist() == [0, 0]  # only its own pulls tell


def test_many_values_count_as_many_arms() -> None:
    """One variable with ten equally likely values: one rare variable, ten rare arms."""
    world = worlds.from_tables(db.Graph("X -> Y"), {"X": ([], [0.1] * 10), "Y": (["X"], [[0.5, 0.5]] * 10)}, {})
    problem = Problem("X -> Y", "Y", 1, domains={"X": range(10)})
    found = thresholds(problem, world, np.ones(11))
    assert [found.m, found.m_prime, found.n] == pytest.approx([2, 10, 10])
    assert np.isfinite(theorem_1(problem, world, [100]).curve).all()
    assert np.isfinite(theorem_2(problem, world, [100]).curve).all()


@given(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=12), st.floats(1, 30))
def test_remark_5(ones: list[float], cost: float) -> None:
    """Where all interventions cost c >= 1, n(q) <= c m'(q)."""
    q = np.array([[value for p in ones for value in (p, 1 - p)]])
    n = threshold_n(q, np.full(q.shape, cost))[0]
    assert n <= cost * threshold_m(q, q.shape[1])[0] * (1 + 1e-12)


@given(st.integers(0, 10**6), st.sampled_from([named.FIG7, named.FIG12, named.BACK_DOOR, named.FRONT_DOOR]))
def test_the_no_backdoor_form_never_has_the_larger_threshold(seed: int, graph: db.Graph) -> None:
    """n(q_new) <= n(q), and with unit costs Remark 5 again. n(q) is what its definition says: of all tau where
    something changes, the smallest that the rarer arms do not cost more than."""
    problem = Problem(graph, "Y", 1)
    costs = np.random.default_rng(seed).uniform(0.5, 20, len(problem.arms))
    world = worlds.random(graph, seed)
    found = thresholds(problem, world, costs)
    assert found.n_no_backdoor <= found.n_general
    rarity = general_rarity(problem, world)
    seldom = rarity.q ** -rarity.k.astype(float)
    steps = [*seldom, *costs[1:][seldom.argsort()[::-1]].cumsum()]
    assert found.n_general == pytest.approx(min(t for t in steps if costs[1:][seldom > t].sum() <= t * (1 + 1e-12)))
    assert thresholds(problem, world, np.ones(len(problem.arms))).n_no_backdoor <= found.m_prime * (1 + 1e-12)


def test_theorem_2_by_hand() -> None:
    """q = .1, n = 3, one variable, three arms; 2 epsilon + 6 n/B + 4 exp(-(q/2)^2 B/16), M = 2. At B = 20,000 all
    terms count."""
    problem = pair(3.0, 20_000, objective="simple")
    bound = theorem_2(problem, two(0.1, 0.2, 0.8), constant=2.0)
    assert [bound.n, bound.k, bound.q, bound.cells] == pytest.approx([3, 1, 0.1, 1])
    rate = math.sqrt(3 / 20_000 * math.log(20_000 / 3))
    assert bound.rate == pytest.approx([rate])
    assert bound.curve == pytest.approx([2 * math.sqrt(8) * rate + 18 / 20_000 + 4 * math.exp(-(0.05**2) * 1250)])
    assert theorem_2(problem, two(0.1, 0.2, 0.8), budgets=[2]).curve == pytest.approx([0.6])  # proves nothing


def test_theorem_2_lies_above_what_happens() -> None:
    """No back-door path is open, so that M is known. The bound says something: the worst arm loses .8."""
    world = worlds.parallel(n=2, p=[0.5, 0.5], epsilon=0.4)
    problem = Problem(world.graph, "Y", 4000, objective="simple")
    bound = theorem_2(problem, world, constant=NO_BACKDOOR)
    r = db.simulate(problem, world, "paper-simple[threshold=<]", 64, seed=1)
    assert r.regret["paper-simple[threshold=<]"].mean() <= bound.curve[0] < 0.5


# -- lower bounds, curves, faults ------------------------------------------------------------------------


def test_lower_bounds_by_hand() -> None:
    """B = 1000, c = 3: 333 rounds, two interventions, w = 32/3."""
    assert cumulative_lower(pair(3.0, 1000)) == pytest.approx([333 / (8 * math.e) * math.sqrt(2 / (32 / 3 * 333))])
    assert cumulative_lower(pair(3.0), [1, 2.9, 4]) == pytest.approx([0, 0, 0.25 / (8 * math.e)])
    assert simple_lower_rate(pair(3.0, 300), two(0.1, 0.2, 0.8)) == pytest.approx([0.1])


@pytest.mark.parametrize("seed", range(5))
def test_the_lower_bounds_bandit_is_no_parallel_graph(seed: int) -> None:
    """Its proof needs E[Y] > E[Y | do(X_i=x)] for all i and x, but without back-door paths E[Y] is an average of
    the E[Y | do(X_i=x)] of each i. With a hidden cause it need not be."""
    graph = db.Graph("{X1, X2, X3} -> Y")
    problem, world = Problem(graph, "Y", 1), worlds.random(graph, seed)
    means = world.means(problem)
    for i, v in enumerate(problem.intervenable):
        assert world.distribution([v]) @ means[1 + 2 * i : 3 + 2 * i] == pytest.approx(means[0])
    tables = {"X": (["U"], np.eye(2)), "Y": (["X", "U"], [[[0, 1], [1, 0]], [[1, 0], [0, 1]]])}
    hidden = worlds.from_tables(named.BOW, tables, {"U": ([0.5, 0.5], ["X", "Y"])})
    assert hidden.means(Problem(named.BOW, "Y", 1)).tolist() == [1, 0.5, 0.5]


@pytest.mark.parametrize("objective", ["cumulative", "simple"])
def test_bounds_along_budgets_and_costs(objective: str) -> None:
    """Cumulative bounds grow with the budget, simple ones fall; each line is what the bound gives point by point."""
    problem, world = Problem(named.FIG6, "Y", 800, objective, default_cost=3), worlds.xor(named.FIG6, 1)
    upper, lower = bound_curves(problem, world, [200, 800, 3200, 10**7])
    signs = {float(s) for line in (upper, lower) for s in np.sign(np.diff(line.mean))}
    assert signs <= ({1.0} if objective == "cumulative" else {-1.0, 0.0})
    assert all(a < b for a, b in zip(lower.mean, upper.mean, strict=True)) or objective == "simple"
    by_cost = bound_curves(problem, world, [3, 5], axis="cost")
    assert [line.mean[0] for line in by_cost] == [upper.mean[1], lower.mean[1]]
    assert by_cost[0].x == (3.0, 5.0)


def test_lines_are_called_what_they_are() -> None:
    """For simple regret a bound where its constant is known, and a rate where it is not."""
    confounded, world = Problem(named.FIG6, "Y", 800, "simple", default_cost=3), worlds.xor(named.FIG6, 1)
    upper, lower = bound_curves(confounded, world, [800, 3200])
    assert (upper.policy, lower.policy) == ("rate of Theorem 2", "rate of the lower bound")
    assert upper.mean == pytest.approx(theorem_2(confounded, world, [800, 3200]).rate)
    parallel = worlds.parallel(n=3)
    plain = Problem(parallel.graph, "Y", 800, "simple", default_cost=3)
    upper, _ = bound_curves(plain, parallel, [800, 3200])
    assert upper.policy == "upper bound (Theorem 2)"
    assert upper.mean == pytest.approx(theorem_2(plain, parallel, [800, 3200], constant=NO_BACKDOOR).curve)


def test_what_has_no_bound() -> None:
    world = two(0.5, 0.1, 0.9)
    drawn = Problem("X -> Y", "Y", 10, default_cost={"choose": [2, 3]})
    with pytest.raises(DobanditError, match="drawn for every trial; give those of one trial"):
        theorem_1(drawn, world)
    assert theorem_1(drawn, world, costs=[1, 2, 3]).costs.tolist() == [1, 2, 3]
    with pytest.raises(DobanditError, match="expected 3 numbers, one for each arm, not 2"):
        theorem_2(drawn, world, costs=[1, 2])
    with pytest.raises(DobanditError, match="budgets: expected positive numbers"):
        cumulative_lower(pair(1.0), budgets=[0])
    with pytest.raises(DobanditError, match="a batch of 2: use world"):
        theorem_1(pair(1.0), World.stack([world, world]))
