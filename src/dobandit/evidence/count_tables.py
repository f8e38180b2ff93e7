"""Counting in lock step: the tables that a policy asks for, for every row of a batch at once.

All tables lie behind each other in one flat row of cells, so that an outcome is counted in all of them
by one addition. A table P(v | z) may ask for every m-th observation only: the paper's estimators split
the observations among their factors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Flags, Indices
from dobandit.problem import Problem

Cells = slice  # of a table, in the flat row
MOMENTS = 3  # powers of a reward that are added up
MOST_CELLS = 2**14  # of the tables of an estimate: no log fills more, and rows without data teach nothing


@dataclass(frozen=True)
class CountTable:
    """Counts of `variable` by the values of `given` in the outcomes of some arms, by their places (do() is 0), and of
    these only in every m-th: those whose number among the outcomes of their arm is `rest` modulo `every`.

    The reward has two cells: what it is worth on the scale from 0 to 1, and the rest of the one. With `moments` it has
    four: the number of outcomes, and the sums of the first three powers of how far their rewards are above a reference.
    With `by_arm` every arm of the problem has its own part of the table, which has the arm as its first axis; `parts`
    are the parts of all arms where some have one in common. A table that is not `needed` enters no estimate, so it may
    be missing where an earlier version counted a log.
    """

    variable: str
    given: tuple[str, ...] = ()
    every: int = 1
    rest: int = 0
    arms: tuple[int, ...] = (0,)
    by_arm: bool = False
    needed: bool = True
    moments: bool = False
    parts: tuple[int, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The axes of the table, but for the arm."""
        return (*self.given, self.variable)


def measuring(problem: Problem, table: CountTable) -> CountTable:
    """The same table, with moments if it is one of a reward that is a measurement."""
    return replace(table, moments=table.variable == problem.reward and problem.reward_is_real)


def own_rewards(problem: Problem) -> CountTable:
    """The rewards of every arm by itself."""
    return measuring(problem, CountTable(problem.reward, arms=tuple(range(len(problem.arms))), by_arm=True))


def _parts(table: CountTable, arms: int) -> Indices | None:
    """The part of the table that each arm has; None if they have all of it in common."""
    if table.by_arm:
        return np.arange(arms)
    return np.array(table.parts, dtype=np.intp) if table.parts else None


def _counted(tables: Sequence[CountTable], arms: int) -> Array:
    """1 where a table counts the outcomes of an arm: axes (arm, table)."""
    counted = np.zeros((len(tables), arms))
    for of_table, table in zip(counted, tables, strict=True):
        of_table[np.array(table.arms, dtype=np.intp)] = 1.0
    return np.ascontiguousarray(counted.T)


class Layout:
    """Where the cells of some tables lie in the flat row."""

    def __init__(self, problem: Problem, tables: Sequence[CountTable]) -> None:
        self.tables = tuple(tables)
        if any(problem.reward in table.given for table in self.tables):
            raise ValueError("no table may condition on the reward, which counts partly for both of its cells")
        cards = {v: len(problem.domains[v]) for v in problem.graph.variables}
        self._problem = problem
        of_reward = {False: 2, True: 1 + MOMENTS}
        self.parts = [_parts(table, len(problem.arms)) for table in self.tables]  # of all arms
        self.shapes = [
            (*number, *(of_reward[t.moments] if v == problem.reward else cards[v] for v in t.variables))
            for t, parts in zip(self.tables, self.parts, strict=True)
            for number in [() if parts is None else (int(parts.max()) + 1,)]
        ]
        sizes = [math.prod(shape) for shape in self.shapes]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.size = int(self.offsets[-1])
        self._every = np.array([t.every for t in self.tables], dtype=np.intp)
        self._rest = np.array([t.rest for t in self.tables], dtype=np.intp)
        self.is_split = bool((self._every > 1).any())
        self.reward_tables = np.flatnonzero([t.variable == problem.reward for t in self.tables])
        of_moments = np.array([t.moments for t in self.tables], dtype=bool)
        self._shared = self.reward_tables[~of_moments[self.reward_tables]]  # its outcomes count for both cells
        self._measured = self.reward_tables[of_moments[self.reward_tables]]

    @cached_property
    def _strides(self) -> Array:
        """How far a code of a variable moves the cell of an outcome, by variable and table. Real numbers, because NumPy
        multiplies matrices of whole ones slowly; all places are exact below 2^53."""
        variables = self._problem.graph.variables
        place, strides = {v: i for i, v in enumerate(variables)}, np.zeros((len(variables), len(self.tables)))
        for k, (table, shape) in enumerate(zip(self.tables, self.shapes, strict=True)):
            stride = 1
            for v, number in zip(reversed(table.variables), reversed(shape), strict=False):
                if v != self._problem.reward:  # the reward counts in all of its cells
                    strides[place[v], k] += stride
                stride *= number
        return strides

    @cached_property
    def _part_starts(self) -> Indices | None:
        """Where the part of each arm begins inside the tables; None if no table has parts."""
        if all(parts is None for parts in self.parts):
            return None
        starts = np.zeros((len(self._problem.arms), len(self.tables)), dtype=np.intp)
        for k, (shape, parts) in enumerate(zip(self.shapes, self.parts, strict=True)):
            if parts is not None:
                starts[:, k] = parts * math.prod(shape[1:])
        return starts

    @cached_property
    def _counted(self) -> Array:
        return _counted(self.tables, len(self._problem.arms))

    @cached_property
    def counts_arm(self) -> Flags:
        return np.asarray(self._counted.any(axis=1))

    @cached_property
    def counts_all(self) -> bool:
        """Whether every arm has a table that counts it: then there is nothing to leave out."""
        return bool(self.counts_arm.all()) or not self.tables

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

    @property
    def has_moments(self) -> bool:
        return bool(len(self._measured))

    @cached_property
    def numbers(self) -> Indices:
        """The cells that count the outcomes on the rows of tables with moments; the sums of powers lie behind them."""
        starts = [np.arange(self.slices[k].start, self.slices[k].stop, 1 + MOMENTS) for k in self._measured]
        return np.concatenate([np.zeros(0, dtype=np.intp), *starts])

    def moved(self, counts: Array, by: Array) -> Array:
        """The counts, axes (row, cell), if every reward of a row were larger by a number of this row."""
        found, at = counts.copy(), self.numbers
        n, s, q, c = (counts[:, at + k] for k in range(1 + MOMENTS))
        d = by[:, np.newaxis]
        found[:, at + 1] = s + n * d
        found[:, at + 2] = q + (2 * s + n * d) * d
        found[:, at + 3] = c + (3 * q + (3 * s + n * d) * d) * d
        return found

    def add(
        self,
        counts: Array,
        rows: Indices,
        arms: Indices,
        codes: NDArray[np.integer],
        reward: Array,
        number: Indices,
        above: Array | None = None,
    ) -> None:
        """Count outcomes: the row of each, its arm, its codes, its reward, its number among the outcomes of its arm,
        and for tables with moments how far its reward is above the reference. A row may occur several times; its
        outcomes are added in their order."""
        if not len(rows) or not self.tables:
            return
        cells = (codes.astype(float) @ self._strides).astype(np.intp)
        cells += self.offsets[:-1]
        cells += (rows * self.size)[:, np.newaxis]
        if self._part_starts is not None:
            cells += self._part_starts.take(arms, axis=0)
        counted = self._counted.take(arms, axis=0)
        if self.is_split:  # tables count some of the outcomes, by their numbers
            counted *= number[:, np.newaxis] % self._every == self._rest
        of_reward, flat = self._shared, counts.reshape(-1)
        won = counted[:, of_reward] * reward[:, np.newaxis]
        counted[:, of_reward] -= won
        add_at(flat, cells, counted)
        add_at(flat, cells[:, of_reward] + 1, won)
        if above is not None and self.has_moments:
            at, power = cells[:, self._measured], counted[:, self._measured]
            for k in range(1, 1 + MOMENTS):
                power = power * above[:, np.newaxis]
                add_at(flat, at + k, power)


def add_at(flat: Array, places: Indices, numbers: Array | float) -> None:
    """Add numbers to places of a flat array, where several outcomes may have the same; a single one, as in a study, has
    no place twice, and is added in less time."""
    if len(places) == 1:
        flat[places] += numbers
    else:
        np.add.at(flat, places.ravel(), np.broadcast_to(numbers, places.shape).ravel())  # NumPy is fast on flat places
