"""The lock-step engine: one policy, many trials, one decision at a time for all of them.

A row of the batch is a trial with a budget. It is asked for an arm and how often to pull it; then all its pulls are
made at once. Rows whose money no longer pays for any arm retire, and so do those whose policy stops. The chance of an
outcome belongs to the trial and the number of the pull, so rows need not have made the same number of pulls.

Most policies do not look at the budget while they can afford everything, so a run with the largest budget is at first
also the run with every smaller one: when a smaller budget becomes too short for the dearest arm, a row is split off
that lives on with that budget. So one run gives the whole curve, exactly. Policies that plan ahead have a row for
every budget from the start; but what rows of one trial do first with the same arm they do together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import STRETCH, Chance
from dobandit.errors import PolicyError
from dobandit.evidence import CountTable, Evidence, Layout, Logged
from dobandit.policies import STOP, Choice, Compiled, Policy, View, spec_of
from dobandit.problem import Problem, Stop
from dobandit.simulation.nature import Nature
from dobandit.simulation.rows import NEVER, UNANSWERED, Rows, for_every_budget, payable, pulls_at_once, split_off
from dobandit.simulation.stopping import Watch, next_look
from dobandit.worlds import World

TOGETHER = 2**24  # cells of retired rows for which recommendations are made at once
GRADIENTS = 2**23  # numbers that a recommendation may need at once: a cell of a row counts once for every arm


class Setting(NamedTuple):
    """What is simulated together: trials with their worlds, costs and budgets."""

    problem: Problem
    world: World  # one world for all trials, or a batch of them; values as in the problem
    whose: Indices  # which of these worlds each trial lives in
    trials: Indices  # their numbers, which say what chance they meet
    costs: Array  # axes: trial, arm
    budgets: tuple[float, ...]  # ascending
    seed: int
    stop: Stop | None = None  # when trials stop before their money is spent


class Played(NamedTuple):
    """What a policy did and noticed, with axes (trial, budget) and a third one where it says so."""

    pulls: Array  # by arm
    recommended: Indices
    contradictions: Array  # by arm: how far its own rewards contradict the graph, in standard deviations
    violations: Array  # by independence that the graph implies: how far outcomes contradict it; 0: they do not
    stopped: Flags  # whether it was the stopping rule that ended it


def play(
    policy: Policy,
    setting: Setting,
    progress: Callable[[float], None] | None = None,
    logged: Logged | None = None,
    compiled: Compiled[Any] | None = None,
) -> Played:
    """Run a policy until all money is spent, or until it stops; it may start from logged evidence. It is compiled
    here unless that has been done."""
    run = _Run(policy, compiled or policy.compile(setting.problem), setting, logged)
    for step in count():
        run.rows = split_off(run.rows, setting.budgets)
        run.watch()
        run.decide()
        if not len(run.rows.trial):
            break
        run.pull()
        if progress is not None and step % 64 == 0:
            progress(float((run.rows.spent / run.rows.budget).min()))
    run.recommend()
    return run.played


class _Run:
    """A policy on its way through a setting."""

    def __init__(self, policy: Policy, compiled: Compiled[Any], setting: Setting, logged: Logged | None) -> None:
        self.policy, self.compiled, self.setting = policy, compiled, setting
        rule, problem = setting.stop, setting.problem
        self.watched = None if rule is None else Watch(rule, problem, policy, compiled, setting.seed)
        self.tables = Layout(problem, compiled.tables)  # those of the policy; what else is counted stands behind them
        self.rows = _start(policy, compiled, setting, logged, () if self.watched is None else self.watched.tables)
        self.nature = Nature(setting.problem, setting.world, setting.whose, setting.trials, setting.seed)
        self.chance = Chance(setting.seed, f"policy:{policy.name}")  # variants of a policy have the same luck
        shape = (len(setting.trials), len(setting.budgets))
        by_arm = (*shape, len(setting.problem.arms))
        recommended, violations = np.zeros(shape, dtype=np.intp), np.zeros((*shape, len(compiled.independencies)))
        self.played = Played(np.zeros(by_arm), recommended, np.zeros(by_arm), violations, np.zeros(shape, dtype=bool))
        self.retired: list[Rows] = []

    def watch(self) -> None:
        """Retire the rows whose stopping rule says so."""
        if self.watched is None or not len(index := self.watched.due(self.rows)):
            return
        asked = self.rows.take(index)
        recommended = self.compiled.recommend(self.view(asked, asked.affordable()), asked.state)
        trials = self.setting.trials[asked.trial]
        found = [self.watched.stops(asked, k, int(trials[k]), int(recommended[k])) for k in range(len(index))]
        self.rows.answer[index], self.rows.look[index] = found, next_look(asked.time)
        if len(ended := np.flatnonzero(self.rows.answer != UNANSWERED)):
            self.retired.append(for_every_budget(self.rows.take(ended), self.setting.budgets))
            self.rows = self.rows.take(np.delete(np.arange(len(self.rows.trial)), ended))

    def decide(self) -> None:
        """Ask the policy for the rows that need a decision; those that cannot or will not go on retire."""
        while len(index := self.rows.due()):
            asked = self.rows if len(index) == len(self.rows.trial) else self.rows.take(index)
            affordable = asked.affordable()
            ending = ~affordable.any(axis=1)
            if not ending.any():
                choice = self.compiled.choose(self.view(asked, affordable), asked.state, self.chance)
                ending = np.asarray(choice.arm == STOP)
                self._check(choice, ending, affordable)
                self.rows.remember(index, choice)
            if not ending.any():
                return
            self.retired.append(self.rows.take(index[ending]))
            self.rows = self.rows.take(np.delete(np.arange(len(self.rows.trial)), index[ending]))
            if sum(gone.evidence.counts.size for gone in self.retired) > TOGETHER:
                self.recommend()

    def _check(self, choice: Choice[Any], stops: Flags, affordable: Flags) -> None:
        paid = affordable[np.arange(len(affordable)), np.maximum(choice.arm, 0)]
        if not (paid | stops).all():
            raise PolicyError(f"{spec_of(self.policy)} chose an arm that it cannot pay; this is a bug in the policy")
        if choice.repeats is not None and not ((choice.repeats >= 1) | stops).all():
            raise PolicyError(f"{spec_of(self.policy)} asked for no pull at all; this is a bug in the policy")

    def recommend(self) -> None:
        """Record what the retired rows did, and what they recommend."""
        if not self.retired:
            return
        gone, self.retired = Rows.joined(self.retired), []
        together = max(1, GRADIENTS // (len(self.setting.problem.arms) * max(self.tables.size, 1)))
        for first in range(0, len(gone.trial), together):
            self._record(gone.take(np.arange(first, min(first + together, len(gone.trial)))))

    def _record(self, gone: Rows) -> None:
        view = self.view(gone, np.zeros(gone.pulls.shape, dtype=bool))
        self.played.pulls[gone.trial, gone.target] = gone.pulls
        self.played.recommended[gone.trial, gone.target] = self._answers(
            gone, self.compiled.recommend(view, gone.state)
        )
        self.played.stopped[gone.trial, gone.target] = gone.answer != UNANSWERED
        self.played.contradictions[gone.trial, gone.target] = self.compiled.contradictions(view, gone.state)
        self.played.violations[gone.trial, gone.target] = self.compiled.violations(view)

    def _answers(self, gone: Rows, recommended: Indices) -> Indices:
        """What rows that have ended recommend; with a stopping rule, what a study would answer."""
        if self.watched is None:
            return recommended
        trials, recommended = self.setting.trials[gone.trial], recommended.copy()
        for k in np.flatnonzero(gone.answer == UNANSWERED):
            recommended[k] = self.watched.answer(gone, int(k), int(trials[k]), int(recommended[k]))
        return np.where(gone.answer == UNANSWERED, recommended, gone.answer)

    def pull(self) -> None:
        """Every row carries out its decision, as far as its money allows and until a row must be split off."""
        rows = self.rows
        everybody = np.arange(len(rows.trial))
        if (rows.repeats_left == 1).all():
            rows.spent += rows.price
            self._outcomes(everybody, rows.time, rows.pulls[everybody, rows.arm])
            rows.time += 1
            rows.repeats_left = np.zeros_like(rows.repeats_left)
            return
        number = pulls_at_once(rows, self.setting.budgets)
        if not rows.time.any():
            self._begin_together(number)
        else:
            self._pull_in_stretches(everybody, rows.time, number)
        rows.time += number
        rows.repeats_left = np.where(number < payable(rows), rows.repeats_left - number, 0)
        rows.spent = (rows.pulls * rows.costs).sum(axis=1)

    def _begin_together(self, number: Indices) -> None:
        """The first decision: where rows of a trial begin with the same arm, the one that pulls it the least goes
        first, and the next one goes on from there."""
        rows, trials = self.rows, self.setting.trials[self.rows.trial]
        order = np.lexsort((number, rows.arm, trials))
        begins = np.append(True, (np.diff(trials[order]) != 0) | (np.diff(rows.arm[order]) != 0))
        rank = np.arange(len(order)) - np.flatnonzero(begins)[begins.cumsum() - 1]
        for r in range(int(rank.max()) + 1):
            places = np.flatnonzero(rank == r)
            index, before = order[places], order[places - 1]
            if r:
                rows.evidence.copy_rows(before, index)
            first = number[before] if r else np.zeros(len(index), dtype=np.intp)
            self._pull_in_stretches(index, first, number[index] - first)

    def _pull_in_stretches(self, index: Indices, first: Indices, number: Indices) -> None:
        """So many pulls of each of these rows, beginning with pull number `first`."""
        if not len(index):
            return
        for stretch in range(int(first.min()) // STRETCH, int((first + number).max()) // STRETCH + 1):
            low = np.maximum(first, stretch * STRETCH)
            many = np.maximum(np.minimum(first + number, (stretch + 1) * STRETCH) - low, 0)
            at = np.repeat(index, many)
            if len(at):
                step = np.arange(len(at)) - np.repeat(many.cumsum() - many, many)
                done = self.rows.pulls[at, self.rows.arm[at]]
                self._outcomes(at, np.repeat(low, many) + step, done + step)

    def _outcomes(self, at: Indices, times: Indices, number: Array) -> None:
        """Add outcomes to the evidence: of which rows, in which of their pulls, and their numbers among those of the
        arm."""
        arms = self.rows.arm[at]
        codes, reward = self.nature.answer(self.rows.trial[at], arms, times)
        self.rows.evidence.add(at, arms, codes[:, self.nature.seen], reward, number.astype(np.intp))

    def view(self, rows: Rows, affordable: Flags) -> View:
        told = rows.evidence.told.copy()  # a policy may remember it while the evidence grows
        evidence = replace(rows.evidence, told=told)
        if evidence.layout.size > self.tables.size:
            evidence = replace(evidence, layout=self.tables, counts=evidence.counts[:, : self.tables.size])
        return View(
            problem=self.setting.problem,
            evidence=evidence,
            trials=self.setting.trials[rows.trial],
            times=rows.time.copy(),
            costs=rows.costs,
            budget=rows.budget,
            left=rows.budget - rows.spent,
            affordable=affordable,
            pulls=told,
        )


def _start(
    policy: Policy, compiled: Compiled[Any], setting: Setting, logged: Logged | None, also: Sequence[CountTable]
) -> Rows:
    """One row for each trial on the largest budget; one for each trial and budget where the policy plans ahead. `also`
    are tables that are counted behind those of the policy."""
    n, budgets = len(setting.trials), np.array(setting.budgets)
    last = len(budgets) - 1
    shared = not policy.depends_on_budget
    trial = np.arange(n) if shared else np.repeat(np.arange(n), len(budgets))
    target = np.full(n, last) if shared else np.tile(np.arange(len(budgets)), n)
    rows = len(trial)
    costs = setting.costs[trial]
    evidence = Evidence.none(setting.problem, (*compiled.tables, *also), rows)
    if logged is not None:
        evidence.add_logged(logged.take(trial))
    return Rows(
        trial=trial,
        target=target,
        next=np.full(rows, 0 if shared else last),
        costs=costs,
        dearest=costs.max(axis=1),
        budget=budgets[target],
        spent=np.zeros(rows),
        evidence=evidence,
        logged=evidence.told.copy(),
        time=np.zeros(rows, dtype=np.intp),
        arm=np.zeros(rows, dtype=np.intp),
        repeats_left=np.zeros(rows, dtype=np.intp),
        look=np.full(rows, NEVER if setting.stop is None else 0),
        answer=np.full(rows, UNANSWERED),
        state=compiled.start(rows),
    )
