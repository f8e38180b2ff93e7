"""With the same uniform numbers the policies pull exactly the same arms as their plain-loop references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dobandit import worlds
from dobandit.evidence.tally import Layout
from dobandit.graph import Graph
from dobandit.policies.registry import policy
from dobandit.problem import Problem
from dobandit.simulation.engine import Setting, play
from dobandit.worlds import World
from tests import named_graphs as named
from tests import references

TRIALS = 12


def setting(problem: Problem, seed: int, budget: float, first: int = 0) -> Setting:
    rng = np.random.default_rng(seed)
    world = World.stack(worlds.random(problem.graph, s, problem.domains) for s in range(seed, seed + TRIALS)).fit(
        problem
    )
    costs = rng.choice([1.0, 1.25, 2.0, 3.0], size=(TRIALS, len(problem.arms)))
    costs[:, 0] = 1.0
    return Setting(problem, world, np.arange(TRIALS), np.arange(first, first + TRIALS), costs, (budget,), seed)


def assert_same_arms(name: str, reference: Callable[[], references.Step], given: Setting) -> None:
    """Compare the number of pulls of every arm, and, through them, every single choice: a first
    difference would change everything after it."""
    played = play(policy(name), given)
    for i, number in enumerate(given.trials.tolist()):
        trial = references.Trial(
            given.problem, given.world.trial(i), given.costs[i].tolist(), given.budgets[0], given.seed, number
        )
        history = references.run(trial, reference())
        assert np.bincount(history, minlength=len(given.problem.arms)).tolist() == played.pulls[i, 0].tolist(), (
            name,
            i,
        )


SMALL = Problem("Z -> X -> Y; Z -> Y; W -> Y", "Y", budget=1)
THREE = Problem("Z -> X -> Y; Z -> Y", "Y", budget=1, domains={"X": ["a", "b", "c"], "Z": ["u", "v", "w"]})
PAPER = Problem(named.FIG6, "Y", budget=1)


@pytest.mark.parametrize("problem", [SMALL, THREE, PAPER], ids=["small", "three-valued", "fig6"])
@pytest.mark.parametrize(
    ("name", "reference"),
    [("f-kube", lambda: references.f_kube), ("ucb", lambda: references.ucb), ("crm", references.Crm)],
)
def test_the_same_arms(name: str, reference: Any, problem: Problem) -> None:
    assert_same_arms(name, reference, setting(problem, seed=5, budget=250, first=60))


def test_the_same_arms_when_money_is_short() -> None:
    for budget in (0.5, 1, 4.9, 11):
        assert_same_arms("f-kube", lambda: references.f_kube, setting(PAPER, seed=6, budget=budget))
        assert_same_arms("crm", references.Crm, setting(PAPER, seed=6, budget=budget))


def test_algorithm_1_pulls_the_same_arms() -> None:
    """Its estimates are sums in another order, so that near ties could fall differently; here they do not."""
    for problem in (SMALL, Problem("X -> M -> Y; X <-> Y; Z -> X", "Y", budget=1)):
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


def estimated(name: str, problem: Problem, columns: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """S and Y of every arm from observations."""
    made: Any = policy(name)
    layout = Layout(problem, made.tables(problem))
    counts = np.zeros((1, layout.size))
    codes = np.stack([columns[v] for v in problem.graph.variables], axis=1)
    for k, row in enumerate(codes):
        y = np.array([float(row[problem.graph.variables.index(problem.reward)])])
        layout.add(counts, np.array([0]), row[np.newaxis], y, np.array([k]))
    from dobandit.estimate.split import Split

    number, value = Split(problem, layout, made.factors_by_variable(problem)).estimates(counts)
    return number[0], value[0]
