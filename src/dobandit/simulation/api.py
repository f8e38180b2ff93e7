"""`simulate`: policies against each other, on the same worlds, with the same costs and the same luck."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dobandit.chance import BLOCK, uniforms
from dobandit.errors import SimulationError
from dobandit.policies import Policy, policies_for, policy
from dobandit.policies.registry import spec_of
from dobandit.problem import Choose, Cost, Problem, Uniform
from dobandit.simulation import regret
from dobandit.simulation.engine import Played, Setting, batches, play, to_utility
from dobandit.simulation.results import Results
from dobandit.worlds import World

Array = NDArray[np.float64]
BATCH = 16 * BLOCK  # trials that run in one batch


class Submits(Protocol):
    """Anything that runs functions elsewhere: a pool of processes, a cluster."""

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]: ...


def simulate(
    problem: Problem | Callable[[int], Problem],
    world: World | Callable[[int], World],
    policies: Iterable[str | Policy] | None = None,
    trials: int = 100,
    seed: int = 0,
    budgets: Sequence[float] | None = None,
    evidence: object = None,
    *,
    executor: Executor | Submits | None = None,
    batch: int = BATCH,
    progress: Callable[[str, float], None] | None = None,
) -> Results:
    """Run policies on a problem's world, many trials in lock step.

    `world` is one world for all trials, or a function of a seed that makes each trial's own; `problem` likewise
    (same graph and arms; costs may differ). Costs that are rules are drawn for each trial. All policies meet the
    same worlds, costs and outcomes' chance. Results do not depend on `executor` (anything with `submit`), nor on
    the size of the batches, nor on which other policies run.
    """
    if evidence is not None:
        raise SimulationError("evidence: no policy of this version starts from logged data")
    problems = (
        [problem(trial_seed(seed, "problem", i)) for i in range(trials)] if callable(problem) else [problem] * trials
    )
    first = _checked(problems, trials)
    chosen = [policy(p) for p in (policies_for(first.objective) if policies is None else policies)]
    names = _names(chosen, first)
    grid = _grid(first.budget if budgets is None else budgets)
    costs = draw_costs(problems, seed)
    worlds = _worlds(world, problems, trials, seed)
    parts = batches(trials, max(BLOCK, batch // BLOCK * BLOCK))
    settings = [
        Setting(
            problem=first,
            world=worlds if worlds.trials == 1 else worlds.slice(part),
            trials=np.arange(part.start, part.stop),
            costs=costs[part.start : part.stop],
            budgets=grid,
            seed=seed,
        )
        for part in parts
    ]
    played = _play_all(chosen, names, settings, executor, progress)
    return _results(first, worlds, costs, grid, played)


def draw_costs(problems: Sequence[Problem], seed: int) -> Array:
    """The costs of every trial; rules are drawn, each arm from its own number."""
    arms = len(problems[0].arms)
    blocks = range(-(-len(problems) // BLOCK))
    drawn = np.concatenate([uniforms(seed, "costs", block, range(1), arms)[0] for block in blocks])
    rows = [
        [_drawn(cost, u) for cost, u in zip(p.costs, row, strict=True)] for p, row in zip(problems, drawn, strict=False)
    ]
    return np.array(rows)


def _drawn(cost: Cost, u: float) -> float:
    return cost.draw(float(u)) if isinstance(cost, Choose | Uniform) else cost


def trial_seed(seed: int, purpose: str, trial: int) -> int:
    """A seed of its own for the world (or the problem) of each trial."""
    block, place = divmod(trial, BLOCK)
    return int(uniforms(seed, purpose, block, range(1), 1)[0, place, 0] * 2**53)


def _checked(problems: Sequence[Problem], trials: int) -> Problem:
    if not isinstance(trials, int) or trials < 1:
        raise SimulationError(f"trials: expected a whole number, at least 1, not {trials!r}")
    first = problems[0]
    for i, other in enumerate(problems):
        if (other.graph, other.arms, other.objective) != (first.graph, first.arms, first.objective):
            raise SimulationError(f"the problem of trial {i} has another graph, other arms or another objective")
    return first


def _names(chosen: Sequence[Policy], problem: Problem) -> list[str]:
    names = [spec_of(p) for p in chosen]
    if not names and not policies_for(problem.objective):
        raise SimulationError(f"this version has no policy for {problem.objective} regret")
    if not names:
        raise SimulationError(f"policies: name at least one; for {problem.objective} regret there are "
                              + ", ".join(policies_for(problem.objective)))  # fmt: skip
    for i, (name, made) in enumerate(zip(names, chosen, strict=True)):
        if name in names[:i]:
            raise SimulationError(f"policies: {name} is named twice")
        if made.objective != problem.objective:
            raise SimulationError(
                f"policies: {name} is for {made.objective} regret, but the problem asks for {problem.objective}"
            )
    return names


def _grid(budgets: float | Sequence[float]) -> tuple[float, ...]:
    given = np.atleast_1d(np.asarray(budgets, dtype=float))
    if not len(given) or not (np.isfinite(given) & (given > 0)).all():
        raise SimulationError(f"budgets: expected positive numbers, not {budgets!r}")
    return tuple(sorted(set(given.tolist())))


def _worlds(world: World | Callable[[int], World], problems: Sequence[Problem], trials: int, seed: int) -> World:
    if isinstance(world, World):
        fitted = world.fit(problems[0])
        if fitted.trials not in (1, trials):
            raise SimulationError(f"the world is a batch of {fitted.trials}, but there are {trials} trials")
        return fitted
    return World.stack(world(trial_seed(seed, "world", i)).fit(p) for i, p in enumerate(problems))


def _play_all(
    chosen: Sequence[Policy],
    names: Sequence[str],
    settings: Sequence[Setting],
    executor: Executor | Submits | None,
    progress: Callable[[str, float], None] | None,
) -> dict[str, Played]:
    """Every policy on every batch, joined again in the order of the trials."""
    jobs = [
        (name, made, i, setting) for name, made in zip(names, chosen, strict=True) for i, setting in enumerate(settings)
    ]
    futures = [executor.submit(play, made, setting) for _, made, _, setting in jobs] if executor else None
    parts: dict[str, list[Played]] = {name: [] for name in names}
    for job, (name, made, i, setting) in enumerate(jobs):
        report = None if progress is None else _reporter(progress, name, i, len(settings))
        parts[name].append(futures[job].result() if futures else play(made, setting, report))
        if progress is not None:
            progress(name, (i + 1) / len(settings))
    return {
        name: Played(*(np.concatenate(arrays) for arrays in zip(*found, strict=True))) for name, found in parts.items()
    }


def _reporter(progress: Callable[[str, float], None], name: str, i: int, parts: int) -> Callable[[float], None]:
    return lambda share: progress(name, (i + share) / parts)


def _results(
    problem: Problem, worlds: World, costs: Array, grid: tuple[float, ...], played: dict[str, Played]
) -> Results:
    means = np.atleast_2d(worlds.means(problem))
    utility = np.broadcast_to(to_utility(problem, means), costs.shape)
    scale = max(problem.reward_values) - min(problem.reward_values)
    if problem.objective == "cumulative":
        best, how = regret.optimum(utility, costs, grid)
        regrets = {name: regret.cumulative(p.pulls, utility, best) * scale for name, p in played.items()}
    else:
        how = "best arm"
        regrets = {name: regret.simple(p.recommended, utility) * scale for name, p in played.items()}
    return Results(
        objective=problem.objective,
        budgets=grid,
        arms=tuple(map(str, problem.arms)),
        optimum=how,
        regret=regrets,
        spent={name: (p.pulls * costs[:, np.newaxis]).sum(axis=2) for name, p in played.items()},
        pulls={name: p.pulls for name, p in played.items()},
        recommended={name: p.recommended for name, p in played.items()},
    )
