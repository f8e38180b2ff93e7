"""With the same uniform numbers a policy pulls exactly the same arms as its plain-loop reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from dobandit import worlds
from dobandit.estimate.split import Split
from dobandit.evidence.tally import Layout
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
CONFOUNDED = Problem("X -> M -> Y; X <-> Y; Z -> X; Y -> B", "Y", budget=1)


class SameArms:
    """What a policy with a plain-loop reference must show."""

    name: ClassVar[str]
    reference: ClassVar[Callable[[], references.Step]]

    @pytest.mark.parametrize(
        "problem", [SMALL, THREE, PAPER, CONFOUNDED], ids=["small", "three-valued", "fig6", "confounded"]
    )
    def test_the_same_arms_as_the_reference(self, problem: Problem) -> None:
        assert_same_arms(self.name, type(self).reference, setting(problem, seed=5, budget=250, first=60))

    @pytest.mark.parametrize("budget", [0.5, 1, 4.9, 11])
    def test_the_same_arms_when_money_is_short(self, budget: float) -> None:
        assert_same_arms(self.name, type(self).reference, setting(PAPER, seed=6, budget=budget))


def estimated(name: str, problem: Problem, columns: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """S and Y of every arm from observations."""
    made: Any = policy(name)
    layout = Layout(problem, made.tables(problem))
    counts = np.zeros((1, layout.size))
    codes = np.stack([columns[v] for v in problem.graph.variables], axis=1)
    for k, row in enumerate(codes):
        y = np.array([float(row[problem.graph.variables.index(problem.reward)])])
        layout.add(counts, np.array([0]), np.array([0]), row[np.newaxis], y, np.array([k]))
    number, value = Split(problem, layout, made.factors_by_variable(problem)).estimates(counts)
    return number[0], value[0]
