"""With the same uniform numbers a policy pulls exactly the same arms as its plain-loop reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

from dobandit import worlds
from dobandit.evidence.count_tables import Layout
from dobandit.policies.registry import policy, spec_of
from dobandit.problem import Problem
from dobandit.simulation.engine import Setting, play
from dobandit.worlds import World
from tests import named_graphs as named
from tests import references, references_simple

TRIALS = 12


def setting(problem: Problem, seed: int, budget: float, first: int = 0, unit: float = 1.0) -> Setting:
    rng = np.random.default_rng(seed)
    world = World.stack(worlds.random(problem.graph, s, problem.domains) for s in range(seed, seed + TRIALS)).fit(
        problem
    )
    costs = rng.choice([1.0, 1.25, 2.0, 3.0], size=(TRIALS, len(problem.arms)))
    costs[:, 0] = 1.0
    trials = np.arange(first, first + TRIALS)
    return Setting(problem, world, np.arange(TRIALS), trials, costs * unit, (budget * unit,), seed)


def trials_of(given: Setting) -> Iterator[references.Trial]:
    for i, number in enumerate(given.trials.tolist()):
        world, costs = given.world.trial(i), given.costs[i].tolist()
        yield references.Trial(given.problem, world, costs, given.budgets[0], given.seed, number)


def assert_same_arms(name: str, reference: Callable[[], references.Step], given: Setting) -> None:
    """Compare the number of pulls of every arm, and, through them, every single choice: a first
    difference would change everything after it."""
    played = play(policy(name), given)
    for i, trial in enumerate(trials_of(given)):
        history = references.run(trial, reference())
        assert np.bincount(history, minlength=len(given.problem.arms)).tolist() == played.pulls[i, 0].tolist(), (
            name,
            i,
        )


SMALL = Problem("Z -> X -> Y; Z -> Y; W -> Y", "Y", budget=1)
THREE = Problem("Z -> X -> Y; Z -> Y", "Y", budget=1, domains={"X": ["a", "b", "c"], "Z": ["u", "v", "w"]})
PAPER = Problem(named.FIG6, "Y", budget=1)
HIDDEN = Problem(named.FIG7, "Y", budget=1)
ROOTS = Problem("{A, B, C} -> Y", "Y", budget=1)
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


class SameArmsAndRecommendation:
    """What a policy for simple regret must show, in all its variants: the pulls of its plain-loop reference, and its
    recommendation."""

    name: ClassVar[str]
    algorithm: ClassVar[Callable[..., references_simple.Plays]]
    variants: ClassVar[Sequence[dict[str, Any]]] = ()

    @pytest.mark.parametrize(
        ("problem", "budget"),
        [(SMALL, 120), (THREE, 300), (PAPER, 150), (CONFOUNDED, 90), (HIDDEN, 500), (ROOTS, 60), (SMALL, 1500)],
        ids=["small", "three-valued", "fig6", "confounded", "fig7", "no back door", "much money"],
    )
    def test_the_same_as_the_reference(self, problem: Problem, budget: float) -> None:
        given = setting(problem, seed=5, budget=budget, first=60)
        for options in ({}, *self.variants):
            self.compare(given, options)

    @pytest.mark.parametrize("budget", [0.5, 1, 4.9, 11, 23.5])
    def test_the_same_when_money_is_short(self, budget: float) -> None:
        for options in ({}, *self.variants):
            self.compare(setting(PAPER, seed=6, budget=budget), options)

    def test_the_unit_of_money_does_not_matter(self) -> None:
        """Observing costs 0.5, and everything else in proportion."""
        for options in ({}, *self.variants):
            self.compare(setting(THREE, seed=7, budget=101, unit=0.5), options)

    def test_variants_differ(self) -> None:
        usual = play(policy(self.name), setting(ROOTS, seed=5, budget=60))
        for options in self.variants:
            if "fewest_rows" not in options:  # which only the general form has
                other = play(policy(self.spec(options)), setting(ROOTS, seed=5, budget=60))
                changed = (usual.pulls != other.pulls).any() or (usual.recommended != other.recommended).any()
                assert changed, options

    def spec(self, options: dict[str, Any]) -> str:
        written = ",".join(f"{key}={str(value).lower()}" for key, value in options.items())
        return f"{self.name}[{written}]" if written else self.name

    def compare(self, given: Setting, options: dict[str, Any]) -> None:
        made = policy(self.spec(options))
        played = play(made, given)
        named = {"name": spec_of(made)} if options and self.name == "successive-rejects" else {}  # for its own chance
        for i, trial in enumerate(trials_of(given)):
            recommended = references_simple.follow(trial, partial(type(self).algorithm, **options, **named))
            pulls = np.bincount(trial.history, minlength=len(given.problem.arms))
            assert pulls.tolist() == played.pulls[i, 0].tolist(), (options, i)
            assert recommended == played.recommended[i, 0], (options, i)


def estimated(name: str, problem: Problem, columns: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """S and Y of every arm from observations."""
    made: Any = policy(name).compile(problem)
    layout = Layout(problem, made.tables)
    counts = np.zeros((1, layout.size))
    codes = np.stack([columns[v] for v in problem.graph.variables], axis=1)
    for k, row in enumerate(codes):
        y = np.array([float(row[problem.graph.variables.index(problem.reward)])])
        layout.add(counts, np.array([0]), np.array([0]), row[np.newaxis], y, np.array([k]))
    number, value = made.split.estimates(counts)
    return number[0], value[0]
