"""Algorithm 1: its estimator, its rule, and the corrections to the printed text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dobandit as db
from dobandit import worlds
from dobandit.chance import Chance
from dobandit.estimate.published.split import Split, factors_of, random_split
from dobandit.evidence.count_tables import Layout
from dobandit.graph import Graph
from dobandit.policies.forced import updated_beta
from dobandit.policies.paper_cumulative import CompiledPaperCumulative, PaperCumulative
from dobandit.policies.registry import policy
from dobandit.problem import CostLike, Problem
from dobandit.worlds import World
from tests import named_graphs as named
from tests import references
from tests.policies.same_arms import CONFOUNDED, SMALL, assert_same_arms, estimated, setting


def counted(policy: PaperCumulative, problem: Problem, world: World, rows: int, n: int, seed: int) -> tuple[Split, Any]:
    """The estimator, and the counts of n observations in each of many rows."""
    compiled = policy.compile(problem)
    layout = Layout(problem, compiled.tables)
    counts = np.zeros((rows, layout.size))
    rng = np.random.default_rng(seed)
    clamped = world.clamps(["do()"])
    seen = [world.positions[v] for v in problem.graph.variables]
    for k in range(n):
        codes = world.step(clamped, rng.random((rows, len(world.nodes))))[:, seen]
        y = codes[:, problem.graph.variables.index(problem.reward)].astype(float)
        layout.add(counts, np.arange(rows), np.zeros(rows, dtype=np.intp), codes, y, np.full(rows, k))
    return compiled.split, counts


@pytest.mark.parametrize("factors", ["all", "relevant"])
@pytest.mark.parametrize("graph", [named.FIG7, named.FIG11, named.FIG12], ids=["fig7", "fig11", "fig12"])
def test_unbiased_on_a_fixed_number_of_observations(graph: Graph, factors: str) -> None:
    """Lemma 1 on a fixed number of observations and one own pull: the mean error is within four standard
    errors of zero for every arm. There are enough observations for S >= 1 in most rows of most arms."""
    problem = Problem(graph, "Y", budget=1)
    world = worlds.xor(graph, seed=2).fit(problem)
    rows, observations = (250, 9000) if graph is named.FIG11 else (600, 2500)
    split, counts = counted(PaperCumulative(factors=factors), problem, world, rows, observations, seed=1)
    number, value = split.estimates(counts)
    means = world.means(problem)
    own = (np.random.default_rng(2).random(number.shape) < means).astype(float)
    estimates = (own + number * value) / (1 + number)
    error = estimates[:, 1:].mean(axis=0) - means[1:]
    se = estimates[:, 1:].std(axis=0, ddof=1) / np.sqrt(rows)
    assert (np.abs(error) <= 4 * se).all(), error / se
    assert np.median((number[:, 1:] >= 1).mean(axis=0)) > 0.5


def test_choosing_when_to_stop_biases_every_mean() -> None:
    """Under adaptive sampling the means of arms that looked bad stay low: all of them are biased downwards."""
    problem = Problem(named.FIG6, "Y", budget=300, default_cost=2)
    world = worlds.xor(named.FIG6, seed=0).fit(problem)
    from dobandit.simulation.engine import Setting, play

    n = 640
    costs = np.full((n, len(problem.arms)), 2.0)
    costs[:, 0] = 1.0
    setting = Setting(problem, world, np.zeros(n, dtype=np.intp), np.arange(n), costs, (300.0,), 0)
    layers: list[Any] = []

    class Watching(CompiledPaperCumulative):
        def recommend(self, view: Any, state: Any) -> Any:
            means, _ = self.estimates(view, state)
            layers.append(means)
            return super().recommend(view, state)

    play(PaperCumulative(), setting, compiled=Watching(problem, PaperCumulative()))
    bias = np.concatenate(layers).mean(axis=0) - world.means(problem)
    assert bias[1:].mean() < -0.01


def test_the_average_over_the_splits_is_the_plug_in() -> None:
    """2,000 random splits of the same rows, by the plain-loop reference: their mean is within four standard errors
    of the averaged estimate."""
    problem = Problem(named.FRONT_DOOR, "Y", budget=1)
    columns = worlds.random(named.FRONT_DOOR, seed=1).fit(problem).sample("do()", 150, seed=4)
    rows = [dict(zip(columns, map(int, values), strict=True)) for values in zip(*columns.values(), strict=True)]
    number, value = estimated("paper-cumulative", problem, columns)
    rng = np.random.default_rng(5)
    tried = 0
    for arm in range(1, len(problem.arms)):
        if number[arm] < 2:
            continue
        tried += 1
        draws = np.array([references.literal_split(problem, rows, arm, rng) for _ in range(2000)])
        assert abs(draws.mean() - value[arm]) <= 4 * draws.std(ddof=1) / np.sqrt(2000)
    assert tried >= 2


def test_the_same_bits_alone_and_in_company() -> None:
    """A row's estimates do not depend on which other rows are estimated with it."""
    problem = Problem(named.FIG6, "Y", budget=1)
    split, counts = counted(PaperCumulative(factors="relevant"), problem, worlds.xor(named.FIG6, 1), 40, 600, seed=3)
    number, value = split.estimates(counts)
    assert (number >= 1).any()
    for i in range(40):
        alone = split.estimates(counts[i : i + 1])
        np.testing.assert_array_equal(alone[0][0], number[i])
        np.testing.assert_array_equal(alone[1][0], value[i])


def test_sums_that_are_too_long_to_list_are_eliminated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers from both, and a ladder of eighteen variables is no trouble."""
    problem = Problem(named.FIG11, "Y", budget=1)
    listed, counts = counted(PaperCumulative(factors="relevant"), problem, worlds.xor(named.FIG11, 1), 5, 3000, seed=3)
    monkeypatch.setattr("dobandit.estimate.published.split.MOST_TERMS", 0)
    eliminated, _ = counted(PaperCumulative(factors="relevant"), problem, worlds.xor(named.FIG11, 1), 5, 1, seed=3)
    (s, a), (t, b) = listed.estimates(counts), eliminated.estimates(counts)
    np.testing.assert_array_equal(s, t)
    np.testing.assert_allclose(a, b, atol=1e-12)
    assert (s >= 1).any()
    monkeypatch.undo()
    ladder = Graph("; ".join(f"X{i} -> {{X{i + 1}, X{i + 2}}}" for i in range(16)) + "; {X16, X17} -> Y")
    long = Problem(ladder, "Y", budget=30)
    db.simulate(long, worlds.random(ladder, 0), "paper-cumulative", 2)


@pytest.mark.parametrize("name", ["paper-cumulative", "paper-cumulative[factors=relevant]"])
def test_rewards_between_zero_and_one_count_whole_rows(name: str) -> None:
    """S counts rows: a reward of 0.3 is one row, not 0.3 and 0.7 that add up to a little less than one."""
    problem = Problem("X -> Y", {"variable": "Y", "range": [0, 10]}, budget=1)
    made: Any = policy(name).compile(problem)
    layout = Layout(problem, made.tables)
    counts = np.zeros((1, layout.size))
    (of_reward,) = [t for t in layout.tables if t.variable == "Y"]
    rows = [0, 0]  # of the reward's part, by the value of X
    rng = np.random.default_rng(1)
    split, dust = made.split, 0
    for k in range(400):
        x, y = int(rng.integers(2)), float(rng.choice([0, 1, 3, 7, 9, 10])) / 10
        layout.add(counts, np.array([0]), np.array([0]), np.array([[x, 0]]), np.array([y]), np.array([k]))
        rows[x] += k % of_reward.every == of_reward.rest
        dust += (layout.view(counts, of_reward).sum(axis=-1) != rows).any()
        assert split.estimates(counts)[0][0, 1:].tolist() == rows
    assert dust >= 3  # else this shows nothing


def test_the_literal_split_agrees_in_distribution() -> None:
    """The same regret within four joint standard errors, and the same S."""
    problem = Problem(named.BACK_DOOR, "Y", budget=300, default_cost=1.5)
    world = worlds.random(named.BACK_DOOR, seed=4)
    names = ["paper-cumulative", "paper-cumulative[split=random]"]
    r = db.simulate(problem, world, policies=names, trials=192, seed=3)
    a, b = (r.regret[name][:, 0] for name in names)
    assert abs(a.mean() - b.mean()) <= 4 * np.hypot(a.std(), b.std()) / np.sqrt(len(a))
    split, counts = counted(PaperCumulative(), problem, world.fit(problem), 8, 60, seed=6)
    averaged = split.estimates(counts)
    literal = random_split(split, counts, np.arange(8), 0, Chance(0, "policy:x"))
    np.testing.assert_array_equal(averaged[0], literal[0])
    assert (averaged[1] != literal[1]).any()


def test_s_by_hand() -> None:
    """Z -> X -> Y, Z -> Y with factors Z, X, Y: observation k belongs to factor k mod 3. For do(X=1), S is the
    smallest of: the rows of Z's part; the rows of X's part for each z; the rows of Y's part with X=1 for each z."""
    problem = Problem(named.BACK_DOOR, "Y", budget=1)
    compiled = PaperCumulative().compile(problem)
    layout = Layout(problem, compiled.tables)
    counts = np.zeros((1, layout.size))
    rows = "000 010 011 100 110 110 100 101 001 000 011".split()  # (Z, X, Y), in turn for the parts of Z, X and Y
    for k, row in enumerate([int(value) for value in text] for text in rows):
        layout.add(counts, np.array([0]), np.array([0]), np.array([row]), np.array([float(row[2])]), np.array([k]))
    number, value = compiled.split.estimates(counts)
    # Y's part is 011, 110, 001: it has X=1 with both z, X=0 with Z=0 only. X's part has two rows for each z.
    by_arm = dict(zip(map(str, problem.arms), number[0].tolist(), strict=True))
    assert by_arm == {"do()": 0, "do(Z=0)": 1, "do(Z=1)": 0, "do(X=0)": 0, "do(X=1)": 1}
    # P(Z=0) is 1/2 in the rows 000, 100, 100, 000; P(Y=1 | X=1, Z) is 1 and 0 in the rows 011 and 110.
    assert value[0, 4] == pytest.approx(0.5 * 1 + 0.5 * 0)


def test_the_beta_rule_by_hand() -> None:
    value = np.array([[0.4, 0.9, 0.1], [0.4, 0.4, 0.1], [0.4, 0.41, 0.1]])
    found = updated_beta(np.array([1.0, 3.0, 1.0]), value, t=10**6)
    assert found == pytest.approx([np.sqrt(np.log(10**6)), 3.0, np.sqrt(np.log(10**6))])
    assert updated_beta(np.array([1.0]), np.array([[0.0, 1.0]]), t=10**9) == pytest.approx([2 * np.sqrt(2)])


def test_an_arm_that_observations_cannot_tell_learns_from_its_own_pulls() -> None:
    problem = Problem("Z -> X -> Y; X <-> Y", "Y", budget=1)
    assert factors_of(problem, "X", only_relevant=False) == ()
    assert len(factors_of(problem, "Z", only_relevant=False)) == 3
    wide = Problem(named.PARALLEL, "Y", budget=1)
    assert factors_of(wide, "X1", only_relevant=False) == ()  # P(Y | X1..X50) is never full: S = 0
    bow = PaperCumulative().compile(Problem(named.BOW, "Y", budget=1))
    number, value = bow.split.estimates(np.ones((4, Layout(bow.problem, bow.tables).size)))
    np.testing.assert_array_equal([number, value], np.zeros((2, 4, 3)))


def paper_problem(costs: CostLike) -> tuple[Problem, Callable[[int], World]]:
    problem = Problem(named.FIG6, "Y", budget=2450, default_cost=costs)
    return problem, lambda seed: worlds.xor(named.FIG6, seed)


def test_the_papers_first_experiment() -> None:
    """Costs from {2, 3}, B = 2450, 100 trials: Algorithm 1 below F-KUBE below CRM. CRM grows linearly, and so does
    Algorithm 1 with the index as printed, which is why the index is divided by cost."""
    problem, world = paper_problem({"choose": [2, 3]})
    names = ["paper-cumulative", "f-kube", "crm", "paper-cumulative[index=printed]"]
    budgets = [1225, 2450]
    r = db.simulate(problem, world, policies=names, trials=100, seed=0, budgets=budgets)
    half, full = ({n: r.regret[n][:, j].mean() for n in names} for j in (0, 1))
    error = {n: r.regret[n][:, 1].std(ddof=1) / 10 for n in names}
    assert full["paper-cumulative"] + 2 * error["paper-cumulative"] < full["f-kube"] - 2 * error["f-kube"]
    assert full["f-kube"] < full["crm"] / 2
    for linear in ("crm", "paper-cumulative[index=printed]"):
        assert full[linear] > 1.7 * half[linear]
    assert full["paper-cumulative"] < 1.4 * half["paper-cumulative"]
    assert r.optimum == "knapsack"


def test_algorithm_1_pulls_the_same_arms() -> None:
    """Its estimates are sums in another order, so that near ties could fall differently; here they do not."""
    for problem in (SMALL, CONFOUNDED):
        assert_same_arms("paper-cumulative", references.PaperCumulative, setting(problem, seed=7, budget=250))


@pytest.mark.parametrize("graph", [named.FIG7, named.FIG12, named.BACK_DOOR, Graph("X -> M -> Y; X <-> Y; B <- Y")])
def test_estimates_of_algorithm_1(graph: Graph) -> None:
    """S and Y equal the reference's on the same observations."""
    problem = Problem(graph, "Y", budget=1)
    columns = worlds.xor(graph, seed=3).sample("do()", 4000, seed=1)
    rows = [dict(zip(columns, map(int, values), strict=True)) for values in zip(*columns.values(), strict=True)]
    number, value = estimated("paper-cumulative", problem, columns)
    assert number.max() > 0
    for arm in range(1, len(problem.arms)):
        expected = references.split_estimate(problem, rows, arm)
        assert number[arm] == expected[0]
        if expected[0]:
            assert value[arm] == pytest.approx(expected[1], abs=1e-12)
