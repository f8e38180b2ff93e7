"""Who plays what: the policies, and for every trial its problem, its costs and its world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.chance import BLOCK, uniforms
from dobandit.errors import SimulationError, listing
from dobandit.policies import Compiled, Policy, PolicyLike, check_fits, policies_for, policy, spec_of
from dobandit.problem import Arm, Choose, Cost, Objective, Problem, Stop, Total, Uniform, is_positive
from dobandit.simulation.engine import Setting
from dobandit.worlds import Simulator, World, from_simulator

ProblemLike = Problem | Callable[[int], Problem]  # of all trials, or of a seed that makes each trial's own
WorldLike = World | Simulator | Callable[[int], World]


class Match(NamedTuple):
    """Who plays what: the policies, the problem of each trial, and the worlds."""

    problems: Sequence[Problem]
    worlds: World
    policies: dict[str, Policy]
    compiled: dict[str, Compiled[Any]]
    seed: int
    first: int  # the number of the first trial
    stop: Stop | None = None

    @property
    def problem(self) -> Problem:
        return self.problems[0]

    @property
    def utility(self) -> Array:
        """The mean of every arm above the worst reward, in the user's units, with axes (trial, arm)."""
        means = above_worst(self.problem, self.worlds)
        return np.broadcast_to(means, (len(self.problems), means.shape[1]))

    def setting(self, part: range, costs: Array, budgets: tuple[float, ...]) -> Setting:
        """Some trials, each as often as it has costs; these have the axes (trial, time, arm)."""
        _, times, arms = costs.shape
        world = self.worlds if self.worlds.trials == 1 else self.worlds.slice(part)
        whose = np.repeat(np.arange(len(part)), times)
        numbers = whose + part.start + self.first
        return Setting(self.problem, world, whose, numbers, costs.reshape(-1, arms), budgets, self.seed, self.stop)


def matched(
    problem: ProblemLike,
    world: WorldLike,
    policies: Iterable[PolicyLike] | None,
    trials: int,
    seed: int,
    first: int,
) -> Match:
    """What is to be played; a mistake in it is told before any work is done."""
    check_trials(trials)
    if first < 0 or first % BLOCK:
        raise SimulationError(f"first: expected the start of a block, a multiple of {BLOCK}, not {first!r}")
    numbers = range(first, first + int(trials))
    problems = [problem] * len(numbers) if isinstance(problem, Problem) else _own_problems(problem, numbers, seed)
    problems[0].require_values()
    chosen = chosen_policies(policies, problems[0].objective, problems[0])
    compiled = {name: made.compile(problems[0]) for name, made in chosen.items()}
    return Match(problems, _worlds(world, problems, seed, first), chosen, compiled, seed, first)


def check_trials(trials: float) -> None:
    if not is_positive(trials) or trials != int(trials):
        raise SimulationError(f"trials: expected a whole number, at least 1, not {trials!r}")


def scale_of(problem: Problem) -> float:
    """From the worst to the best value of the reward."""
    return max(problem.reward_values) - min(problem.reward_values)


def above_worst(problem: Problem, world: World) -> Array:
    """The means of all arms above the worst reward that the world can give, in the user's units: (trial, arm)."""
    means, rewards = np.atleast_2d(world.means(problem)), world.worth(problem)
    if not problem.reward_is_continuous:
        return problem.utility(means) * scale_of(problem)
    return np.asarray(means - rewards.min() if problem.goal == "max" else rewards.max() - means)


def _own_problems(problem: Callable[[int], Problem], trials: range, seed: int) -> list[Problem]:
    problems = [problem(trial_seed(seed, "problem", i)) for i in trials]
    fixed = ("graph", "arms", "objective", "budget", "goal", "domains", "reward", "reward_values")
    for i, other in zip(trials, problems, strict=True):
        for what in fixed:
            if getattr(other, what) != getattr(problems[0], what):
                raise SimulationError(
                    f"the problem of trial {i} has another {what}; only costs may differ between trials"
                )
    return problems


def draw_costs(problems: Sequence[Problem], seed: int, first: int = 0) -> Array:
    """The costs of every trial; rules are drawn, each arm from its own number, and sums are those of their parts."""
    totals = [cost for cost in problems[0].costs if isinstance(cost, Total)]
    drawn_for = [*problems[0].arms, *(part for cost in totals for part, _ in cost.parts)]
    place = {arm: k for k, arm in enumerate(dict.fromkeys(drawn_for))}
    blocks = range(first // BLOCK, -(-(first + len(problems)) // BLOCK))
    drawn = np.concatenate([uniforms(seed, "costs", block, range(1), len(place))[0] for block in blocks])
    rows = [
        [_drawn(arm, cost, row, place) for arm, cost in zip(p.arms, p.costs, strict=True)]
        for p, row in zip(problems, drawn, strict=False)
    ]
    return np.array(rows)


def _drawn(arm: Arm, cost: Cost, numbers: Array, place: Mapping[Arm, int]) -> float:
    match cost:
        case Total():
            return sum(_drawn(part, part_cost, numbers, place) for part, part_cost in cost.parts)
        case Choose() | Uniform():
            return cost.draw(float(numbers[place[arm]]))
    return cost


def trial_seed(seed: int, purpose: str, trial: int) -> int:
    """A seed of its own for the world (or the problem) of each trial."""
    block, place = divmod(trial, BLOCK)
    return int(uniforms(seed, purpose, block, range(1), 1)[0, place, 0] * 2**53)


def chosen_policies(
    policies: PolicyLike | Iterable[PolicyLike] | None, objective: Objective, problem: Problem | None = None
) -> dict[str, Policy]:
    """Policies by their names, which must fit the objective and the arms of the problem; default: all that do."""
    fitting = policies_for(objective, problem)
    found: dict[str, Policy] = {}
    given: Iterable[PolicyLike] = fitting
    if policies is not None:
        given = policies if isinstance(policies, Iterable) and not isinstance(policies, str) else [policies]
    for made in map(policy, given):
        name = spec_of(made)
        if name in found:
            raise SimulationError(f"policies: {name} is named twice")
        if not made.serves(objective):
            raise SimulationError(
                f"policies: {name} is for {made.objective} regret, but the problem asks for {objective}"
            )
        if problem is not None:
            check_fits(made, problem)
        found[name] = made
    if not found:
        raise SimulationError(f"policies: name at least one; for {objective} regret there are {listing(fitting)}")
    return found


def _worlds(world: WorldLike, problems: Sequence[Problem], seed: int, first: int) -> World:
    if isinstance(world, Simulator) and not isinstance(world, World):
        return from_simulator(problems[0], world, seed=seed)
    if isinstance(world, World):
        fitted = world.fit(problems[0])
        if fitted.trials not in (1, len(problems)):
            raise SimulationError(f"the world is a batch of {fitted.trials}, but there are {len(problems)} trials")
        return fitted
    return World.stack(world(trial_seed(seed, "world", i)).fit(p) for i, p in enumerate(problems, first))
