"""Evidence: what was seen, for every row of a batch at once.

The engine fills it from a world, a study from outcomes, both from logs; estimators and policies read it. A live study
is a batch of one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices
from dobandit.evidence.count_tables import CountTable, Layout, add_at
from dobandit.problem import Problem

if TYPE_CHECKING:
    from dobandit.evidence.logged import Logged


@dataclass
class Evidence:
    """Counts of the tables that were asked for, and what every arm earned. Arrays have the row as their first axis."""

    layout: Layout
    counts: Array  # by cell of the tables
    told: Array  # by arm: outcomes that are known
    rewards: Array  # by arm: their sum, on the scale from 0 (worst) to 1 (best)
    reference: Array  # what moments are taken about: the first reward that is known, NaN before
    worst: Array  # the least reward that is known

    @classmethod
    def none(cls, problem: Problem, tables: Sequence[CountTable], rows: int) -> Evidence:
        layout, by_arm = Layout(problem, tables), (rows, len(problem.arms))
        counts, told, rewards = np.zeros((rows, layout.size)), np.zeros(by_arm), np.zeros(by_arm)
        return cls(layout, counts, told, rewards, np.full(rows, np.nan), np.full(rows, np.inf))

    def add(self, rows: Indices, arms: Indices, codes: NDArray[np.integer], reward: Array, number: Indices) -> None:
        """Outcomes: the row of each, its arm, the codes of its variables, its reward, and its number among the outcomes
        of its arm. A row may occur several times."""
        if self.layout.has_moments:  # of all arms
            above = self._above_reference(rows, reward)
            self.layout.add(self.counts, rows, arms, codes, reward, number, above)
        elif self.layout.counts_all:
            self.layout.add(self.counts, rows, arms, codes, reward, number)
        elif len(some := np.flatnonzero(self.layout.counts_arm[arms])):
            self.layout.add(self.counts, rows[some], arms[some], codes[some], reward[some], number[some])
        place = rows * self.told.shape[1] + arms  # in flat rows
        add_at(self.told.reshape(-1), place, 1.0)
        add_at(self.rewards.reshape(-1), place, reward)

    def remove(self, rows: Indices, arms: Indices, codes: NDArray[np.integer], reward: Array, number: Indices) -> None:
        """The opposite of `add`, for evidence without moments. It is exact where all that was added is whole."""
        removed = Evidence(self.layout, *map(np.zeros_like, self._arrays))
        removed.add(rows, arms, codes, reward, number)
        self.counts -= removed.counts
        self.told -= removed.told
        self.rewards -= removed.rewards

    def _above_reference(self, rows: Indices, reward: Array) -> Array:
        first = np.flatnonzero(np.isnan(self.reference[rows]))[::-1]  # of several in a row, the first one remains
        self.reference[rows[first]] = reward[first]
        np.minimum.at(self.worst, rows, reward)
        return np.asarray(reward - self.reference[rows])

    def add_logged(self, logged: Logged) -> None:
        """A log that every row starts from, or learns of later."""
        if self.layout.has_moments:
            self.reference = np.where(np.isnan(self.reference), logged.reference, self.reference)
            self.worst = np.minimum(self.worst, logged.worst)
            same = np.broadcast_to(logged.counts, self.counts.shape)
            self.counts += self.layout.moved(same, logged.reference - self.reference)
        else:
            self.counts += logged.counts
        self.told += logged.rows
        self.rewards += logged.rewards

    def with_own_rewards(self) -> Evidence:
        """The same, in which what the arms earned does not change with this one."""
        told, rewards = self.told.copy(), self.rewards.copy()
        return Evidence(self.layout, self.counts, told, rewards, self.reference, self.worst)

    def take(self, rows: Indices | slice) -> Evidence:
        """These rows only, or some of them twice."""
        return Evidence(self.layout, *(numbers[rows] for numbers in self._arrays))

    def copy_rows(self, source: Indices, target: Indices) -> None:
        """Rows that have seen the same as others so far."""
        for numbers in self._arrays:
            numbers[target] = numbers[source]

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return self.counts, self.told, self.rewards, self.reference, self.worst

    @staticmethod
    def joined(parts: Sequence[Evidence]) -> Evidence:
        """The rows of several batches that count the same tables."""
        fields = zip(*(part._arrays for part in parts), strict=True)
        return Evidence(parts[0].layout, *map(np.concatenate, fields))
