"""`plan`: a policy in many worlds that may be the user's, each with a log as long as the user's.

The worlds agree with the graph and, where there is a log, with the log (`worlds.from_log`). In each of them a log of
the same size is drawn, the policy starts from it, and the truth is known. So the averages over the worlds say what to
expect of a budget: they are as good as the assumption behind the worlds, which the plan states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dobandit import worlds
from dobandit.arrays import Array, Flags, Indices
from dobandit.errors import DobanditError, SimulationError
from dobandit.evidence import Data, Layout, fit, open_source, read_log
from dobandit.numerals import number
from dobandit.planning.plans import Outlook, Plan
from dobandit.policies import RECOMMENDED, PolicyLike, policy
from dobandit.problem import Problem, is_positive
from dobandit.simulation import (
    BATCH,
    LogRows,
    Progress,
    Results,
    Submits,
    above_worst,
    draw_costs,
    simulate,
    standard_error,
    trial_seed,
)
from dobandit.worlds import World

TRIALS = 256  # worlds: then a chance has a standard error of at most 0.03
WITHIN = 0.02  # of the range of the reward
STEPS, SMALLEST, LARGEST = (
    2,
    -4,
    3,
)  # of the usual budgets: so many for each doubling, from 1/16 to 8 times the problem's
MOST_PULLS = 20_000  # of the cheapest arm with the largest of the usual budgets
USUAL_LOGS = (1_000, 10_000)  # rows of logs to compare with having none
LONGER = 10  # times as many rows of a log to compare with the one at hand
EQUAL = 1e-9


def plan(
    problem: Problem,
    evidence: Data | None = None,
    budgets: Sequence[float] | None = None,
    policies: Iterable[PolicyLike] | None = None,
    within: float | None = None,
    chance: float = 0.9,
    trials: int = TRIALS,
    seed: int = 0,
    *,
    executor: Submits | None = None,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Plan:
    """How the regret, the chance to name the best option and the chance to be close to it grow with the budget.

    Parameters
    ----------
    problem
        The problem. A world that it describes is not used: of your world you know the graph, and what the log says.
    evidence
        A log: anything that `effect` reads. The worlds agree with its plain observations, and each of them has a log of
        the same size. Without a log, the worlds are random ones on the graph.
    budgets
        The budgets to compare; default: from a sixteenth to eight times the problem's.
    policies
        Policies as for `simulate`; default: the recommended one.
    within
        The loss that is accepted, in the units of the reward; default: 0.02 of the range of the reward.
    chance
        The chance to be within this loss that is asked for.
    trials, seed
        How many worlds, and the seed of everything.
    executor, batch, progress
        As for `simulate`.

    Returns
    -------
    Plan
        `rows` (also as `to_dicts()` and `to_frame()`), `needed`, sentences (`told()`) and a figure (`plot()`).
    """
    if not 0 < chance < 1:
        raise SimulationError(f"chance: expected a number between 0 and 1, not {chance!r}")
    problem.require_values()
    made = _worlds(problem, evidence, trials, seed)
    players = [policy(each) for each in ([RECOMMENDED[problem.objective]] if policies is None else policies)]
    log = _log_rows(problem, evidence)
    loss = WITHIN * _range(problem, made) if within is None else within
    if not is_positive(loss):
        raise SimulationError(f"within: expected a positive number, not {loss!r}")
    trial = _Trial(problem, made, trials, seed, loss, executor, batch, progress)
    grid = _usual_budgets(problem) if budgets is None else budgets
    rows = trial.outlooks(players, grid, log)
    first = rows[0].policy
    compared = policy(first).reads_logs and any(row.budget == problem.budget for row in rows)
    others = _other_logs(problem, log) if compared else []
    return Plan(
        problem.objective,
        rows,
        [row for other in others for row in trial.outlooks([policy(first)], [problem.budget], other)],
        0 if log is None else log.total,
        loss,
        chance,
        trials,
        _assumptions(problem, made, log, trials) + ([] if within is not None else [_usual_limit(problem, loss)]),
    )


class _Trial(NamedTuple):
    """What is simulated, but for the policies, the budgets and the logs."""

    problem: Problem
    worlds: World
    trials: int
    seed: int
    within: float
    executor: Submits | None
    batch: int
    progress: Progress | None

    def outlooks(self, policies: Sequence[PolicyLike], budgets: Sequence[float], log: LogRows | None) -> list[Outlook]:
        reading = log if any(policy(each).reads_logs for each in policies) else None
        results = simulate(
            self.problem, self.worlds, policies, self.trials, self.seed, budgets, reading,
            executor=self.executor, batch=self.batch, progress=self.progress,
        )  # fmt: skip
        return [row for name in results.policies for row in self._of_policy(results, name, log)]

    def _of_policy(self, results: Results, name: str, log: LogRows | None) -> list[Outlook]:
        best, within = self._reached(results, name)
        return [
            Outlook(
                budget=budget,
                policy=name,
                regret=float(results.regret[name][:, k].mean()),
                se=standard_error(results.regret[name][:, k]),
                chance_best=float(best[:, k].mean()),
                chance_within=float(within[:, k].mean()),
                log_rows=log.total if log is not None and policy(name).reads_logs else 0,
            )
            for k, budget in enumerate(results.grid)
        ]

    def _reached(self, results: Results, name: str) -> tuple[Flags, Flags]:
        """Whether the best option was found, and whether the loss is small enough: axes (trial, budget)."""
        means = np.broadcast_to(above_worst(self.problem, self.worlds), (self.trials, len(self.problem.arms)))
        slack = EQUAL * max(float(np.ptp(means)), EQUAL)
        if self.problem.objective == "simple":
            loss = _behind(means, results.recommended[name])
            return loss <= slack, loss <= self.within + slack
        costs = draw_costs([self.problem] * self.trials, self.seed)
        favourite = (results.pulls[name] * costs[:, np.newaxis]).argmax(axis=2)
        per_unit = results.regret[name] / np.array(results.grid)
        return _behind(means / costs, favourite) <= slack, np.asarray(per_unit <= self.within + slack)


def _behind(scores: Array, chosen: Indices) -> Array:
    """How far the arms that were chosen are below the best: axes (trial, budget)."""
    return np.asarray(scores.max(axis=1, keepdims=True) - np.take_along_axis(scores, chosen, axis=1))


def _worlds(problem: Problem, evidence: Data | None, trials: int, seed: int) -> World:
    if evidence is not None:
        return worlds.from_log(problem, evidence, trials, seed)
    if not problem.has_range:
        raise DobanditError(
            f"{problem.reward} may be any number: give a log that shows how it varies, or the range of the reward"
        )
    draw: Callable[[int], World] = lambda i: worlds.random(  # noqa: E731
        problem.full_graph, trial_seed(seed, "world", i), problem.known_values
    )
    return World.stack(draw(i) for i in range(trials)).fit(problem)


def _log_rows(problem: Problem, evidence: Data | None) -> LogRows | None:
    """The size of the log, by what was done in its rows."""
    if evidence is None:
        return None
    found = read_log(problem, fit(open_source(evidence), problem), Layout(problem, ()))
    return LogRows(tuple(round(float(rows)) for rows in found.rows))


def _range(problem: Problem, made: World) -> float:
    """Of the reward; where it is not known, of the rewards in the log."""
    worth = np.array(problem.reward_values) if problem.has_range else made.worth(problem)
    return float(np.ptp(worth)) or 1.0


def _usual_budgets(problem: Problem) -> list[float]:
    """From a few pulls to eight times the problem's budget, which is one of them."""
    costs = draw_costs([problem], 0)
    most = max(problem.budget, MOST_PULLS * float(costs.min()))
    steps = range(STEPS * SMALLEST, STEPS * LARGEST + 1)
    found = [float(f"{problem.budget * 2 ** (step / STEPS):.2g}") for step in steps if step]
    return sorted({problem.budget, *(budget for budget in found if costs.max() <= budget <= most)})


def _other_logs(problem: Problem, log: LogRows | None) -> list[LogRows | None]:
    """No log and a longer one, or where there is none two logs."""
    if log is None:
        return [LogRows.plain(rows, problem) for rows in USUAL_LOGS]
    return [None, log.times(LONGER)]


def _usual_limit(problem: Problem, loss: float) -> str:
    return (
        f"The limit of {number(loss, 3)} is {WITHIN:.0%} of the range of {problem.reward}; set your own with --within."
    )


def _assumptions(problem: Problem, made: World, log: LogRows | None, trials: int) -> list[str]:
    """What the numbers rest on, in sentences."""
    if log is None:
        found = [f"Means over {trials:,} random worlds on your graph; without a log, nothing more is known."]
        if problem.reward_is_continuous:
            found.append(
                f"In these worlds {problem.reward} is at one of the ends of its range, which is the most noise."
            )
        return found
    found = [
        f"Means over {trials:,} worlds on your graph that agree with the log, each with a log of the same size.",
        "What the log leaves open is drawn at random: each <-> is a hidden cause with up to four values.",
    ]
    if problem.reward_is_continuous:
        found.append(f"The numbers of {problem.reward} are grouped into {len(made.domains[problem.reward])} values.")
    return found
