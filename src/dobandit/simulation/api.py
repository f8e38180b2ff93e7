"""`simulate`: policies against each other, on the same worlds, with the same costs and the same luck."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from dobandit.arrays import Array
from dobandit.chance import BLOCK, uniforms
from dobandit.errors import SimulationError, listing
from dobandit.evidence import Data, Layout, Logged, open_file, open_source, read_log
from dobandit.policies import Compiled, Policy, policies_for, policy, spec_of
from dobandit.problem import Axis, Choose, Cost, Problem, Uniform, is_positive
from dobandit.simulation import regret
from dobandit.simulation.engine import Played, Setting, play
from dobandit.simulation.results import Results
from dobandit.worlds import World

BATCH = 16 * BLOCK  # trials that run in one batch
PLANNED = 8  # times as many rows where policies plan ahead


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
    evidence: Data | None = None,
    *,
    first: int = 0,
    executor: Executor | Submits | None = None,
    batch: int = BATCH,
    progress: Callable[[str, float], None] | None = None,
) -> Results:
    """Run policies on a problem's world, many trials in lock step.

    `world` is one world for all trials, or a function of a seed that makes each trial's own; `problem` likewise
    (same graph and arms; costs may differ). Costs that are rules are drawn for each trial. All policies meet the
    same worlds, costs and outcomes' chance. Results do not depend on `executor` (anything with `submit`), nor on
    the size of the batches, nor on which other policies run. `first` is the number of the first trial, a multiple
    of 64: trials 0 to 127 are trials 0 to 63 and, with first=64, 64 trials more. `evidence` is a log (anything that
    `effect` reads, or the path of a file) that costs nothing; it comes from one world, so there must be one for all
    trials. The policies that can start from it are ours.
    """
    match = _match(problem, world, policies, trials, seed, first)
    logs = {} if evidence is None else _read_logs(match, world, evidence)
    grid = _grid(match.problem.budget if budgets is None else budgets, "budgets")
    costs = draw_costs(match.problems, seed, first)
    # A policy that plans ahead has a row for every budget, but few decisions: larger batches suit it.
    ahead = any(p.depends_on_budget for p in match.policies.values())
    parts = _batches(trials, PLANNED * batch // len(grid) if ahead else batch)
    settings = [match.setting(part, costs[part.start : part.stop], grid) for part in parts]
    played = _play_all(match, settings, executor, progress, logs)
    best, how = _optimum(match, costs, grid)
    return _results(match, "budget", grid, np.repeat(costs[:, np.newaxis], len(grid), axis=1), played, best, how)


def simulate_costs(
    problem: Problem,
    world: World | Callable[[int], World],
    costs: Sequence[float],
    policies: Iterable[str | Policy] | None = None,
    trials: int = 100,
    seed: int = 0,
    *,
    first: int = 0,
    executor: Executor | Submits | None = None,
    batch: int = BATCH,
    progress: Callable[[str, float], None] | None = None,
) -> Results:
    """The same against the cost of intervening: every intervention costs c, for each c of `costs`.

    All costs run in the same batch; trial i has the same world and the same luck at every cost.
    """
    match = _match(problem, world, policies, trials, seed, first)
    grid = _grid(costs, "costs")
    budget = (problem.budget,)
    priced = draw_costs(match.problems, seed, first)[:, np.newaxis].repeat(len(grid), axis=1)  # (trial, cost, arm)
    priced[:, :, 1:] = np.array(grid)[np.newaxis, :, np.newaxis]
    parts = _batches(trials, max(BLOCK, batch // len(grid)))
    settings = [
        match.setting(part, priced[part.start : part.stop].reshape(-1, priced.shape[2]), budget) for part in parts
    ]
    played = {
        name: Played(
            p.pulls.reshape(priced.shape),
            p.recommended.reshape(priced.shape[:2]),
            p.contradicted.reshape(priced.shape),
            p.broken.reshape(*priced.shape[:2], -1),
        )
        for name, p in _play_all(match, settings, executor, progress, {}).items()
    }
    columns = [_optimum(match, priced[:, j], budget) for j in range(len(grid))]
    best = np.concatenate([best for best, _ in columns], axis=1)
    how = "knapsack" if all(how == "knapsack" for _, how in columns) else columns[-1][1]
    return _results(match, "cost", grid, priced, played, best, how)


class Match(NamedTuple):
    """Who plays what: the policies, the problem of each trial, and the worlds."""

    problems: Sequence[Problem]
    worlds: World
    policies: dict[str, Policy]
    compiled: dict[str, Compiled[Any]]
    seed: int
    first: int  # the number of the first trial

    @property
    def problem(self) -> Problem:
        return self.problems[0]

    @property
    def utility(self) -> Array:
        """The mean of every arm on the scale from 0 to 1, with axes (trial, arm)."""
        means = self.problem.utility(np.atleast_2d(self.worlds.means(self.problem)))
        return np.broadcast_to(means, (len(self.problems), means.shape[1]))

    def setting(self, part: range, costs: Array, budgets: tuple[float, ...]) -> Setting:
        """Some trials, each of them once or, with several rows of costs for each, several times."""
        times = len(costs) // len(part)
        world = self.worlds if self.worlds.trials == 1 else self.worlds.slice(part)
        whose = np.repeat(np.arange(len(part)), times)
        numbers = whose + part.start + self.first
        return Setting(self.problem, world, whose, numbers, costs, budgets, self.seed)


def _match(
    problem: Problem | Callable[[int], Problem],
    world: World | Callable[[int], World],
    policies: Iterable[str | Policy] | None,
    trials: int,
    seed: int,
    first: int,
) -> Match:
    if not is_positive(trials) or trials != int(trials):
        raise SimulationError(f"trials: expected a whole number, at least 1, not {trials!r}")
    if first < 0 or first % BLOCK:
        raise SimulationError(f"first: expected the start of a block, a multiple of {BLOCK}, not {first!r}")
    numbers = range(first, first + int(trials))
    problems = [problem] * len(numbers) if isinstance(problem, Problem) else _own_problems(problem, numbers, seed)
    wanted = policies_for(problems[0].objective) if policies is None else policies
    chosen = [policy(p) for p in ([wanted] if isinstance(wanted, str) else wanted)]
    named = _named(chosen, problems[0])
    compiled = {name: made.compile(problems[0]) for name, made in named.items()}
    return Match(problems, _worlds(world, problems, seed, first), named, compiled, seed, first)


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
    """The costs of every trial; rules are drawn, each arm from its own number."""
    arms = len(problems[0].arms)
    blocks = range(first // BLOCK, -(-(first + len(problems)) // BLOCK))
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


def _named(chosen: Sequence[Policy], problem: Problem) -> dict[str, Policy]:
    fitting = policies_for(problem.objective)
    if not chosen:
        raise SimulationError(
            f"policies: name at least one; for {problem.objective} regret there are {listing(fitting)}"
            if fitting
            else f"this version has no policy for {problem.objective} regret"
        )
    found: dict[str, Policy] = {}
    for made in chosen:
        name = spec_of(made)
        if name in found:
            raise SimulationError(f"policies: {name} is named twice")
        if made.objective != problem.objective:
            wanted = f"but the problem asks for {problem.objective}"
            raise SimulationError(f"policies: {name} is for {made.objective} regret, {wanted}")
        found[name] = made
    return found


def _grid(values: float | Sequence[float], what: str) -> tuple[float, ...]:
    try:
        given = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        given = np.zeros(0)
    if not len(given) or not (np.isfinite(given) & (given > 0)).all():
        raise SimulationError(f"{what}: expected positive numbers, not {values!r}")
    return tuple(sorted(set(given.tolist())))


def _worlds(world: World | Callable[[int], World], problems: Sequence[Problem], seed: int, first: int) -> World:
    if isinstance(world, World):
        fitted = world.fit(problems[0])
        if fitted.trials not in (1, len(problems)):
            raise SimulationError(f"the world is a batch of {fitted.trials}, but there are {len(problems)} trials")
        return fitted
    return World.stack(world(trial_seed(seed, "world", i)).fit(p) for i, p in enumerate(problems, first))


def _batches(trials: int, size: int) -> list[range]:
    """The trials in whole blocks, so many of them at a time."""
    whole = max(BLOCK, size // BLOCK * BLOCK)
    return [range(start, min(start + whole, trials)) for start in range(0, trials, whole)]


def _play_all(
    match: Match,
    settings: Sequence[Setting],
    executor: Executor | Submits | None,
    progress: Callable[[str, float], None] | None,
    logs: Mapping[str, Logged],
) -> dict[str, Played]:
    """Every policy on every batch, joined again in the order of the trials."""
    jobs = [(name, made, i) for name, made in match.policies.items() for i in range(len(settings))]
    submit = executor.submit if executor else None
    futures = [submit(play, made, settings[i], None, logs.get(name)) for name, made, i in jobs] if submit else None
    parts: dict[str, list[Played]] = {name: [] for name in match.policies}
    for job, (name, made, i) in enumerate(jobs):
        report, known = None if progress is None else _reporter(progress, name, i, len(settings)), logs.get(name)
        found = futures[job].result() if futures else play(made, settings[i], report, known, match.compiled[name])
        parts[name].append(found)
        if progress is not None:
            progress(name, (i + 1) / len(settings))
    return {
        name: Played(*(np.concatenate(arrays) for arrays in zip(*found, strict=True))) for name, found in parts.items()
    }


def _read_logs(match: Match, world: World | Callable[[int], World], evidence: Data) -> dict[str, Logged]:
    """What the log says to each policy that can start from one; the others are published without a rule for that."""
    if not isinstance(world, World) or world.trials > 1:
        raise SimulationError(
            "evidence: a log comes from one world, but here every trial has a world of its own; simulate one world "
            "for all trials (in a problem file, a [world] without redraw), or hand the log to a study"
        )
    source = open_file(Path(evidence)) if isinstance(evidence, str | Path) else open_source(evidence)
    problem = match.problem
    logs = {
        name: read_log(problem, source, Layout(problem, match.compiled[name].tables))
        for name, made in match.policies.items()
        if made.reads_logs
    }
    if not logs:
        able = listing(name for name in policies_for(problem.objective) if policy(name).reads_logs)
        raise SimulationError(f"evidence: none of these policies can start from a log; {able} can")
    return logs


def _reporter(progress: Callable[[str, float], None], name: str, i: int, parts: int) -> Callable[[float], None]:
    return lambda share: progress(name, (i + share) / parts)


def _optimum(match: Match, costs: Array, budgets: tuple[float, ...]) -> tuple[Array, str]:
    """What the best choice with known means earns, with axes (trial, budget), and how it was computed."""
    if match.problem.objective == "simple":
        return match.utility.max(axis=1, keepdims=True).repeat(len(budgets), axis=1), "best arm"
    return regret.optimum(match.utility, costs, budgets)


def _results(
    match: Match,
    axis: Axis,
    grid: tuple[float, ...],
    costs: Array,
    played: dict[str, Played],
    best: Array,
    how: str,
) -> Results:
    problem, utility = match.problem, match.utility
    scale = max(problem.reward_values) - min(problem.reward_values)
    found = regret.earned if problem.objective == "cumulative" else regret.of_recommended
    return Results(
        objective=problem.objective,
        axis=axis,
        grid=grid,
        arms=tuple(map(str, problem.arms)),
        optimum=how,
        regret={name: (best - found(p.pulls, p.recommended, utility)) * scale for name, p in played.items()},
        spent={name: (p.pulls * costs).sum(axis=2) for name, p in played.items()},
        pulls={name: p.pulls for name, p in played.items()},
        recommended={name: p.recommended for name, p in played.items()},
        contradicted={name: p.contradicted for name, p in played.items()},
        broken={name: p.broken for name, p in played.items()},
        promises={name: tuple(made.independencies) for name, made in match.compiled.items()},
    )
