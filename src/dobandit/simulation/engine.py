"""The lock-step engine: one policy, many trials, one pull at a time for all of them.

A row of the batch is a trial with a budget. A row whose policy asked to repeat its arm is left alone until that is
done; all others are asked for their next arm. Rows whose money no longer pays for any arm retire, and so do those
whose policy stops.

Most policies do not look at the budget while they can afford everything, so a run with the largest budget is at first
also the run with every smaller one: when a smaller budget becomes too short for the dearest arm, a row is split off
that lives on with that budget. So one run gives the whole curve, exactly. Policies that plan ahead have a row for
every budget from the start; but while several rows of a trial carry out the same first decision they see the same, so
one of them does it for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.chance import Chance
from dobandit.errors import PolicyError
from dobandit.evidence.tally import Layout
from dobandit.policies import Policy, View
from dobandit.policies.protocol import STOP, Choice
from dobandit.policies.registry import spec_of
from dobandit.problem import Problem
from dobandit.worlds import World

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

ROUNDING = 1e-9  # of a budget: less than this is not money
ALONE = -1
NEARLY = 1.001  # times the dearest arm: up to here nobody needs to look at the money closely


class Setting(NamedTuple):
    """What is simulated together: trials with their worlds, costs and budgets."""

    problem: Problem
    world: World  # one world for all trials, or a batch of them; values as in the problem
    whose: Indices  # which of these worlds each trial lives in
    trials: Indices  # their numbers, which say what chance they meet
    costs: Array  # axes: trial, arm
    budgets: tuple[float, ...]  # ascending
    seed: int


class Played(NamedTuple):
    """What a policy did, with axes (trial, budget) and, for pulls, arm."""

    pulls: Array
    recommended: Indices


@dataclass
class Rows:
    """The books of a batch. Every field is an array with the row as its first axis, or a tuple of such."""

    trial: Indices  # place among the trials of the setting
    target: Indices  # which budget the row lives on
    next: Indices  # the smallest budget that has not been split off yet
    costs: Array
    dearest: Array  # the largest cost of each row
    budget: Array
    spent: Array
    pulls: Array
    rewards: Array
    counts: Array
    arm: Indices  # the last choice
    again: Indices  # how often it is still to be pulled
    leader: Indices  # the row that begins for this one, by its first place; later ALONE
    state: Any

    def prices(self) -> Array:
        """The cost of the last choice."""
        found: Array = np.take_along_axis(self.costs, self.arm[:, np.newaxis], axis=1)[:, 0]
        return found

    def due(self) -> Indices:
        """The rows that need a decision: theirs is carried out, or cannot be paid any more."""
        if not self.again.any():
            return np.arange(len(self.trial))
        return np.flatnonzero((self.again == 0) | (self.prices() > self.budget * (1 + ROUNDING) - self.spent))

    def remember(self, index: Indices, choice: Choice) -> None:
        """The decision of these rows."""
        again = np.ones(len(index), dtype=np.intp) if choice.repeats is None else choice.repeats
        if len(index) == len(self.trial):
            self.arm, self.again, self.state = choice.arms, again, choice.state
            return
        self.arm[index], self.again[index] = choice.arms, again
        self.state = type(self.state)(
            *(_replaced(old, index, new) for old, new in zip(self.state, choice.state, strict=True))
        )

    def affordable(self) -> NDArray[np.bool_]:
        """The arms that each row can pay."""
        if (self.budget - self.spent >= NEARLY * self.dearest).all():
            return np.ones(self.costs.shape, dtype=bool)
        self.spent = (self.pulls * self.costs).sum(axis=1)  # afresh: many small sums have drifted a little
        return self.costs <= (self.budget * (1 + ROUNDING) - self.spent)[:, np.newaxis]

    def take(self, index: Indices) -> Rows:
        """These rows only, or some of them twice."""
        kept = {name: value[index] for name, value in vars(self).items() if name != "state"}
        return Rows(**kept, state=type(self.state)(*(part[index] for part in self.state)))

    def joined(self, others: Rows) -> Rows:
        """These rows and those."""
        both = {k: np.concatenate([v, vars(others)[k]]) for k, v in vars(self).items() if k != "state"}
        state = (np.concatenate(parts) for parts in zip(self.state, others.state, strict=True))
        return Rows(**both, state=type(self.state)(*state))


def play(policy: Policy, setting: Setting, progress: Callable[[float], None] | None = None) -> Played:
    """Run a policy until all money is spent, or until it stops."""
    run = _Run(policy, setting)
    if not policy.ignores_budget:
        run.begin_together()
    while len(run.rows.trial):
        run.rows = _split_off(run.rows, setting)
        run.join()
        run.decide()
        run.pull()
        if progress is not None and run.time % 64 == 0 and len(run.rows.trial):
            progress(float((run.rows.spent / run.rows.budget).min()))
    return run.played


class _Run:
    """A policy on its way through a setting."""

    def __init__(self, policy: Policy, setting: Setting) -> None:
        self.policy, self.setting = policy, setting
        self.layout = Layout(setting.problem, policy.tables(setting.problem))
        self.rows, self.nature = _start(policy, setting, self.layout), _Nature(setting)
        self.chance = Chance(setting.seed, f"policy:{spec_of(policy)}")
        shape = (len(setting.trials), len(setting.budgets))
        self.played = Played(np.zeros((*shape, len(setting.problem.arms))), np.zeros(shape, dtype=np.intp))
        self.waiting, self.joins = self.rows.take(np.zeros(0, dtype=np.intp)), np.zeros(0)
        self.time = 0

    def begin_together(self) -> None:
        """The first decision of all rows. Of the rows of a trial that begin with the same arm only the one that
        repeats it longest goes on; the others join when they have seen enough."""
        self.decide()
        rows = self.rows
        payable = np.floor(rows.budget * (1 + ROUNDING) / rows.prices())
        joins = np.minimum(rows.again, payable)
        numbers = self.setting.trials[rows.trial]
        order = np.lexsort((-joins, rows.arm, numbers))
        begins = np.append(True, np.diff(numbers[order]) | np.diff(rows.arm[order]))[: len(order)].astype(bool)
        rows.leader[order] = order[begins][begins.cumsum() - 1]
        follows = rows.leader != np.arange(len(order))
        self.waiting, self.joins = rows.take(np.flatnonzero(follows)), joins[follows]
        self.rows = rows.take(np.flatnonzero(~follows))

    def join(self) -> None:
        """The rows that have seen enough of what their leader sees go on by themselves."""
        due = np.flatnonzero(self.joins == self.time)
        if not len(due):
            return
        joining = self.waiting.take(due)
        order = self.rows.leader.argsort()
        leaders = order[np.searchsorted(self.rows.leader, joining.leader, sorter=order)]
        joining.pulls, joining.rewards = self.rows.pulls[leaders], self.rows.rewards[leaders]
        joining.counts = self.rows.counts[leaders]
        joining.spent = joining.prices() * self.time
        joining.again -= self.time
        joining.leader[:] = ALONE
        self.rows = self.rows.joined(joining)

    def decide(self) -> None:
        """Ask the policy for the rows that need a decision; those that cannot or will not go on retire."""
        while len(index := self.rows.due()):
            asked = self.rows if len(index) == len(self.rows.trial) else self.rows.take(index)
            affordable = asked.affordable()
            ending = ~affordable.any(axis=1)
            if not ending.any():
                choice = self.policy.choose(self.view(asked, affordable), asked.state, self.chance)
                ending = np.asarray(choice.arms == STOP)
                self._check(choice, affordable)
                self.rows.remember(index, choice)
            if ending.any():
                self.retire(index[ending])

    def _check(self, choice: Choice, affordable: NDArray[np.bool_]) -> None:
        stops = np.asarray(choice.arms == STOP)
        paid = affordable[np.arange(len(affordable)), np.maximum(choice.arms, 0)]
        if not (paid | stops).all():
            raise PolicyError(f"{spec_of(self.policy)} chose an arm that it cannot pay; this is a bug in the policy")
        if choice.repeats is not None and not ((choice.repeats >= 1) | stops).all():
            raise PolicyError(f"{spec_of(self.policy)} asked for no pull at all; this is a bug in the policy")

    def retire(self, index: Indices) -> None:
        """Record what these rows did, and go on without them."""
        gone = self.rows.take(index)
        view = self.view(gone, np.zeros(gone.pulls.shape, dtype=bool))
        self.played.pulls[gone.trial, gone.target] = gone.pulls
        self.played.recommended[gone.trial, gone.target] = self.policy.recommend(view, gone.state)
        self.rows = self.rows.take(np.delete(np.arange(len(self.rows.trial)), index))

    def pull(self) -> None:
        """Everybody pulls an arm."""
        rows = self.rows
        if not len(rows.trial):
            return
        codes, reward = self.nature.answer(rows, rows.arm, self.time)
        place = np.arange(len(rows.arm)) * rows.costs.shape[1] + rows.arm  # of the chosen arm, in flat rows
        pulls = rows.pulls.reshape(-1)
        telling = np.flatnonzero(self.layout.counts_arm[rows.arm])
        number = pulls[place[telling]].astype(np.intp)
        seen = codes[telling][:, self.nature.seen]
        self.layout.add(rows.counts, telling, rows.arm[telling], seen, reward[telling], number)
        pulls[place] += 1
        rows.rewards.reshape(-1)[place] += reward
        rows.spent += rows.costs.reshape(-1)[place]
        rows.again -= 1
        self.time += 1

    def view(self, rows: Rows, affordable: NDArray[np.bool_]) -> View:
        return View(
            problem=self.setting.problem,
            layout=self.layout,
            trials=self.setting.trials[rows.trial],
            time=self.time,
            costs=rows.costs,
            budget=rows.budget,
            left=rows.budget - rows.spent,
            affordable=affordable,
            pulls=rows.pulls,
            told=rows.pulls.copy(),  # known at once; a copy, because a policy may remember it and the books go on
            rewards=rows.rewards,
            counts=rows.counts,
        )


def _replaced(old: NDArray[Any], index: Indices, new: NDArray[Any]) -> NDArray[Any]:
    merged = old.copy()  # a policy may hold the same array twice
    merged[index] = new
    return merged


class _Nature:
    """What happens when arms are pulled."""

    def __init__(self, setting: Setting) -> None:
        problem, world = setting.problem, setting.world
        self._setting, self._world = setting, world
        self._chance = Chance(setting.seed, "outcome")
        self._nodes, self._codes = world.clamps(problem.arms)
        self.seen = [world.positions[v] for v in problem.graph.variables]  # the nodes that are observed
        self._reward, self._utility = world.positions[problem.reward], utilities(problem, world)
        self._rows: Rows | None = None

    def answer(self, rows: Rows, arms: Indices, time: int) -> tuple[NDArray[np.signedinteger], Array]:
        """The codes of all nodes in every row, and the rewards."""
        if rows is not self._rows:  # rows were split off or retired: find out anew whose they are
            self._rows, self._trials = rows, self._setting.trials[rows.trial]
            whose = self._setting.whose[rows.trial]
            in_order = self._world.trials == 1 or np.array_equal(whose, np.arange(self._world.trials))
            self._whose = None if in_order else whose
        uniforms = self._chance.uniforms(self._trials, time, len(self._world.nodes))
        drawn = self._world.step(self._nodes[arms], self._codes[arms], uniforms, self._whose)
        return drawn, self._utility[drawn[:, self._reward]]


def utilities(problem: Problem, world: World) -> Array:
    """The reward of each code on the scale from 0 (worst) to 1 (best)."""
    return to_utility(problem, world.worth(problem))


def to_utility(problem: Problem, values: Array) -> Array:
    low, high = min(problem.reward_values), max(problem.reward_values)
    scaled = (values - low) / (high - low)
    return scaled if problem.goal == "max" else 1 - scaled


def _start(policy: Policy, setting: Setting, layout: Layout) -> Rows:
    """One row for each trial on the largest budget; one for each trial and budget where the policy plans ahead."""
    n, budgets = len(setting.trials), np.array(setting.budgets)
    last = len(budgets) - 1
    shared = policy.ignores_budget
    trial = np.arange(n) if shared else np.repeat(np.arange(n), len(budgets))
    target = np.full(n, last) if shared else np.tile(np.arange(len(budgets)), n)
    rows = len(trial)
    costs = setting.costs[trial]
    return Rows(
        trial=trial,
        target=target,
        next=np.full(rows, 0 if shared else last),
        costs=costs,
        dearest=costs.max(axis=1),
        budget=budgets[target],
        spent=np.zeros(rows),
        pulls=np.zeros(costs.shape),
        rewards=np.zeros(costs.shape),
        counts=np.zeros((rows, layout.size)),
        arm=np.zeros(rows, dtype=np.intp),
        again=np.zeros(rows, dtype=np.intp),
        leader=np.full(rows, ALONE, dtype=np.intp),
        state=policy.start(setting.problem, rows),
    )


def _split_off(rows: Rows, setting: Setting) -> Rows:
    """Split off the rows whose next smaller budget no longer pays for every arm."""
    budgets = np.array(setting.budgets)
    while len(setting.budgets) > 1:
        waiting = rows.next < rows.target
        due = np.flatnonzero(waiting & (budgets[rows.next] - rows.spent < NEARLY * rows.dearest))
        if not len(due):
            break
        before = len(rows.trial)
        rows = rows.take(np.concatenate([np.arange(before), due]))
        rows.target[before:] = rows.next[before:]
        rows.budget[before:] = budgets[rows.target[before:]]
        rows.next[due] += 1
    return rows
