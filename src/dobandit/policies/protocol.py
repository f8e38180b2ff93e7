"""What a policy is: compiled for a problem, it looks at a view of what happened and says what to do next.

A policy is written once for a batch: every array has the row (a trial with its budget) as its first axis, and a live
study is a batch of one row. It holds no state of its own; what it needs to remember goes through a state, a NamedTuple
of arrays, and every random number is passed in. It never checks the budget: the engine says which arms are affordable,
and accepts no other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.estimate.pooled import RepairedGraphs
from dobandit.evidence import CountTable, Evidence, Layout
from dobandit.graph import Independence
from dobandit.problem import Objective, Problem

OBSERVE = 0  # do() is the first arm
STOP = -1  # instead of an arm: the plan is carried out, however much money is left


@dataclass
class View:
    """What a policy may know at a decision. Arms are columns, do() the first."""

    problem: Problem
    evidence: Evidence
    trials: Indices  # whose chance each row has
    times: Indices  # pulls made so far
    costs: Array
    budget: Array
    left: Array
    affordable: Flags
    pulls: Array  # pending ones included

    def take(self, rows: Indices | slice) -> View:
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


class Reason(IntEnum):
    """Why an arm was chosen."""

    INDEX = 0  # it has the largest index of the affordable arms
    TIE = 1  # several have, and chance picked this one
    SWEEP = 2  # every arm is pulled once before the index decides
    OBSERVATION_DUE = 3  # do() comes first while it has been pulled too rarely
    OBSERVATION_TEACHES = 4  # do() teaches as much about the arm with the largest index, for less
    PLAN = 5  # a plan says how often every arm is pulled
    OWN = 6  # a function that gives no numbers
    NOTHING_TEACHES = 7  # no pull is expected to change the recommendation, so it is the cheapest


@dataclass(frozen=True)
class Info:
    """Why every row chose its arm: the reason, and the numbers that were compared."""

    reason: Indices
    index: Array | None = None  # of every arm; None where a plan decides


S = TypeVar("S", bound=tuple[Any, ...])  # the state of a policy: a NamedTuple of arrays whose first axis is the row


class Choice(NamedTuple, Generic[S]):
    """The arm of every row, how often to pull it before asking again (None: once), what to remember, and why."""

    arm: Indices
    repeats: Indices | None
    state: S
    info: Info


def updated(state: S, rows: Indices, part: S) -> S:
    """The state with new values in some rows; the old arrays stay as they are, for a policy may hold one twice."""
    arrays = [array.copy() for array in state]
    for array, new in zip(arrays, part, strict=True):
        array[rows] = new
    return type(state)(*arrays)


def rows_of(state: S, rows: Indices) -> S:
    """The state of some of the rows."""
    return type(state)(*(array[rows] for array in state))


class Nothing(NamedTuple):
    """The state of a policy that needs none: counts and means say it all."""


class Compiled(ABC, Generic[S]):
    """A policy that is ready to choose in one problem: what depends on the problem alone has been computed."""

    tables: Sequence[CountTable] = ()  # the counts that it needs
    graphs: RepairedGraphs | None = None  # the pooled estimator, if it decides by one
    independencies: Sequence[Independence] = ()  # what it expects of the outcomes if the graph is right

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @abstractmethod
    def start(self, rows: int) -> S:
        """What so many rows remember before the first decision."""

    @abstractmethod
    def choose(self, view: View, state: S, chance: Chance) -> Choice[S]:
        """The next decision of every row."""

    def next_change(self, state: S) -> tuple[float, float]:
        """The time and the number of outcomes up to which no decision changes what is remembered. A policy that knows
        them saves its studies from making old decisions again when an outcome is corrected."""
        return 0, 0

    @abstractmethod
    def recommend(self, view: View, state: S) -> Indices:
        """The arm to name as the best; rows may have made different numbers of pulls."""

    def violations(self, view: View) -> Array:
        """How far outcomes are off each of the `independencies`, in standard deviations; 0 where they agree."""
        return np.zeros((len(view.trials), len(self.independencies)))

    def contradictions(self, view: View, state: S) -> Array:
        """How far an arm's own rewards are off the graph's answer, in standard deviations; 0 where they agree."""
        return np.zeros(view.costs.shape)


class Policy(ABC):
    """One algorithm: a frozen dataclass of its options, and what it can do. `compile` returns what chooses.

    The registry finds every class of this package that has a name. Classes from elsewhere are handed in as objects, or
    named as `module:Class`.
    """

    name: str
    objective: Objective | Literal["any"]
    reference: str = ""
    depends_on_budget: ClassVar[bool] = False  # its choices depend on the budget even while every arm is affordable
    reads_logs: ClassVar[bool] = False  # it has a use for rows that were logged before its first pull
    single_variables_only: ClassVar[bool] = False  # its arms are do() and all values of single variables
    needs_range: ClassVar[bool] = True  # its rewards must lie between two known ends, which are 0 and 1 to it
    has_phases: ClassVar[bool] = False  # its state has a `phase`, and a new one waits for the results of the last

    # How a choice is explained to people: why an option was chosen whose index is the highest, what the index is called
    # in a table, what it says, and what every phase of a plan is for (the last one stands for all later ones).
    because: ClassVar[str] = "It has the highest index among the affordable options."
    measure: str = "index"
    measured: ClassVar[str] = "what the policy compares; the highest one wins"
    purposes: ClassVar[tuple[str, ...]] = ()

    def index_in_units(self, index: Array, costs: Array, scale: float) -> Array:
        """The index of all arms as it is shown; `scale` is the unit of estimates in units of the reward."""
        return index * scale

    def serves(self, objective: str) -> bool:
        """Whether it is made for an objective."""
        return self.objective in (objective, "any")

    @property
    def guards_graph(self) -> bool | None:
        """Whether it doubts the graph where outcomes contradict it; False: it trusts the graph whatever happens; None:
        it makes no such check."""
        return None

    @abstractmethod
    def compile(self, problem: Problem) -> Compiled[Any]:
        """The policy for this problem."""


class Optimistic(Policy):
    """A policy that takes the arm that may earn the most, as far as its data can tell."""

    because = "Chosen because it may earn the most for its cost, as far as the data can tell."
    measure = "upper bound per cost"
    measured = "the highest mean per unit of cost that the policy thinks possible, above the worst reward"


class Planning(Policy):
    """A policy that plans its pulls from the budget, phase by phase."""

    objective = "simple"
    depends_on_budget = True
    has_phases = True


# Of policies that draw from what is believed.
DRAWN = "Chosen because it may earn the most for its cost: it came first in a random draw from what is known so far."
DRAW = "draw per cost"
DRAW_SAYS = "the mean in a random draw from what is known, above the worst reward, per unit of cost"


def option(default: str, *others: str) -> str:
    """A field of a policy that is one of these words."""
    choice: str = field(default=default, metadata={"choices": (default, *others)})
    return choice


class Memoryless(Compiled[Nothing]):
    """A policy that remembers nothing."""

    def start(self, rows: int) -> Nothing:
        return Nothing()


def contradiction_told(z: float) -> str:
    """What a user is told of an arm that is off the graph's answer by so many standard deviations."""
    return f"this arm's own rewards contradict the graph: |z| = {z:.1f}"


def violation_told(independence: Independence, z: float) -> str:
    """What a user is told of outcomes that contradict an independence that the graph implies."""
    return (
        f"outcomes contradict the graph: {independence} does not hold, |z| = {z:.1f}; "
        f"is there a hidden cause {independence.a} <-> {independence.b}, or an edge?"
    )
