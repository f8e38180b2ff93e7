"""Where the next outcome of an arm is expected to be counted: on which conditions z of which tables, and how often.

Before an arm has outcomes of its own, its prediction comes from observations. Under do(X=x) everything that precedes X
keeps its distribution; everything that follows X is expected to be distributed as in the observations with X=x, whether
or not the table conditions on X. Where X is confounded that is a guess, so the arm's own outcomes correct it, and soon
replace it. The prediction decides what is pulled; it never enters an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.estimate.pooled.circuit import total
from dobandit.estimate.pooled.pool import Pool
from dobandit.estimate.pooled.posterior import Conditions
from dobandit.evidence import CountTable, Layout
from dobandit.problem import Arm, Problem

Given = tuple[str, ...]  # the variables that a table conditions on

GUESS_WEIGHT = 5.0  # own outcomes that count as much as the prediction from observations
MOST_CELLS = 2**12  # of all tables that count what follows X by the values of X


class ExpectedCounts:
    """Predictions for the arms of a pool. `tables` are the counts that they need."""

    def __init__(self, pool: Pool, conditions: Conditions) -> None:
        sources = _Sources(pool)
        self.tables, self.layout = sources.tables, sources.layout
        self._starts, self._observed = sources.starts, sources.observed
        sizes = np.diff([*self._starts, self._observed])
        self._table = np.repeat(np.arange(len(sizes)), sizes)  # of every cell that observations fill
        self._guess = np.repeat(1.0 / np.maximum(sizes, 1), sizes)[:, np.newaxis]
        self._of_condition, self._first = conditions.table, conditions.start[:-1]
        self._meets, self._share, self._own, groups = _places(pool, conditions, sources)
        self._group, self._before, self._both = groups.compiled()

    def per_pull(self, counts: Array) -> Array:
        """The chance that an outcome of an arm is counted on a condition of a table that it may enter, from the counts
        of `tables` with axes (row, cell): axes (arm, z, row)."""
        expected = np.where(self._meets[..., np.newaxis], self._from_observations(counts), 0.0)
        own = np.concatenate([counts.T, np.zeros((1, len(counts)))])[self._own]
        number = np.add.reduceat(own, self._first, axis=1).take(self._of_condition, axis=1)
        return np.asarray((own + GUESS_WEIGHT * expected) / (number + GUESS_WEIGHT))

    def _from_observations(self, counts: Array) -> Array:
        seen = counts[:, : self._observed].T
        number = np.add.reduceat(seen, self._starts, axis=0).take(self._table, axis=0) if len(seen) else seen
        one, zero = np.ones((1, len(counts))), np.zeros((1, len(counts)))
        shares = np.concatenate([(seen + self._guess) / (number + 1), one, zero])
        before, both = (np.concatenate([total(shares[members]), one]) for members in (self._before, self._both))
        return np.asarray(shares[self._share] * (before / both)[self._group])


class _Sources:
    """The tables that predictions are made from; those that observations fill come first.

    `of` has the context of a prediction for an arm that sets X and a table with these conditions: the table that counts
    both, or where the limit leaves that out, or no condition follows X, the conditions alone.
    """

    def __init__(self, pool: Pool) -> None:
        distinct = tuple(dict.fromkeys(t.given for t in pool.tables if t.given))
        others = tuple(range(1, pool.arms))
        self.own = {z: CountTable(z[-1], z[:-1], arms=others, by_arm=True, needed=False) for z in distinct}
        self._alone = {z: CountTable(z[-1], z[:-1]) for z in distinct}
        self._with_setting = dict(_with_setting(pool))
        observed = (*self._alone.values(), *self._with_setting.values())
        self.tables = (*observed, *self.own.values())
        self.layout = Layout(pool.problem, self.tables)
        self.starts = self.layout.offsets[: len(observed)]
        self.observed = int(self.layout.offsets[len(observed)])

    def of(self, x: str | None, given: Given) -> CountTable:
        return self._with_setting.get((x, given), self._alone[given])


def _with_setting(pool: Pool) -> Iterator[tuple[tuple[str | None, Given], CountTable]]:
    """For every variable X and conditions that follow X without naming it: the table that counts both. Small tables
    come first, up to the limit."""
    problem = pool.problem
    wanted = {
        (x, t.given): math.prod(len(problem.domains[v]) for v in (x, *t.given))
        for t in pool.tables
        for x in dict.fromkeys(v for k in t.arms for v in problem.arms[k].variables)
        if x not in t.given and problem.graph.descendants(x).intersection(t.given)
    }
    cells = 0
    for (x, given), size in sorted(wanted.items(), key=lambda item: item[1]):
        if (cells := cells + size) > MOST_CELLS:
            return
        yield (x, given), CountTable(given[-1], (x, *given[:-1]), needed=False)


class _Context(NamedTuple):
    """The cells of a table that names X, for an arm do(X=x)."""

    is_set: Flags  # the cells with X=x
    group: Indices  # of every cell; in a group the values of all that precedes X are the same


def _context(problem: Problem, arm: Arm, table: CountTable) -> _Context:
    ((x, value),) = arm.settings
    names = (*table.given, table.variable)
    shape = [len(problem.domains[v]) for v in names]
    codes = np.indices(shape).reshape(len(shape), -1)
    follows, group = {x, *problem.graph.descendants(x)}, np.zeros(codes.shape[1], dtype=np.intp)
    for v, size, code in zip(names, shape, codes, strict=True):
        if v not in follows:
            group = group * size + code
    return _Context(codes[names.index(x)] == problem.domains[x].index(value), group)


class _Groups:
    """For every arm and condition: the group of cells whose share in observations is kept, and their part with X=x."""

    def __init__(self, shape: tuple[int, int], zero: int) -> None:
        self._group = np.full(shape, -1, dtype=np.intp)
        self._zero = zero  # the place of a share that is always zero
        self._before: list[Indices] = []
        self._both: list[Indices] = []

    def add(self, arm: int, at: Indices, cells: Indices, context: _Context, start: int) -> None:
        """The conditions `at` are these cells of the context, whose table begins at `start`."""
        self._group[arm, at] = len(self._before) + context.group[cells]
        for g in range(int(context.group.max()) + 1):
            members = np.flatnonzero(context.group == g)
            self._before.append(start + members)
            self._both.append(start + members[context.is_set[members]])

    def compiled(self) -> tuple[Indices, Indices, Indices]:
        """The group of every arm and condition, the last one where there is none, and the members of the groups."""
        group = np.where(self._group < 0, len(self._before), self._group)
        return group, self._padded(self._before), self._padded(self._both)

    def _padded(self, members: list[Indices]) -> Indices:
        longest = max(map(len, members), default=0)
        padded = [np.pad(m, (0, longest - len(m)), constant_values=self._zero) for m in members]
        return np.array(padded, dtype=np.intp).reshape(len(padded), longest).T


def _places(pool: Pool, conditions: Conditions, sources: _Sources) -> tuple[Flags, Indices, Indices, _Groups]:
    """For every arm and condition: whether its outcomes can be counted there; the cell of observations, or the one that
    is sure; the cell of own outcomes, or the one behind them all; and the group."""
    meets = np.zeros((pool.arms, len(conditions)), dtype=bool)
    share = np.full(meets.shape, sources.observed, dtype=np.intp)
    own = np.full(meets.shape, sources.layout.size, dtype=np.intp)
    groups = _Groups(meets.shape, sources.observed + 1)
    for t, table in enumerate(pool.tables):
        at = np.arange(conditions.start[t], conditions.start[t + 1])
        meets[np.array(table.arms)[:, np.newaxis], at] = True
        for k in table.arms if table.given else ():
            arm, z = pool.problem.arms[k], np.arange(len(at))
            x = next(iter(arm.variables), None)
            source = sources.of(x, table.given)
            start = sources.layout.slice(source).start
            own[k, at] = sources.layout.slice(sources.own[table.given]).start + k * len(at) + z
            if x in (*source.given, source.variable):
                context = _context(pool.problem, arm, source)
                names_x = x in table.given
                meets[k, at] = context.is_set if names_x else True
                z = z if names_x else np.flatnonzero(context.is_set)
                groups.add(k, at, z, context, start)
            share[k, at] = start + z
    return meets, share, own, groups
