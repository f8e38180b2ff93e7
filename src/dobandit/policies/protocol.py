"""What a policy is: it looks at a view of what happened and says what to do next.

A policy is written once for a batch: every array has the row (a trial with its budget) as its first axis,
and a live study is a batch of one row. It holds no state of its own; what it needs to remember goes through
`State`, a NamedTuple of arrays, and every random number is handed to it. It never checks the budget: the
engine says which arms are affordable, and accepts no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.evidence import CountTable, Evidence, Layout
from dobandit.graph import Independence
from dobandit.problem import Problem

State = Any  # a NamedTuple of arrays whose first axis is the row

OBSERVE = 0  # do() is the first arm
STOP = -1  # instead of an arm: the plan is carried out, whatever money is left


@dataclass
class View:
    """What a policy may know at a decision. Indices are columns, do() the first."""

    problem: Problem
    evidence: Evidence
    trials: Indices  # whose chance each row has
    times: Indices  # pulls made so far
    costs: Array
    budget: Array
    left: Array
    affordable: Flags
    pulls: Array  # pending ones included
    notes: dict[str, Array] | None = None  # filled with the numbers behind a choice, if not None

    def take(self, rows: Indices) -> View:
        """Some of the rows."""
        arrays: dict[str, Any] = {k: value[rows] for k, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, evidence=self.evidence.take(rows), **arrays)

    @property
    def layout(self) -> Layout:
        """Where the cells of the tables lie that the policy asked for."""
        return self.evidence.layout

    @property
    def counts(self) -> Array:
        return self.evidence.counts

    @property
    def told(self) -> Array:
        return self.evidence.told

    @property
    def rewards(self) -> Array:
        return self.evidence.rewards

    @property
    def time(self) -> int:
        """The pulls that each row has made, for a policy that never repeats: then it is the same number in all."""
        return int(self.times[0])

    @property
    def clock(self) -> int | Indices:
        """The same for a policy that repeats: one number, or where rows are not in step, one for each."""
        return self.time if len(self.times) == 1 or (self.times == self.time).all() else self.times

    @property
    def pending(self) -> Array:
        return self.pulls - self.told

    @property
    def means(self) -> Array:
        """The mean reward of each arm's own pulls; 0 where there is none."""
        return self.rewards / np.maximum(self.told, 1.0)

    @property
    def unit_costs(self) -> Array:
        """Costs in units of the cost of observing, for algorithms that assume that it is one."""
        return self.costs / self.costs[:, :1]

    @property
    def mean_cost(self) -> Array:
        """The mean cost of intervening in these units, for algorithms that know one cost of intervening only."""
        dearer = self.unit_costs[:, 1:]
        return np.asarray(dearer.mean(axis=1) if dearer.shape[1] else np.ones(len(dearer)))


class Choice(NamedTuple):
    """The arm of every row, what to remember, and how often to pull that arm before asking again (default: once)."""

    arms: Indices
    state: State
    repeats: Indices | None = None


def updated(state: State, rows: Indices, part: State) -> State:
    """The state with new values in some rows; the old arrays stay as they are, for a policy may hold one twice."""
    fields = [field.copy() for field in state]
    for field, new in zip(fields, part, strict=True):
        field[rows] = new
    return type(state)(*fields)


class Policy(Protocol):
    """One algorithm, in one file."""

    name: ClassVar[str]
    objective: ClassVar[str]  # "cumulative" or "simple"
    reference: ClassVar[str]
    ignores_budget: ClassVar[bool]  # whether its choices do not depend on the budget while every arm is affordable

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        """The counts it needs."""
        ...

    def start(self, problem: Problem, rows: int) -> State: ...

    def choose(self, view: View, state: State, chance: Chance) -> Choice: ...

    def recommend(self, view: View, state: State) -> Indices:
        """The arm to name as the best; rows may have made different numbers of pulls."""
        ...


def contradiction_told(z: float) -> str:
    """What a user is told of an arm that is off the graph's answer by so many standard deviations."""
    return f"this arm's own rewards contradict the graph: |z| = {z:.1f}"


def broken_promise_told(promise: Independence, z: float) -> str:
    """What a user is told of outcomes that do not keep a promise of the graph."""
    return (
        f"outcomes contradict the graph: {promise} does not hold, |z| = {z:.1f}; "
        f"is there a hidden cause {promise.a} <-> {promise.b}, or an edge?"
    )


@runtime_checkable
class Guarded(Protocol):
    """A policy that notices when the graph is wrong."""

    def promises(self, problem: Problem) -> Sequence[Independence]:
        """What it watches in the outcomes."""
        ...

    def broken(self, view: View) -> Array:
        """How far outcomes are off each promise, in standard deviations, or 0: axes (row, promise)."""
        ...

    def contradicted(self, view: View, state: State) -> Array:
        """How far an arm's own rewards contradict the graph, in standard deviations, or 0: axes (row, arm)."""
        ...


class Nothing(NamedTuple):
    """The state of a policy that needs none: counts and means say it all."""


class Memoryless:
    """A policy that asks for no tables and remembers nothing."""

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return ()

    def start(self, problem: Problem, rows: int) -> Nothing:
        return Nothing()
