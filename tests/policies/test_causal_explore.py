"""causal-explore: the value of information by plain loops, what it buys, and its recommendation at every moment."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import dobandit as db
from dobandit import worlds
from dobandit.chance import Chance
from dobandit.estimate.pooled import PooledEstimator, log_improvements
from dobandit.policies.causal_explore import CausalExplore
from dobandit.policies.expected_spreads import Information, OwnRewards, added_up, spreads, spreads_in_parts
from dobandit.problem import Problem
from dobandit.simulation.results import standard_error
from dobandit.worlds import World
from dobandit.worlds.graphs import N5, N7
from tests.policies.views import evidence


def test_expected_improvement_is_its_integral() -> None:
    """h(t) = ∫_{-∞}^t Φ, by the trapezoidal rule on a fine grid, from -30 (asymptotic: φ / t²) upwards."""
    grid = np.linspace(-30, 9, 390_001)
    cumulative = np.array([0.5 * math.erfc(-t / math.sqrt(2)) for t in grid])
    start = math.exp(-450 - 2 * math.log(30)) / math.sqrt(2 * math.pi)
    steps = (cumulative[1:] + cumulative[:-1]) / 2 * (grid[1] - grid[0])
    integral = np.concatenate([[start], start + np.cumsum(steps)])
    at = np.flatnonzero(grid > -29)[::501]
    np.testing.assert_allclose(np.exp(_alone(grid))[at], integral[at], rtol=1e-3)
    far = _alone(np.array([-29.999, -30.001, -200.0]))
    assert far[0] == pytest.approx(far[1], abs=0.1)
    assert far[2] == pytest.approx(-20_000 - 0.5 * math.log(2 * math.pi) - 2 * math.log(200), abs=1e-3)
    nothing = log_improvements(np.array([[-1.0, 2.0, 0.0]]), np.zeros((1, 3)))
    np.testing.assert_allclose(nothing, [-np.inf, math.log(2), -np.inf], rtol=1e-15)


def test_improvements_areadded_up() -> None:
    rng = np.random.default_rng(3)
    gap, spread = -rng.random((9, 1, 50)) * 10.0 ** rng.integers(-2, 3, (9, 1, 50)), rng.random((9, 4, 50))
    terms = _alone((gap / spread).ravel()).reshape(spread.shape) + np.log(spread)
    added = np.logaddexp.reduce(terms, axis=0)
    np.testing.assert_allclose(log_improvements(gap, spread), added, rtol=1e-12)
    for scale in (1e-3, 1e3):  # where few terms count, and where most do; in any order in memory
        turned = np.moveaxis(np.ascontiguousarray(np.moveaxis(spread * scale, 0, -1)), -1, 0)
        np.testing.assert_array_equal(log_improvements(gap, turned), log_improvements(gap, spread * scale))
    far, spread = np.full((9, 1, 50), -40.0), np.asfortranarray(rng.uniform(0.9, 1.1, (9, 4, 50)))
    np.testing.assert_array_equal(log_improvements(far, spread), log_improvements(far, spread.copy(order="C")))


def _alone(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    return log_improvements(gaps[np.newaxis], np.ones((1, len(gaps))))


@pytest.mark.parametrize("logged", [False, True])
def test_the_value_of_information_by_plain_loops(logged: bool) -> None:
    """X -> Y: tables P(X), fed by do(), and P(Y | x), fed by do() and do(X=x). The most valuable arm is pulled. A
    decision thinks of spending a part of what was spent; a long log does not make it think of fortunes."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        problem = Problem("X -> Y", "Y", 10**4, "simple", default_cost=float(rng.integers(1, 9)))
        x = rng.random(int(rng.integers(1, 300))) < rng.random()
        outcomes = [("do()", {"X": int(v), "Y": int(rng.random() < 0.3 + 0.3 * v)}) for v in x]
        made = CausalExplore().compile(problem)
        view = evidence(made, outcomes)
        view = replace(view, left=view.budget) if logged else view
        spent = 0.0 if logged else float(len(outcomes))
        score = _scores([(o["X"], o["Y"]) for _, o in outcomes], [float(c) for c in view.costs[0]], spent)
        choice = made.choose(view, made.start(1), Chance(0, "policy"))
        assert choice.info.index is not None
        np.testing.assert_allclose(np.exp(choice.info.index[0]), score, rtol=1e-3)
        assert score[int(choice.arm[0])] >= max(score) * (1 - 1e-3)


def _scores(seen: list[tuple[int, int]], costs: list[float], spent: float) -> list[float]:
    n_x = [0.5 + sum(x == v for x, _ in seen) for v in (0, 1)]
    overall = (0.5 + sum(y for _, y in seen)) / (1 + len(seen))  # the prior of a row of P(Y | X), with a weight of one
    n_y = [[(1 - overall, overall)[w] + sum(x == v and y == w for x, y in seen) for w in (0, 1)] for v in (0, 1)]
    p = n_x[1] / sum(n_x)
    y = [n_y[v][1] / sum(n_y[v]) for v in (0, 1)]
    means = [(1 - p) * y[0] + p * y[1], y[0], y[1]]
    # derivatives of the three means by p, y_0, y_1, and the variances of one more draw: p(1-p), y(1-y)
    slopes = np.array([[y[1] - y[0], 1 - p, p], [0, 1, 0], [0, 0, 1]])
    noise = np.array([p * (1 - p), y[0] * (1 - y[0]), y[1] * (1 - y[1])])
    number = np.array([sum(n_x), sum(n_y[0]), sum(n_y[1])])
    often = [(sum(x == v for x, _ in seen) + 0.5) / (len(seen) + 1) for v in (0, 1)]
    met = np.array([[1, often[0], often[1]], [0, 1, 0], [0, 0, 1]])
    smallest = max(2 * max(costs), 0.05 * spent)
    leader = max(range(3), key=lambda k: (means[k], k == 0))

    def value(j: int, money: float) -> float:
        learnt = 1 / (number + 1) - 1 / (number + 1 + money / costs[j] * met[j])
        found = 0.0
        for a in range(3):
            slope = slopes[leader] - slopes[a]
            off = np.abs(slope) / 2  # where the prior, with a weight of one, is wrong by a fair coin's deviation
            moved = slope**2 * noise + sum(off / number) * off * (number + 1) / number / 3
            spread = math.sqrt(sum(moved * learnt))
            t = (means[a] - means[leader]) / spread if spread else 0.0
            normal = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
            found += (a != leader) * spread * (normal + t * 0.5 * math.erfc(-t / math.sqrt(2)))
        return found / money

    return [max(value(j, smallest * times) for times in (1, 4, 16)) for j in range(3)]


@pytest.mark.parametrize("graph", [N5, N7], ids=["n5", "n7"])
def test_the_papers_worlds_are_solved_by_fifty_observations(graph: db.Graph) -> None:
    problem = Problem(graph, "Y", 50, "simple", default_cost={"choose": [5, 6, 7]})
    batch = World.stack(worlds.xor(graph, seed) for seed in range(64))
    assert db.simulate(problem, batch, ["causal-explore"], 64).regret["causal-explore"].mean() <= 0.01


def test_what_observations_do_not_teach_is_bought() -> None:
    """A rare value, and a bow: watching would hardly ever show the one and never tell the effect of the other."""
    rare = worlds.from_tables("X -> Y", {"X": ([], [0.98, 0.02]), "Y": (["X"], [[0.5, 0.5], [0.2, 0.8]])})
    hidden = {"U": ([0.5, 0.5], ["X", "Y"])}
    bow = worlds.from_tables(
        "X -> Y; X <-> Y",
        {
            "X": (["U"], [[0.9, 0.1], [0.1, 0.9]]),
            "Y": (["X", "U"], [[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.0, 1.0]]]),
        },
        hidden,
    )
    for world in (rare, bow):
        problem = Problem(world.graph, "Y", 300, "simple", default_cost=5)
        r = db.simulate(problem, world, ["causal-explore"], 64)
        assert (r.recommended["causal-explore"][:, 0] == 2).mean() >= 0.95
        assert (r.pulls["causal-explore"][:, 0, 2] > 0).all()


def test_a_strong_front_door_is_learnt_from_both_arms() -> None:
    """M follows X in 99 of 100 cases, so pulls of do(X=0) hardly tell about do(X=1), although they are cheaper."""
    world = worlds.from_tables(
        "X -> M -> Y; X <-> Y",
        {
            "X": (["U"], [[0.7, 0.3], [0.3, 0.7]]),
            "M": (["X"], [[0.99, 0.01], [0.01, 0.99]]),
            "Y": (["M", "U"], [[[0.7, 0.3], [0.4, 0.6]], [[0.5, 0.5], [0.2, 0.8]]]),
        },
        {"U": ([0.5, 0.5], ["X", "Y"])},
    )
    costs = {"do(X=0)": 3, "do(X=1)": 6}
    problem = Problem(world.graph, "Y", 12_800, "simple", costs=costs, intervenable=["X"])
    r = db.simulate(problem, world, ["causal-explore"], 200, budgets=[1600, 12_800])
    assert r.regret["causal-explore"].mean(axis=0)[0] <= 0.003
    assert (r.regret["causal-explore"][:, 1] == 0).all()


def test_where_success_is_rare_what_was_not_seen_is_no_coin() -> None:
    """Five causes, one matters. With 1/2 in each of the 32 rows of P(Y | causes) rare values would look best, and the
    regret be 0.016; it is to be less by four standard errors of 64 trials."""
    success = np.full((2,) * 5, 0.1)
    success[:, 1] = 0.02
    causes = list("ABCDE")
    tables: dict[str, tuple[list[str], object]] = {v: ([], [0.7, 0.3]) for v in causes}
    world = worlds.from_tables(
        "{A, B, C, D, E} -> Y", {**tables, "Y": (causes, np.stack([1 - success, success], axis=-1))}
    )
    problem = Problem(world.graph, "Y", 800, "simple", default_cost=2)
    regret = db.simulate(problem, world, ["causal-explore"], 64).regret["causal-explore"]
    assert regret.mean() < 0.016 - 4 * standard_error(regret)


def test_all_money_is_spent() -> None:
    problem = Problem(N5, "Y", 99.5, "simple", default_cost=7)
    r = db.simulate(problem, worlds.xor(N5, 1), ["causal-explore"], 16)
    assert ((r.pulls["causal-explore"][:, 0] @ [1.0, *[7.0] * 10]) > 98.5).all()


def test_where_nothing_can_be_learnt_the_cheapest_arm_is_pulled() -> None:
    """No arm acts on Y, so all are as good as watching, whatever they cost."""
    problem = Problem("Y -> Z; W", "Y", 60, "simple", default_cost=5)
    r = db.simulate(problem, worlds.xor("Y -> Z; W", 0), ["causal-explore"], 8)
    assert (r.pulls["causal-explore"][:, 0, 0] == 60).all()


def test_arms_without_any_table_are_explored_by_their_own_rewards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dobandit.estimate.pooled.formula_choice.MOST_CELLS", 1)
    graph = "A -> Y; B -> Y"
    tables = {"A": ([], [0.9, 0.1]), "B": ([], [0.5, 0.5]), "Y": (["A", "B"], [[[0.7, 0.3]] * 2, [[0.2, 0.8]] * 2])}
    problem = Problem(graph, "Y", 200, "simple", default_cost=2)
    assert PooledEstimator(problem).pool.has_none[1:].all()
    r = db.simulate(problem, worlds.from_tables(graph, tables), ["causal-explore"], 32)
    best = [str(a) for a in problem.arms].index("do(A=1)")
    assert (r.recommended["causal-explore"] == best).mean() > 0.9
    assert (r.pulls["causal-explore"][:, 0, 1:] >= 2).all()


def test_a_decision_is_kept_for_a_fiftieth_of_the_pulls() -> None:
    problem = Problem("X -> Y", "Y", 1000, "simple")
    made = CausalExplore().compile(problem)
    for n in (0, 49, 50, 249):
        view = evidence(made, [("do()", {"X": i % 2, "Y": i % 3 == 0}) for i in range(n)])
        repeats = made.choose(view, made.start(1), Chance(0, "policy")).repeats
        assert repeats is not None
        assert repeats.tolist() == [1 + n // 50]


def test_an_arm_that_contradicts_the_graph_is_judged_by_its_own_rewards() -> None:
    problem = Problem("X -> Y", "Y", 1000, "simple")
    made = CausalExplore().compile(problem)
    watched = [("do()", {"X": x, "Y": x}) for x in (0, 1)] * 100
    view = evidence(made, [*watched, *[("do(X=1)", {"X": 1, "Y": 0})] * 40])
    start = made.start(1)
    state = made.choose(view, start, Chance(0, "policy")).state
    assert np.flatnonzero(made.contradictions(view, state)[0]).tolist() == [2]
    assert made.recommend(view, state).tolist() == [0]
    assert CausalExplore(guard=False).compile(problem).recommend(view, start).tolist() == [2]


def test_own_outcomes_correct_where_outcomes_are_expected() -> None:
    """P(Y | M) of those who set X does not name X. M is expected to follow X as in observations, until own outcomes say
    otherwise: with the weight of five outcomes."""
    problem = Problem("X -> M -> Y; X <-> Y", "Y", 100, "simple", intervenable=["X"])
    seen = [("do()", {"X": i % 2, "M": i % 2, "Y": 0}) for i in range(4000)]
    pooled = PooledEstimator(problem)
    (at,) = (k for k, t in enumerate(pooled.pool.tables) if t.given == ("M",) and 0 not in t.arms)
    where = slice(pooled.conditions.start[at], pooled.conditions.start[at + 1])
    for own, expected in (([], [0.0, 1.0]), ([0] * 15, [0.75, 0.25])):
        outcomes = [*seen, *[("do(X=1)", {"X": 1, "M": m, "Y": 0}) for m in own]]
        met = pooled.expected_per_pull(evidence(CausalExplore().compile(problem), outcomes).evidence)[..., 0]
        np.testing.assert_allclose(met[2, where], expected, atol=1e-3)
        np.testing.assert_allclose(met[1, where], [1.0, 0.0], atol=1e-3)


def test_what_a_pull_would_meet_is_not_what_goes_together() -> None:
    """X follows A, and D follows X, nearly always. Setting X leaves A as it was, and D follows what was set."""
    problem = Problem("A -> X -> D -> Y; {A, X} -> Y", "Y", 100, "simple")
    seen = [("do()", dict.fromkeys(("A", "X", "D", "Y"), a)) for a in [0] * 6000 + [1] * 4000]
    made = CausalExplore().compile(problem)
    pooled = PooledEstimator(problem)
    met = pooled.expected_per_pull(evidence(made, seen).evidence)[..., 0]
    named = [str(arm) for arm in problem.arms]
    (at,) = (k for k, table in enumerate(pooled.pool.tables) if set(table.given) == {"A", "X", "D"})
    given = pooled.pool.tables[at].given
    start = pooled.conditions.start[at]
    for arm, exact in (("do(X=1)", {(0, 1): 0.6, (1, 1): 0.4}), ("do(A=1)", {(1, 1): 1.0})):
        chances = met[named.index(arm), start : start + 8].reshape(2, 2, 2)
        axes = [given.index(v) for v in ("A", "X", "D")]
        by_a_and_x = chances.transpose(axes).sum(axis=2)
        for cell in np.ndindex(2, 2):
            assert by_a_and_x[cell] == pytest.approx(exact.get(cell, 0.0), abs=1e-3)


@pytest.mark.parametrize("digits", [np.float32, np.float64])
def test_a_row_is_added_up_in_the_same_order_alone_and_among_others(digits: type[np.floating]) -> None:
    """The order shows in the last bits, and a study must pull what a simulation of many trials pulls."""
    chance = np.random.default_rng(4)
    for rivals, arms, conditions in [(2, 3, 5), (12, 13, 31), (20, 21, 64), (1, 4, 90), (40, 41, 200)]:
        moved, learnt = (chance.random((n, conditions, 50)).astype(digits) ** 8 for n in (rivals, arms))
        together = added_up(moved, learnt)
        for rows in (slice(0, 1), slice(3, 5)):
            alone = added_up(np.ascontiguousarray(moved[..., rows]), np.ascontiguousarray(learnt[..., rows]))
            assert (alone == together[..., rows]).all()
        step_by_step = np.zeros(together.shape)
        for z in range(conditions):
            step_by_step += moved[:, np.newaxis, z].astype(float) * learnt[np.newaxis, :, z]
        np.testing.assert_allclose(together, step_by_step, rtol=1e-4 if digits is np.float32 else 1e-12)


@pytest.mark.parametrize("shared", [0.0, 1e-3, 1.0])
def test_spreads_of_many_arms_are_those_of_every_pair_alone(shared: float) -> None:
    """Most arms meet most conditions as do() does, or never. Where nearly all that moves a gap is on conditions that an
    arm never meets (`shared` is the rest), the digits of the rest must not be lost in the sum of what is usual."""
    rng = np.random.default_rng(8)
    arms, conditions = 240, 60
    often = rng.random(conditions) * (rng.random(conditions) < 0.7)
    met = np.tile(often, (arms, 1))
    for j in range(1, arms):
        met[j, rng.choice(conditions, 5)] = rng.choice([0.0, 1.0, 0.3], 5)
    moved = rng.random((arms, conditions)) ** 8 * shared
    moved[:, :3] += rng.random((arms, 3))
    met[100:140, :3] = 0.0
    leader, rivals = np.array([7]), np.flatnonzero(rng.random(arms) < 0.9)
    rivals = np.union1d(rivals, leader)
    own = OwnRewards(np.where(rng.random((arms, 1)) < 0.1, 0.2, 0.0), rng.integers(2, 9, (arms, 1)).astype(float))
    totals = rng.integers(1, 50, (conditions, 1)).astype(float)
    information = Information(leader, rivals, totals, met[..., np.newaxis], moved[rivals, :, np.newaxis], own)
    pulls = np.array([[10.0], [40.0], [160.0]]) / rng.choice([1.0, 2.0], arms)
    found = np.concatenate(list(spreads_in_parts(information, pulls)), axis=2)
    for k, each in enumerate(pulls):
        np.testing.assert_allclose(found[:, k], spreads(information, each[:, np.newaxis])[..., 0], rtol=1e-9, atol=0)
