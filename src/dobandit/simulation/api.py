"""`simulate`: policies against each other, on the same worlds, with the same costs and the same luck."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dobandit.arrays import Array
from dobandit.chance import BLOCK
from dobandit.errors import SimulationError
from dobandit.evidence import Data, Logged
from dobandit.policies import PolicyLike
from dobandit.problem import ROUNDING, Axis, Cost, Objective, Problem, Stop, StopLike
from dobandit.simulation import regret
from dobandit.simulation.engine import Played, play
from dobandit.simulation.logs import LogRows, read_logs
from dobandit.simulation.match import Match, ProblemLike, WorldLike, draw_costs, matched
from dobandit.simulation.parallel import Submits, carried_out
from dobandit.simulation.results import ARRAYS, Results
from dobandit.simulation.spending import Stopping

BATCH = 16 * BLOCK  # trials that run in one batch
PLANNED = 8  # times as many rows where policies plan ahead
Progress = Callable[[str, float], None]  # what is worked on (a policy, a panel), and the share of it that is done


def simulate(
    problem: ProblemLike,
    world: WorldLike,
    policies: Iterable[PolicyLike] | None = None,
    trials: int = 100,
    seed: int = 0,
    budgets: Sequence[float] | None = None,
    evidence: Data | int | LogRows | None = None,
    *,
    stop: StopLike | None = None,
    first: int = 0,
    executor: Submits | None = None,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Results:
    """Run policies on a problem's world, many trials in lock step.

    All policies meet the same worlds, costs and outcomes. Results do not depend on `executor`, on `batch`, or on which
    other policies run.

    Parameters
    ----------
    problem
        One problem for all trials, or a function of a seed that makes each trial's own: the same graph and arms, but
        costs may differ. Costs that are rules are drawn for each trial.
    world
        One world for all trials, or a function of a seed that makes each trial's own. Or any object with a method
        `sample(arm, n, rng)`: then regret is estimated, and the results say so (`worlds.from_simulator`).
    policies
        Names, such as `"f-kube"` or `"f-kube[as_published=true]"`, policies of your own, or functions
        `choose(counts, rewards, costs)`; default: all of dobandit's for the objective.
    trials
        How many trials.
    seed
        Of worlds, costs, outcomes and the choices of policies.
    budgets
        The budgets to compare; default: the problem's.
    evidence
        A log that costs nothing: anything that `effect` reads, or the path of a file. It comes from one world, so there
        must be one for all trials. Or a number of rows: then every trial has a log of so many plain observations, drawn
        from its own world. Policies that cannot start from a log run without it.
    stop
        A stopping rule, as `stop` of `Problem`; the rule of the problem itself is for studies. Trials that it ends have
        their answer as the recommended arm. For cumulative regret the rest of their budget goes to that arm, but is
        not counted as spent.
    first
        The number of the first trial, a multiple of 64: trials 0 to 127 are trials 0 to 63 and, with `first=64`, 64
        trials more.
    executor
        Anything with `submit`, such as a pool of processes, that does the work.
    batch
        How many trials run in one batch.
    progress
        Called with a policy's name and the share of its work that is done.

    Returns
    -------
    Results
        Regret, money and pulls of every policy, in every trial, for every budget.
    """
    match = matched(problem, world, policies, trials, seed, first)
    match = match._replace(stop=match.problem.with_stop(stop).stop)
    logs = {} if evidence is None else read_logs(match, world, evidence)
    grid = _grid(match.problem.budget if budgets is None else budgets, "budgets")
    # A policy that plans ahead has a row for every budget, but few decisions: larger batches suit it.
    ahead = any(p.depends_on_budget for p in match.policies.values())
    costs = draw_costs(match.problems, seed, first)[:, np.newaxis]
    size = PLANNED * batch // len(grid) if ahead else batch
    return _simulated(match, "budget", grid, _Work(costs, grid, size, executor, progress, logs))


def simulate_costs(
    problem: Problem,
    world: WorldLike,
    costs: Sequence[float],
    policies: Iterable[PolicyLike] | None = None,
    trials: int = 100,
    seed: int = 0,
    *,
    first: int = 0,
    batch: int = BATCH,
) -> Results:
    """The same against the cost of intervening.

    All costs run in the same batch; trial i has the same world and the same luck at every cost.

    Parameters
    ----------
    problem
        The problem; its budget is that of every cost.
    costs
        The costs to compare: each is that of every intervention.
    world, policies, trials, seed, first, batch
        As for `simulate`.

    Returns
    -------
    Results
        Regret, money and pulls of every policy, in every trial, for every cost.
    """
    match = matched(problem, world, policies, trials, seed, first)
    grid = _grid(costs, "costs")
    priced = draw_costs(match.problems, seed, first)[:, np.newaxis].repeat(len(grid), axis=1)
    priced[:, :, 1:] = np.array(grid)[np.newaxis, :, np.newaxis]
    size = max(BLOCK, batch // len(grid))
    return _simulated(match, "cost", grid, _Work(priced, (problem.budget,), size, None, None, {}))


def _grid(values: float | Sequence[float], what: str) -> tuple[float, ...]:
    return tuple(sorted(set(positive(values, what).tolist())))


def positive(values: ArrayLike | Sequence[Cost], what: str) -> Array:
    """A number or several, all of them positive."""
    try:
        given = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.ndim != 1 or not len(given) or not (np.isfinite(given) & (given > 0)).all():
        raise SimulationError(f"{what}: expected positive numbers, not {values!r}")
    return given


class _Work(NamedTuple):
    """What is to be played, and how."""

    costs: Array  # axes: trial, cost of intervening (one or more), arm
    budgets: tuple[float, ...]  # one or more; only one of several costs
    batch: int
    executor: Submits | None
    progress: Progress | None
    logs: Mapping[str, Logged]

    @property
    def places(self) -> int:
        """Of the grid."""
        return len(self.budgets) * int(self.costs.shape[1])

    def log(self, name: str, trials: range) -> Logged | None:
        """What a policy starts from in these trials."""
        return self.logs[name].take(np.arange(trials.start, trials.stop)) if name in self.logs else None

    def reporter(self, name: str, i: int, parts: int) -> Callable[[float], None] | None:
        """How batch i of a policy says how far it is; one that runs elsewhere cannot."""
        tell = self.progress
        return None if tell is None or self.executor else lambda share: tell(name, (i + share) / parts)


def _simulated(match: Match, axis: Axis, grid: tuple[float, ...], work: _Work) -> Results:
    problem, utility = match.problem, match.utility
    played, (best, how) = _play_all(match, work), _optimum(problem, utility, work)
    earned = {
        name: regret.found(problem.objective, _with_rest(p, work), p.recommended, utility) for name, p in played.items()
    }
    same: dict[str, Any] = {field: {name: getattr(p, field) for name, p in played.items()} for field in ARRAYS[2:]}
    return Results(
        objective=problem.objective,
        axis=axis,
        grid=grid,
        arms=tuple(map(str, problem.arms)),
        optimum=how,
        regret={name: best - found for name, found in earned.items()},
        spent={name: (p.pulls * work.costs).sum(axis=2) for name, p in played.items()},
        estimated=match.worlds.estimated,
        independencies={name: tuple(made.independencies) for name, made in match.compiled.items()},
        stopping=None if match.stop is None else _stopping(match.stop, played, utility, work, problem.objective),
        **same,
    )


def _with_rest(played: Played, work: _Work) -> Array:
    """All pulls, and those that the rest of the money pays for where a trial was stopped: they go to its answer."""
    if not played.stopped.any():
        return played.pulls
    left = np.array(work.budgets) - (played.pulls * work.costs).sum(axis=2)
    price = np.take_along_axis(np.broadcast_to(work.costs, played.pulls.shape), played.recommended[..., np.newaxis], 2)
    more = np.where(played.stopped, np.floor(left * (1 + ROUNDING) / price[..., 0]), 0.0)
    pulls = played.pulls.copy()
    at = np.take_along_axis(pulls, played.recommended[..., np.newaxis], 2) + more[..., np.newaxis]
    np.put_along_axis(pulls, played.recommended[..., np.newaxis], at, 2)
    return pulls


def _stopping(rule: Stop, played: Mapping[str, Played], utility: Array, work: _Work, objective: Objective) -> Stopping:
    """What the rule did, and how far the answers are below the best arm."""
    value = utility[:, np.newaxis] / (work.costs if objective == "cumulative" else np.ones_like(work.costs))
    best = value.max(axis=2)
    gaps = {}
    for name, p in played.items():
        every = np.broadcast_to(value, p.pulls.shape)
        gaps[name] = best - np.take_along_axis(every, p.recommended[..., np.newaxis], 2)[..., 0]
    return Stopping(rule, {name: p.stopped for name, p in played.items()}, gaps)


def _play_all(match: Match, work: _Work) -> dict[str, Played]:
    """Every policy on every batch, joined in the order of the trials, with the grid as the second axis."""
    trials, size = len(match.problems), max(BLOCK, work.batch // BLOCK * BLOCK)  # batches are whole blocks
    parts = [range(start, min(start + size, trials)) for start in range(0, trials, size)]
    settings = [match.setting(part, work.costs[part.start : part.stop], work.budgets) for part in parts]
    jobs = [(name, i) for name in match.policies for i in range(len(parts))]
    here = {} if work.executor else match.compiled  # what is compiled is not sent elsewhere
    calls = [
        (
            match.policies[name],
            settings[i],
            work.reporter(name, i, len(parts)),
            work.log(name, parts[i]),
            here.get(name),
        )
        for name, i in jobs
    ]
    found: dict[str, list[Played]] = {name: [] for name in match.policies}
    for (name, i), played in zip(jobs, carried_out(play, calls, work.executor), strict=True):
        found[name].append(played)
        if work.progress is not None:
            work.progress(name, (i + 1) / len(parts))
    shape = trials, work.places
    return {
        name: Played(*(np.concatenate(one).reshape(*shape, *one[0].shape[2:]) for one in zip(*of, strict=True)))
        for name, of in found.items()
    }


def _optimum(problem: Problem, utility: Array, work: _Work) -> tuple[Array, str]:
    """What the best choice with known means earns, with axes (trial, place on the grid), and how it was computed."""
    if problem.objective == "simple":
        return utility.max(axis=1, keepdims=True).repeat(work.places, axis=1), "best arm"
    found = [regret.optimum(utility, costs, work.budgets) for costs in np.moveaxis(work.costs, 1, 0)]
    how = "knapsack" if all(how == "knapsack" for _, how in found) else found[-1][1]
    return np.concatenate([best for best, _ in found], axis=1), how
