"""The variables of a problem: what is known of their causes, which values they have, and which is the reward."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dobandit.errors import DobanditError, listing
from dobandit.graph import Graph, GraphLike
from dobandit.problem.arguments import BINARY, read_domains, read_graph, read_reward
from dobandit.problem.data_rules import read_bins, with_bins, with_missing
from dobandit.problem.domain import Domain
from dobandit.problem.faults import Faults
from dobandit.problem.kinds import GOALS, Goal, RewardLike, Value
from dobandit.problem.labels import LARGEST
from dobandit.problem.missing import WAYS, Missing

if TYPE_CHECKING:  # a problem has no arrays of its own, and is read without NumPy
    from dobandit.arrays import Array


@dataclass(frozen=True)
class Variables:
    """The part of a problem that data and estimates need."""

    graph: Graph
    full_graph: Graph
    reward: str
    reward_values: tuple[float, ...]  # the worth of each value of the reward, in the user's units
    reward_is_continuous: bool  # any number between the two reward_values may occur
    goal: Goal
    domains: Mapping[str, Domain]  # the values of every variable of the full graph
    bins: Mapping[str, tuple[float, ...]]  # the cut points of variables that are numbers
    missing: Missing  # what is done about rows in which a value is missing

    @property
    def reward_is_real(self) -> bool:
        """Whether the reward has more than two values, so that its variance has to be learnt from the data."""
        return self.reward_is_continuous or len(set(self.reward_values)) > 2

    def utility(self, earned: Array, rows: Array | float = 1.0) -> Array:
        """Rewards on the scale from 0 (worst) to 1 (best) that policies see; of so many rows together."""
        low, high = self._ends
        share = (earned - low * rows) / (high - low)
        return share if self.goal == "max" else rows - share

    def in_units(self, utility: Array) -> Array:
        """The opposite: numbers on that scale in the user's units."""
        low, high = self._ends
        share = utility if self.goal == "max" else 1 - utility
        return low + share * (high - low)

    @property
    def has_range(self) -> bool:
        """Whether it is known between which ends rewards lie."""
        return math.isfinite(max(self.reward_values))

    @property
    def measured_ends(self) -> tuple[float, float]:
        """Between which numbers a reward that is measured has to lie."""
        return max(min(self.reward_values), -LARGEST), min(max(self.reward_values), LARGEST)

    @property
    def _ends(self) -> tuple[float, float]:
        """What is 0 and 1 on the scale of policies, or the other way round; without a range, the reward's own."""
        return (min(self.reward_values), max(self.reward_values)) if self.has_range else (0.0, 1.0)

    @property
    def known_values(self) -> dict[str, tuple[str, ...]]:
        """The domains without the value that stands for what is missing, as a world has them that knows nothing else: a
        reward that may be any number is 0 or 1 there."""
        found = {v: domain.known for v, domain in self.domains.items()}
        return found if self.has_range else {**found, self.reward: BINARY}

    @property
    def utility_slope(self) -> float:
        """By how much utility changes with one unit of the reward."""
        low, high = self._ends
        scale = 1 / (high - low)
        return scale if self.goal == "max" else -scale

    @property
    def hidden(self) -> tuple[str, ...]:
        """The variables of the full graph that are not observed."""
        return tuple(v for v in self.full_graph.variables if v not in self.graph)

    @property
    def numbers(self) -> frozenset[str]:
        """The variables that are numbers without bins: `effect` can adjust for them, and nothing else can use them."""
        return frozenset(v for v in self.graph.variables if not self.domains[v])

    def require_values(self) -> None:
        """Refuse a problem with numbers where every variable must have values."""
        if self.numbers:
            raise DobanditError(
                f"{listing(sorted(self.numbers))}: only effects from logs can be adjusted for a number without bins; "
                "give it cut points in [bins], or leave it out of `observed`"
            )

    @property
    def settings(self) -> dict[str, tuple[str, ...]]:
        """The values that observed variables can be set to."""
        return {v: self.domains[v].known for v in self.graph.variables}


class Stated(NamedTuple):
    """What is said about the variables."""

    graph: GraphLike
    observed: Iterable[str] | None
    reward: RewardLike | None
    domains: Mapping[str, Iterable[Value]] | None
    bins: Mapping[str, Sequence[float]] | None
    missing: Missing
    goal: Goal


def read_variables(stated: Stated, faults: Faults) -> Variables:
    """What is said about the variables, checked."""
    full, kept = read_graph(stated.graph, stated.observed, faults)
    with_values = {v for table in (stated.domains, stated.bins) if isinstance(table, Mapping) for v in table}
    reward = stated.reward or full.origin.outcome
    name, worth, is_continuous = read_reward(reward, full.variables, kept, with_values, faults)
    cuts, missing = (
        read_bins(stated.bins, full.variables, name, faults),
        faults.one_of(stated.missing, ("missing",), WAYS),
    )
    values, worth = read_domains(with_bins(stated.domains, cuts, faults), full, name, worth, faults)
    return Variables(
        graph=full if stated.observed is None else full.project([v for v in kept if v in full]),
        full_graph=full,
        reward=name,
        reward_values=tuple(worth.values()),
        reward_is_continuous=is_continuous,
        goal=faults.one_of(stated.goal, ("goal",), GOALS),
        domains=with_missing(values, cuts, set(kept) - {name} if missing == "category" else ()),
        bins=cuts,
        missing=missing,
    )
