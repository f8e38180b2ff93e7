"""The guard against a wrong graph, in both of our policies: what it sees, what it overlooks, and what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import dobandit as db
from dobandit import worlds
from dobandit.chance import Chance
from dobandit.estimate.observational.independence import p_values_of
from dobandit.estimate.pooled import PooledEstimator, RepairedGraphs
from dobandit.estimate.pooled.implied_independencies import deviations
from dobandit.estimate.pooled.joint import Joint
from dobandit.evidence.count_tables import CountTable, Layout
from dobandit.policies import policy
from dobandit.problem import Problem
from dobandit.worlds import World
from tests.policies.views import evidence

OURS = ["causal-thompson", "causal-explore"]
FRONT_DOOR = "X -> M -> Y"  # and a hidden cause of X and Y, in the world
TABLES = {
    "X": (["U"], [[0.85, 0.15], [0.15, 0.85]]),
    "M": (["X"], [[0.8, 0.2], [0.3, 0.7]]),
    "Y": (["M", "U"], [[[0.9, 0.1], [0.4, 0.6]], [[0.6, 0.4], [0.1, 0.9]]]),
}


def problem_for(name: str, graph: str, budget: float, cost: float = 1.0) -> Problem:
    return Problem(graph, "Y", budget, policy(name).objective, default_cost=cost)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("means", [(0.28, 0.3), (0.8, 0.82), (0.5, 0.55)])
def test_a_right_graph_is_rarely_refuted(name: str, means: tuple[float, float]) -> None:
    """A sure answer of the graph, from a log, and few own pulls, which may all come out alike by chance."""
    world = worlds.from_tables("X -> Y", {"X": ([], [0.5, 0.5]), "Y": (["X"], [[1 - m, m] for m in means])})
    for log in (None, world.sample("do()", 2000, seed=1)):
        r = db.simulate(problem_for(name, "X -> Y", 200), world, [name], 256, evidence=log)
        assert (r.contradictions[name] > 0).any(axis=(1, 2)).mean() <= 0.01


def test_a_right_graph_has_no_violated_independence() -> None:
    """128 worlds with hidden causes and three implied independencies each: none is five standard deviations off."""
    graph = "A -> B -> C -> Y; A <-> C; B <-> Y; D -> C"
    batch = World.stack(worlds.random(graph, seed) for seed in range(128))
    r = db.simulate(Problem(graph, "Y", 400, default_cost=3), batch, ["causal-thompson"], 128)
    assert len(r.independencies["causal-thompson"]) == 3
    assert not r.violations["causal-thompson"].any()


@pytest.mark.parametrize("name", OURS)
def test_a_forgotten_hidden_cause_shows_in_observations(name: str) -> None:
    world = worlds.from_tables(f"{FRONT_DOOR}; X <-> Y", TABLES, {"U": ([0.5, 0.5], ["X", "Y"])})
    log = world.sample("do()", 1000, seed=1)
    wrong, right = (
        db.simulate(problem_for(name, graph, 50), world, [name], 4, evidence=log)
        for graph in (FRONT_DOOR, f"{FRONT_DOOR}; X <-> Y")
    )
    (told,) = [text for text in wrong.warnings() if "outcomes" in text]
    assert told.startswith(f"{name}: outcomes contradict the graph: X ⫫ Y | M does not hold, |z| = ")
    assert "X <-> Y" in told
    assert told.endswith("(in 4 of 4 trials)")
    assert not right.warnings()
    assert not db.simulate(problem_for(name, FRONT_DOOR, 50), world, [f"{name}[guard=false]"], 4).warnings()


@pytest.mark.parametrize("name", OURS)
def test_a_forgotten_hidden_cause_is_added(name: str) -> None:
    """After that, the estimates are those with the right graph from the start, to the last bit."""
    world = worlds.from_tables(f"{FRONT_DOOR}; X <-> Y", TABLES, {"U": ([0.5, 0.5], ["X", "Y"])})
    outcomes = [
        (arm, {v: int(drawn[v][i]) for v in "XMY"})
        for arm, rows in (("do()", 800), ("do(M=1)", 30), ("do(X=0)", 20))
        for drawn in [world.sample(arm, rows, seed=rows)]
        for i in range(rows)
    ]
    wrong, right = (problem_for(name, graph, 2000) for graph in (FRONT_DOOR, f"{FRONT_DOOR}; X <-> Y"))
    made, informed = (policy(name).compile(problem) for problem in (wrong, right))
    seen, known = evidence(made, outcomes, rows=2), evidence(informed, outcomes, rows=2)
    answer = informed.recommend(known, informed.start(2))
    np.testing.assert_array_equal(made.recommend(seen, made.start(2)), answer)  # every answer is preceded by a test
    state = made.choose(seen, made.start(2), Chance(0, "policy")).state
    graphs = RepairedGraphs(wrong)
    assert [pair for pair, is_added in zip(graphs.pairs, state.added[0], strict=True) if is_added] == [("X", "Y")]
    ((_, pooled, translated),) = graphs.by_graph(seen.evidence, state.added)
    of_right = PooledEstimator(right)
    expected = of_right.known(of_right.tables_after(known.evidence)).means
    np.testing.assert_array_equal(pooled.known(pooled.tables_after(translated)).means, expected)
    np.testing.assert_array_equal(made.recommend(seen, state), answer)
    trusting = policy(f"{name}[guard=false]").compile(wrong)
    assert not trusting.choose(seen, trusting.start(2), Chance(0, "policy")).state.added.any()


def test_rows_that_doubt_the_graph_do_not_disturb_the_others() -> None:
    """Some of these trials add a hidden cause, at different times; alone or in company, each does the same."""
    world = worlds.from_tables(f"{FRONT_DOOR}; X <-> Y", TABLES, {"U": ([0.5, 0.5], ["X", "Y"])})
    problem = problem_for("causal-thompson", FRONT_DOOR, 260, 1.1)
    both = ["causal-thompson", "causal-thompson[guard=false]"]
    many = db.simulate(problem, world, both, 12, seed=3)
    doubted = many.violations[both[0]].any(axis=(1, 2))
    assert 0 < doubted.sum() < 12
    differs = (many.pulls[both[0]] != many.pulls[both[1]]).any(axis=(1, 2))
    assert differs.any()
    few = db.simulate(problem, world, both[:1], 5, seed=3)
    np.testing.assert_array_equal(few.pulls[both[0]], many.pulls[both[0]][:5])


def test_outcomes_that_were_not_counted_together_change_no_graph() -> None:
    """A study that counted a log before there was a joint table knows only some of its outcomes in it."""
    problem = problem_for("causal-thompson", FRONT_DOOR, 2000)
    outcomes = [("do()", {"X": x, "M": m, "Y": x}) for x in (0, 1) for m in (0, 1)] * 100
    seen, graphs = evidence(policy("causal-thompson").compile(problem), outcomes), RepairedGraphs(problem)
    added = graphs.no_doubts(1).added
    assert graphs.repaired(seen.evidence, added).any()
    seen.told[0, 0] += 1000
    assert not graphs.repaired(seen.evidence, added).any()


def test_the_joint_table_holds_every_other_one() -> None:
    """Tables of any graph, made from the joint one, are those that counting by them gives."""
    rng = np.random.default_rng(8)
    problem = Problem("A -> B -> Y; A -> Y; C -> Y", "Y", 10, domains={"B": [0, 1, 2]})
    joint = Joint(problem)
    arms = tuple(range(len(problem.arms)))
    by_arm = CountTable("Y", ("B", "A"), arms=arms, by_arm=True)
    others = [
        CountTable("Y", ("C", "A"), arms=(0, 3)),
        by_arm,
        CountTable("C", ("B",)),
        CountTable("B", ("A",), arms=arms),
    ]
    number = 300
    codes = np.stack([rng.integers(3 if v == "B" else 2, size=number) for v in problem.graph.variables], axis=1)
    rows, chosen = rng.integers(2, size=number), rng.integers(len(arms), size=number)
    rewards = rng.random(number)
    counted = []
    for tables in (joint.tables, others):
        layout = Layout(problem, tables)
        counts = np.zeros((2, layout.size))
        layout.add(counts, rows, chosen, codes, rewards, np.zeros(number, dtype=np.intp))
        counted.append(counts)
    found = joint.counts(counted[0], joint.places(others), counted[1].shape[1]).T
    np.testing.assert_allclose(found, counted[1], atol=1e-9)


@pytest.mark.parametrize("name", OURS)
def test_the_graph_is_looked_at_again_when_the_outcomes_have_grown_by_an_eighth(name: str) -> None:
    """For the first time after 20; and a look that is not due changes nothing."""
    made = policy(name).compile(problem_for(name, FRONT_DOOR, 2000))
    state = made.start(1)
    for number, due in ((0, 20), (19, 20), (20, 23), (22, 23), (23, 26), (160, 181), (180, 181), (181, 204)):
        seen = evidence(made, [("do()", {"X": i % 2, "M": i % 3 % 2, "Y": i % 5 % 2}) for i in range(number)])
        state = made.choose(seen, state, Chance(0, "policy")).state
        assert state.look.tolist() == [due]


def test_a_row_violates_the_same_independencies_in_any_company() -> None:
    problem = Problem("A -> B -> C -> Y; D -> C", "Y", 10)
    rng = np.random.default_rng(5)
    joint = Joint(problem)
    counts = rng.gamma(0.3, 8.0, (40, joint.layout.size)) * (rng.random((40, joint.layout.size)) < 0.4)
    implied = PooledEstimator(problem).implied
    alone = np.concatenate([implied.violations(row[np.newaxis]) for row in counts])
    assert (alone > 0).any()
    np.testing.assert_array_equal(implied.violations(counts), alone)


def test_arms_with_too_few_outcomes_are_left_out_and_change_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem("A -> B -> C -> Y; D -> C", "Y", 10)
    rng = np.random.default_rng(6)
    implied, joint = PooledEstimator(problem).implied, Joint(problem)
    by_arm = (40, len(joint.arms), joint.layout.size // len(joint.arms))
    usual = 4 * (rng.random(by_arm) < 0.4) * (rng.random((1, by_arm[1], 1)) < 0.5)
    counts = np.asarray(rng.poisson(usual).reshape(40, -1), dtype=np.float64)
    counts[:, : by_arm[2]] *= 5
    found, looked_at = implied.violations(counts), len(implied._cells_with_enough(counts))
    assert (found > 0).any()
    monkeypatch.setattr(implied, "_fewest", 0)
    assert looked_at < len(implied._cells_with_enough(counts)) == joint.layout.size
    np.testing.assert_array_equal(implied.violations(counts), found)


def test_deviations_are_those_of_pearsons_test() -> None:
    """The normal variable and the p-value of `dobandit check` say the same, up to the approximation by a cube root."""
    rng = np.random.default_rng(4)
    for shape in ((2, 2), (2, 2, 2), (3, 2, 3), (2, 2, 2, 2)):
        counts = rng.poisson(30, shape) + rng.integers(0, 25, shape) * (rng.random(shape) < 0.3)
        (p,), z = p_values_of([counts.astype(float)]), _deviation(counts.astype(float))
        assert p is not None
        assert 0.5 * math.erfc(z / math.sqrt(2)) == pytest.approx(p, rel=0.25, abs=1e-9)
    assert _deviation(np.array([[3.0, 0.0], [0.0, 3.0]])) < 0


def _deviation(counts: NDArray[np.float64]) -> float:
    """Of the last two variables from independence given the others."""
    strata = np.moveaxis(counts.reshape(-1, *counts.shape[-2:]), 0, -1)
    return deviations(strata[..., np.newaxis], np.zeros(strata.shape[-1], dtype=np.intp), 1).item()


def test_no_independence_is_tested_given_the_reward_or_in_a_large_graph() -> None:
    """Given Y, nothing can be counted; and nine causes of the reward can be watched, but not ten."""
    assert [str(i) for i in PooledEstimator(Problem("A -> Y; B -> Y; Y -> Z", "Y", 10)).implied.independencies] == [
        "A ⫫ B"
    ]
    for causes, watched in ((9, True), (10, False)):
        problem = Problem(" -> ".join([*(f"X{i}" for i in range(causes)), "Y"]), "Y", 10)
        graphs = RepairedGraphs(problem)
        assert bool(graphs.given.implied.independencies) == bool(graphs.pairs) == watched


@pytest.mark.parametrize("name", OURS)
def test_an_arm_that_the_graph_calls_idle_is_pulled_when_it_has_shown_the_opposite(name: str) -> None:
    """Told X -> Y and an idle Z; in truth Z decides, as a log of experiments shows."""
    problem = problem_for(name, "X -> Y; Z", 200, 1.1)
    truth = {"X": ([], [0.5, 0.5]), "Z": ([], [0.8, 0.2]), "Y": (["Z"], [[0.8, 0.2], [0.1, 0.9]])}
    world = worlds.from_tables("Z -> Y; X", truth)
    log: dict[str, list[object]] = {"intervention": [], "X": [], "Z": [], "Y": []}
    for arm, rows in (("do()", 200), ("do(Z=1)", 100), ("do(X=1)", 20)):
        drawn = world.sample(arm, rows, seed=len(log["X"]))
        log["intervention"] += [arm] * rows
        for v in "XZY":
            log[v] += list(drawn[v])
    r = db.simulate(problem, world, [name], 8, evidence=log)
    best = [str(a) for a in problem.arms].index("do(Z=1)")
    assert (r.recommended[name] == best).all()
    if policy(name).objective == "cumulative":
        assert (r.pulls[name][:, 0, best] > 100).all()


@pytest.mark.parametrize("name", OURS)
def test_what_was_refuted_stays_so(name: str) -> None:
    made = policy(name).compile(problem_for(name, "X -> Y", 1000))
    watched = [("do()", {"X": x, "Y": x}) for x in (0, 1)] * 50
    against = [("do(X=1)", {"X": 1, "Y": 0})] * 12
    first = evidence(made, [*watched, *against])
    state = made.choose(first, made.start(1), Chance(0, "policy")).state
    later = evidence(made, [*watched, *against, *[("do(X=1)", {"X": 1, "Y": 1})] * 150])
    assert made.contradictions(later, made.start(1)).max() == 0
    assert made.contradictions(later, state).max() > 4


def test_an_arm_is_refuted_by_ten_own_pulls_that_are_four_deviations_off() -> None:
    """By hand on X -> Y, where all who have X=1 feed one row of P(Y | X), with Jeffreys' prior."""
    made = policy("causal-thompson").compile(problem_for("causal-thompson", "X -> Y", 1000))
    watched = [("do()", {"X": 1, "Y": int(i % 10 < 9)}) for i in range(500)]
    for pulls, won, is_refuted in (
        *((9, 0, False), (10, 0, True), (10, 3, True), (10, 4, False)),
        *((20, 9, True), (30, 16, False), (60, 37, True), (60, 38, False)),
    ):
        tried = [("do(X=1)", {"X": 1, "Y": int(i < won)}) for i in range(pulls)]
        own, answer = (won + 0.5) / (pulls + 1), (won + 450.5) / (pulls + 501)
        variance = max(own * (1 - own), answer * (1 - answer)) / (pulls + 2) + (0.5 / (pulls + 501)) ** 2
        z = abs(own - answer) / math.sqrt(variance)
        found = made.contradictions(evidence(made, [*watched, *tried]), made.start(1))
        assert (pulls >= 10 and z > 4) == is_refuted
        assert found[0].tolist() == pytest.approx([0.0, 0.0, z if is_refuted else 0.0])


def test_the_same_luck_with_and_without_the_guard() -> None:
    """Where nothing is refuted, the guard changes nothing."""
    graph = "Z -> X -> Y"
    names = ["causal-thompson", "causal-thompson[guard=false]"]
    r = db.simulate(Problem(graph, "Y", 60), worlds.random(graph, 3), names, 32)
    same = ~(r.contradictions[names[0]] > 0).any(axis=(1, 2))
    assert same.sum() >= 30
    np.testing.assert_array_equal(r.pulls[names[0]][same], r.pulls[names[1]][same])
