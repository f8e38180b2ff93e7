"""Counting in lock step: the tables that a policy asks for, for every row of a batch at once.

All tables lie behind each other in one flat row of cells, so that an outcome is counted in all of them
by one addition. A table P(v | z) may ask for every m-th observation only: the paper's estimators split
the observations among their factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Flags, Indices
from dobandit.problem import Problem

Cells = slice  # of a table, in the flat row
MOST_CELLS = 2**14  # of the tables of an estimate: no log fills more, and rows without data teach nothing


@dataclass(frozen=True)
class CountTable:
    """Counts of `variable` by the values of `given` in the outcomes of some arms, by their places (do() is 0), and of
    these only in every m-th: those whose number among the outcomes of their arm is `rest` modulo `every`.

    The reward has two cells: what it is worth on the scale from 0 to 1, and the rest of the one. With `by_arm` every
    arm of the problem has its own part of the table, which has the arm as its first axis. A table that is not `needed`
    enters no estimate, so it may be missing where an earlier version counted a log.
    """

    variable: str
    given: tuple[str, ...] = ()
    every: int = 1
    rest: int = 0
    arms: tuple[int, ...] = (0,)
    by_arm: bool = False
    needed: bool = True

    @property
    def variables(self) -> tuple[str, ...]:
        """The axes of the table, but for the arm."""
        return (*self.given, self.variable)


class Layout:
    """Where the cells of some tables lie in the flat row."""

    def __init__(self, problem: Problem, tables: Sequence[CountTable]) -> None:
        self.tables = tuple(tables)
        if any(problem.reward in table.given for table in self.tables):
            raise ValueError("no table may condition on the reward, which counts partly for both of its cells")
        cards = {v: 2 if v == problem.reward else len(problem.domains[v]) for v in problem.graph.variables}
        place = {v: i for i, v in enumerate(problem.graph.variables)}
        by_arm = {True: (len(problem.arms),), False: ()}
        self.shapes = [(*by_arm[t.by_arm], *(cards[v] for v in t.variables)) for t in self.tables]
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.size = int(self.offsets[-1])
        # Real numbers, because NumPy multiplies matrices of whole ones slowly; all places are exact below 2^53.
        self._strides = np.zeros((len(place), len(self.tables)))
        self._arm_strides = np.zeros(len(self.tables), dtype=np.intp)
        for k, (table, shape) in enumerate(zip(self.tables, self.shapes, strict=True)):
            shape = shape[table.by_arm :]
            self._arm_strides[k] = int(np.prod(shape)) if table.by_arm else 0
            for axis, v in enumerate(table.variables):
                if v != problem.reward:  # the reward counts in both of its cells
                    self._strides[place[v], k] += int(np.prod(shape[axis + 1 :]))
        self._by_arm = bool(self._arm_strides.any())
        self._every = np.array([t.every for t in self.tables], dtype=np.intp)
        self._rest = np.array([t.rest for t in self.tables], dtype=np.intp)
        self._split = bool((self._every > 1).any())
        self.reward_tables = np.flatnonzero([t.variable == problem.reward for t in self.tables])
        self._counted = np.zeros((len(problem.arms), len(self.tables)))
        for k, table in enumerate(self.tables):
            self._counted[list(table.arms), k] = 1.0
        self.counts_arm: Flags = np.any(self._counted, axis=1)
        self.counts_all = bool(self.counts_arm.all())

    @cached_property
    def place(self) -> dict[CountTable, int]:
        return {table: k for k, table in enumerate(self.tables)}

    def slice(self, table: CountTable) -> Cells:
        return self.slices[self.place[table]]

    @cached_property
    def slices(self) -> list[Cells]:
        """The cells of all tables in turn; a table that is asked for twice has cells twice."""
        return [Cells(*map(int, ends)) for ends in pairwise(self.offsets)]

    def view(self, counts: Array, table: CountTable) -> Array:
        """The counts of one table with axes (row, given..., variable); the arm comes after the row if it has one."""
        return counts[:, self.slice(table)].reshape(len(counts), *self.shapes[self.place[table]])

    def add(
        self, counts: Array, rows: Indices, arms: Indices, codes: NDArray[np.integer], reward: Array, number: Indices
    ) -> None:
        """Count outcomes: the row of each, its arm, its codes, its reward, and its number among the outcomes of its
        arm. A row may occur several times; its outcomes are added in their order."""
        if not len(rows) or not self.tables:
            return
        cells = (codes.astype(float) @ self._strides).astype(np.intp)
        cells += self.offsets[:-1]
        cells += (rows * self.size)[:, np.newaxis]
        if self._by_arm:
            cells += arms[:, np.newaxis] * self._arm_strides
        counted = self._counted.take(arms, axis=0)
        if self._split:
            counted *= number[:, np.newaxis] % self._every == self._rest
        of_reward, flat = self.reward_tables, counts.reshape(-1)
        won = counted[:, of_reward] * reward[:, np.newaxis]
        counted[:, of_reward] -= won
        np.add.at(flat, cells, counted)
        np.add.at(flat, cells[:, of_reward] + 1, won)
