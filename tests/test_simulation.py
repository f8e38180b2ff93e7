"""The engine and the regret: exact, and the same bits wherever they are computed."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import dobandit as db
from dobandit import worlds
from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.errors import DobanditError, SimulationError
from dobandit.policies import Choice, Info, Memoryless, Policy, View, causal_thompson
from dobandit.problem import Goal, Problem
from dobandit.simulation import above_worst, engine, joined, nature, simulate_costs
from dobandit.simulation.regret import knapsack, optimum
from tests import named_graphs as named

PROBLEM = Problem("Z -> X -> Y; Z -> Y; X <-> Y", "Y", budget=50, default_cost={"choose": [1.5, 2]})


def test_the_knapsack_by_hand() -> None:
    """Budget 10; do() earns .4 for 1, the arm 1 for 2.4: four arms cost 9.6, so one more do() does not fit;
    three arms and two observations (9.2) earn 3.8, four arms 4, two arms and five observations 4."""
    best, how = optimum(np.array([[0.4, 1.0]]), np.array([[1.0, 2.4]]), [10])
    assert how == "knapsack"
    assert best[0, 0] == pytest.approx(4.0)
    best, how = optimum(np.array([[0.4, 1.0]]), np.array([[1.0, 2.4001]]), [10])
    assert how == "fractional"
    assert best[0, 0] == pytest.approx(10 / 2.4001)


def test_the_knapsack_against_recursion() -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        k, size = int(rng.integers(1, 5)), int(rng.integers(1, 40))
        values, prices = rng.random(k), rng.integers(1, 12, k)

        @cache
        def best(
            left: int, values: tuple[float, ...] = tuple(values), prices: tuple[int, ...] = tuple(prices)
        ) -> float:
            found = [v + best(left - p) for v, p in zip(values, prices, strict=True) if p <= left]
            return max(found, default=0.0)

        expected = [best(s) for s in range(size + 1)]
        np.testing.assert_allclose(knapsack(values, prices, size), expected, atol=1e-12)


def test_every_budget_has_its_own_optimum() -> None:
    """do() earns .4 for 1, the arm 1 for 2: two arms are all that 4 can buy, but with 5 there is 1 left for do(). In
    the second trial do() is the better buy, at any budget."""
    means, costs = np.array([[0.4, 1.0], [0.6, 1.0]]), np.array([[1.0, 2.0], [1.0, 2.0]])
    best, how = optimum(means, costs, [4, 5, 7])
    assert how == "knapsack"
    np.testing.assert_allclose(best, [[2.0, 2.4, 3.4], [2.4, 3.0, 4.2]])


def test_too_many_units_are_fractional() -> None:
    assert optimum(np.array([[0.5, 0.9]]), np.array([[1.0, 1.01]]), [10_001])[1] == "fractional"
    assert optimum(np.array([[0.5, 0.9]]), np.array([[1.0, 1.01]]), [9_999])[1] == "knapsack"


def test_processes_give_the_same_bits() -> None:
    names = ["paper-cumulative", "thompson", "f-kube"]
    here = db.simulate(PROBLEM, lambda s: worlds.random(PROBLEM.graph, s), names, 130, seed=4, budgets=[20, 50])
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        there = db.simulate(
            PROBLEM, lambda s: worlds.random(PROBLEM.graph, s), names, 130, seed=4, budgets=[20, 50],
            executor=executor, batch=64,
        )  # fmt: skip
    for name, field in product(names, ("regret", "spent", "pulls", "recommended")):
        np.testing.assert_array_equal(getattr(here, field)[name], getattr(there, field)[name])


@pytest.mark.parametrize("policy", ["causal-thompson", "f-kube"])
def test_how_much_is_computed_together_changes_no_bits(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of many arms are computed in parts, so that memory is enough."""
    world = worlds.random(PROBLEM.graph, seed=3)
    expected = [db.simulate(PROBLEM, world, [policy], trials, budgets=[20, 50]) for trials in (1, 5)]
    for place, name in ((engine, "GRADIENTS"), (nature, "FORESEEN"), (causal_thompson, "TOGETHER")):
        monkeypatch.setattr(place, name, 1)
    found = [db.simulate(PROBLEM, world, [policy], trials, budgets=[20, 50]) for trials in (1, 5)]
    for one, other in zip(found, expected, strict=True):
        assert (one.regret[policy] == other.regret[policy]).all()
        assert (one.pulls[policy] == other.pulls[policy]).all()


def test_all_policies_meet_the_same_worlds_costs_and_luck() -> None:
    """The first sweep of two policies is the same pulls, so it earns the same; a bare policy shows it."""
    problem = Problem(named.FIG6, "Y", budget=13, default_cost=1)
    r = db.simulate(problem, lambda s: worlds.xor(named.FIG6, s), ["f-kube", "ucb", "crm"], 64, seed=1)
    np.testing.assert_array_equal(r.pulls["f-kube"], r.pulls["ucb"])
    np.testing.assert_array_equal(r.regret["f-kube"], r.regret["crm"])


def test_regret_is_what_was_lost_against_the_optimum() -> None:
    world = worlds.random(PROBLEM.graph, seed=8)
    problem = Problem(PROBLEM.graph, "Y", budget=50, default_cost=2)
    r = db.simulate(problem, world, ["ucb"], 16, seed=0, budgets=[10, 50])
    means = world.means(problem)
    best = knapsack(means, np.array([1, 2, 2, 2, 2]), 50)
    for j, budget in enumerate([10, 50]):
        np.testing.assert_allclose(r.regret["ucb"][:, j], best[budget] - r.pulls["ucb"][:, j] @ means, atol=1e-9)
    assert r.optimum == "knapsack"
    assert r.rounds == r.pulls["ucb"][:, 1].sum()


def test_a_problem_for_each_trial() -> None:
    """Each trial may have its own costs; the graph and the arms are the same."""

    def problem(seed: int) -> Problem:
        return Problem("X -> Y", "Y", budget=30, default_cost=1 + seed % 3)

    r = db.simulate(problem, worlds.xor("X -> Y", 0), ["f-kube"], 20, seed=1)
    assert len(np.unique(r.pulls["f-kube"].sum(axis=2))) > 1
    with pytest.raises(SimulationError, match="has another budget; only costs may differ"):
        db.simulate(lambda s: Problem("X -> Y", "Y", 9 + s % 2), worlds.xor("X -> Y", 0), ["ucb"], 9)
    with pytest.raises(SimulationError, match="has another graph; only costs may differ"):
        db.simulate(
            lambda s: Problem("X -> Y" if s % 2 else "X -> Z -> Y", "Y", 9), worlds.xor("X -> Y", 0), ["ucb"], 9
        )


def test_the_summary_and_the_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    r = db.simulate(PROBLEM, worlds.random(PROBLEM.graph, 1), ["ucb", "f-kube"], 10, budgets=[50, 20])
    rows = r.summary()
    assert [(row["policy"], row["budget"]) for row in rows] == [
        ("ucb", 20),
        ("ucb", 50),
        ("f-kube", 20),
        ("f-kube", 50),
    ]
    assert set(rows[0]) == {"policy", "budget", "regret", "se", "spent", "rounds"}
    assert rows[1]["regret"] == pytest.approx(r.regret["ucb"][:, 1].mean())
    assert r.quantiles()["ucb"].shape == (3, 2)
    file = tmp_path_factory.mktemp("out") / "results.csv"
    r.write(file)
    r.write(str(file))  # once more, by a text
    lines = file.read_text().splitlines()
    assert lines[0] == "policy,trial,budget,regret,spent,recommended," + ",".join(
        f"pulls {arm}" for arm in PROBLEM.arms
    )
    assert len(lines) == 1 + 2 * 10 * 2
    assert {text.get_text() for text in r.plot().axes[0].texts} >= {"ucb", "f-kube"}


def test_every_file_and_frame_holds_the_same_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    r = db.simulate(PROBLEM, worlds.random(PROBLEM.graph, 1), ["ucb", "f-kube"], 3, budgets=[20, 50])
    frame = r.to_frame()
    for i, name, trial, place in ((0, "ucb", 0, 0), (3, "ucb", 1, 1), (10, "f-kube", 2, 0)):
        row = frame.iloc[i]
        assert (row["policy"], row["trial"], row["budget"]) == (name, trial, r.grid[place])
        assert (row["regret"], row["spent"]) == (r.regret[name][trial, place], r.spent[name][trial, place])
        assert row["recommended"] == r.arms[r.recommended[name][trial, place]]
        assert [row[f"pulls {arm}"] for arm in r.arms] == r.pulls[name][trial, place].tolist()
    rows = frame.to_dict("records")
    for ending, read in (("csv", pandas.read_csv), ("json", pandas.read_json), ("parquet", pandas.read_parquet)):
        r.write(str(tmp_path / f"out.{ending}"))
        assert read(tmp_path / f"out.{ending}").to_dict("records") == [pytest.approx(row) for row in rows]
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert r.to_frame().to_dicts() == rows  # of polars
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(DobanditError, match="needs pandas or polars"):
        r.to_frame()


def test_the_summary_counts_the_pulls_of_a_trial_and_a_hundred_are_usual() -> None:
    problem = Problem("X -> Y", "Y", budget=30)  # every pull costs 1
    found = db.simulate(problem, worlds.xor("X -> Y", 1), ["ucb", "f-kube"], budgets=[10, 30])
    assert found.trials == 100
    assert [(row["policy"], row["budget"], row["rounds"]) for row in found.summary()] == [
        (name, budget, budget) for name in ("ucb", "f-kube") for budget in (10, 30)
    ]


def test_results_of_different_arms_are_joined_without_pulls_of_what_a_trial_lacks() -> None:
    few, many = (
        db.simulate(
            Problem("X -> Y; Z -> Y", "Y", budget=9, intervenable=names), worlds.xor("X -> Y; Z -> Y", 1), ["ucb"], 2
        )
        for names in (["X"], ["X", "Z"])
    )
    both = joined([few, many])
    assert both.arms == many.arms
    assert both.pulls["ucb"].sum(axis=2).tolist() == [[9]] * 4
    assert not both.pulls["ucb"][:2, :, [both.arms.index("do(Z=0)"), both.arms.index("do(Z=1)")]].any()


@pytest.mark.parametrize(("goal", "expected"), [("max", [1.5, 0.6, 2.4]), ("min", [1.5, 2.4, 0.6])])
def test_a_measured_reward_counts_from_the_worst_that_the_world_gives(goal: Goal, expected: list[float]) -> None:
    """X is a fair coin; Y is 2 or 5, and 5 with probability 0.2 or 0.8: whatever range is declared."""
    tables = {"X": ([], [0.5, 0.5]), "Y": (["X"], [[0.8, 0.2], [0.2, 0.8]])}
    world = worlds.from_tables("X -> Y", tables, domains={"Y": [2, 5]})
    problem = Problem("X -> Y", {"variable": "Y", "range": [0, 100]}, budget=9, goal=goal)
    assert above_worst(problem, world)[0] == pytest.approx(expected)


def test_warnings_say_in_how_many_trials() -> None:
    found = db.simulate(PROBLEM, worlds.random(PROBLEM.graph, 1), ["ucb"], 3)
    z = np.zeros(found.contradictions["ucb"].shape)
    z[:2, -1, 1] = 4.2, 5.3
    (warning,) = replace(found, contradictions={"ucb": z}).warnings()
    assert warning.startswith(f"ucb: {found.arms[1]}: ")
    assert warning.endswith("|z| = 5.3 (in 2 of 3 trials)")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("out.xls", r"out.xls: the name of a table ends in \.csv, \.json or \.parquet$"),
        ("no/out.csv", "out.csv: its folder does not exist$"),
        ("folder.csv", "folder.csv: cannot be written: is a directory$"),
    ],
)
def test_results_that_cannot_be_written_leave_nothing(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    r = db.simulate(PROBLEM, worlds.random(PROBLEM.graph, 1), ["ucb"], 2)
    with pytest.raises(DobanditError, match=message):
        r.write(str(tmp_path / path))
    with pytest.raises(DobanditError, match=r"a table is written to a path such as 'out\.csv', not None"):
        r.write(None)  # type: ignore[arg-type]
    assert [p.name for p in tmp_path.iterdir()] == ["folder.csv"]


@dataclass(frozen=True)
class Careless(Policy):
    """Always the same arm, so many times."""

    arm: int
    repeats: int
    name, objective, reference = "careless", "cumulative", "none"

    def compile(self, problem: Problem) -> Careless.Compiled:
        return self.Compiled(self)

    class Compiled(Memoryless):
        def __init__(self, policy: Careless) -> None:
            self.policy = policy

        def choose(self, view: View, state: Any, chance: Chance) -> Choice[Any]:
            arms = np.full(len(view.trials), self.policy.arm)
            return Choice(arms, np.full(len(arms), self.policy.repeats), state, Info(np.zeros_like(arms)))

        def recommend(self, view: View, state: Any) -> Indices:
            return np.zeros(len(view.trials), dtype=np.intp)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trials": 0}, "trials: expected a whole number"),
        ({"budgets": []}, "budgets: expected positive numbers"),
        ({"budgets": ["a"]}, "budgets: expected positive numbers"),
        ({"budgets": [5, -1]}, "budgets: expected positive numbers"),
        ({"policies": []}, "policies: name at least one"),
        ({"policies": [3]}, "3 is not a policy: derive a class"),
        ({"policies": ["ucb", "UCB"]}, "ucb is named twice"),
        ({"policies": ["nothing"]}, "there is no policy 'nothing'"),
        ({"world": worlds.xor("A -> B", 0)}, "the world has no variable"),
        ({"evidence": {}}, "evidence"),
        ({"evidence": True, "policies": ["causal-thompson"]}, "a log has a whole number of rows, at least 1, not True"),
        (  # whether it costs 1.5 or 2, one of these budgets ends with money for do() alone
            {"policies": [Careless(4, 1)], "budgets": [2.9, 5]},
            "careless.* chose an arm that it cannot pay; this is a bug in the policy",
        ),
        ({"policies": [Careless(0, 0)]}, "careless.* asked for no pull at all; this is a bug in the policy"),
    ],
)
def test_what_cannot_be_simulated(arguments: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"world": worlds.random(PROBLEM.graph, 1), "policies": ["ucb"], "trials": 2}
    with pytest.raises(DobanditError, match=message):
        db.simulate(PROBLEM, **{**given, **arguments})  # type: ignore[arg-type]


def test_costs_in_one_batch_are_what_each_gives_alone() -> None:
    """A sweep over the cost of intervening, all costs stacked, against one simulation for each cost."""
    graph = named.BACK_DOOR
    names = ["paper-cumulative", "f-kube", "thompson"]
    sweep = simulate_costs(
        Problem(graph, "Y", 40), lambda s: worlds.random(graph, s), [2, 5, 9], names, 70, seed=3, batch=64
    )
    assert sweep.axis == "cost"
    for j, cost in enumerate([2, 5, 9]):
        problem = Problem(graph, "Y", 40, default_cost=cost)
        alone = db.simulate(problem, lambda s: worlds.random(graph, s), names, 70, seed=3)
        for name in names:
            np.testing.assert_array_equal(sweep.pulls[name][:, j], alone.pulls[name][:, 0])
            np.testing.assert_array_equal(sweep.regret[name][:, j], alone.regret[name][:, 0])
            np.testing.assert_array_equal(sweep.spent[name][:, j], alone.spent[name][:, 0])
    assert [row["cost"] for row in sweep.summary()[:3]] == [2, 5, 9]


@pytest.mark.parametrize(
    ("cost", "budget", "pulls"), [(0.1, 10, 100), (1e-10, 1e-9, 10), (1 / 3, 5, 15), (0.07, 0.7, 10)]
)
def test_money_is_counted_to_the_end(cost: float, budget: float, pulls: int) -> None:
    """Costs that floats cannot hold: as many pulls as the money pays, not one more, not one less."""
    problem = Problem("X -> Y", "Y", budget, default_cost=cost, costs={"do()": cost})
    r = db.simulate(problem, worlds.xor("X -> Y", 0), "ucb", 4)
    assert (r.pulls["ucb"].sum(axis=2) == pulls).all()
    assert (r.spent["ucb"] <= budget * (1 + 1e-9)).all()
    assert (r.regret["ucb"] >= -1e-9).all()


def test_many_small_sums_do_not_drift() -> None:
    problem = Problem("X -> Y", "Y", 2000, default_cost=0.1, costs={"do()": 0.1})
    r = db.simulate(problem, worlds.xor("X -> Y", 0), "ucb", 2, budgets=[1000, 2000])
    assert r.pulls["ucb"].sum(axis=2).tolist() == [[10_000, 20_000]] * 2


def test_results_tell_where_rewards_contradict_the_graph() -> None:
    """The learner's graph lacks the hidden cause: the log says that X=1 is good, and trying it says the opposite."""
    x, y = [[0.9, 0.1], [0.1, 0.9]], [[[0.5, 0.5], [0.95, 0.05]], [[0.05, 0.95], [0.4, 0.6]]]
    tables = {"X": (["U"], x), "Y": (["U", "X"], y)}
    world = db.worlds.from_tables("X -> Y; X <-> Y", tables, {"U": ([0.5, 0.5], ["X", "Y"])})
    problem = db.Problem("X -> Y", "Y", budget=600, default_cost=0.9)
    log = world.sample("do()", 2000, seed=1)
    found = db.simulate(problem, world, ["causal-thompson", "f-kube"], 8, evidence=log)
    assert not found.contradictions["f-kube"].any()
    told = found.warnings()
    assert told
    assert all("this arm's own rewards contradict the graph: |z| = " in text for text in told)
    assert told[0].startswith("causal-thompson: do(X=")
