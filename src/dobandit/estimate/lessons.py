"""What a pull would teach: which conditions z of which tables its outcome would fall on, and how often.

Only do() shows how often z occurs by itself. Under do(X=x) what comes before X stays as it is, however seldom it goes
together with X=x in observations; what comes after X is taken to follow as it does in observations with X=x, which is
a guess. It decides what is pulled, never what is believed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dobandit.estimate.circuit import total
from dobandit.estimate.pool import Pool
from dobandit.estimate.posterior import Conditions
from dobandit.evidence.tally import Layout, Tallied
from dobandit.problem import Arm, Problem

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Lessons:
    """The conditions that each arm's outcomes fall on. Conditions without variables are always met."""

    def __init__(self, pool: Pool, conditions: Conditions) -> None:
        problem = pool.problem
        self.tables = tuple(dict.fromkeys(Tallied(t.given[-1], t.given[:-1]) for t in pool.tables if t.given))
        self.layout = Layout(problem, self.tables)
        numbers = np.diff(conditions.start)
        given = [np.full(n, bool(t.given)) for t, n in zip(pool.tables, numbers, strict=True)]
        self._open = np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *given]))
        starts = [
            np.arange(n) + self.layout.slice(Tallied(t.given[-1], t.given[:-1])).start
            for t, n in zip(pool.tables, numbers, strict=True)
            if t.given
        ]
        self._cell = np.concatenate([np.zeros(0, dtype=np.intp), *starts])
        self._guess = 1.0 / numbers[conditions.table[self._open]][:, np.newaxis]
        admits = [[k in table.arms for table in pool.tables] for k in range(pool.arms)]
        self.admits = np.array(admits, dtype=bool).reshape(pool.arms, -1)[:, conditions.table]
        agrees, self._group, self._before, self._both = _groups(problem, pool, conditions)
        self._meets = (agrees & self.admits)[..., np.newaxis]

    def of_observing(self, visits: Array) -> Array:
        """The chance of every condition in an observation; `visits` are the counts of `tables`, axes (row, cell)."""
        found = np.ones((self.admits.shape[1], len(visits)))
        if len(self._open):
            number = visits[:, self.layout.slice(self.tables[0])].sum(axis=1)
            found[self._open] = (visits.T[self._cell] + self._guess) / (number + 1)
        return found

    def of_arms(self, seen: Array) -> Array:
        """The chance that an outcome of an arm falls on a condition of a table that it may enter: (arm, z, row)."""
        padded = np.concatenate([seen, np.zeros((1, seen.shape[1]))])
        before, both = (
            np.concatenate([total(padded[members]), np.ones((1, seen.shape[1]))])
            for members in (self._before, self._both)
        )
        return np.where(self._meets, seen * (before / both)[self._group], 0.0)


def _groups(
    problem: Problem, pool: Pool, conditions: Conditions
) -> tuple[NDArray[np.bool_], Indices, Indices, Indices]:
    """Which conditions agree with what an arm sets. And where a table has the arm's variable X as a condition: the
    group of each, those with the same values of what comes before X; which conditions have these values; and which of
    them have X=x. Elsewhere the group is the last one."""
    agrees = np.ones((pool.arms, len(conditions)), dtype=bool)
    group = np.full(agrees.shape, -1, dtype=np.intp)
    before: list[Indices] = []
    both: list[Indices] = []
    for k, arm in enumerate(problem.arms):
        for t, table in enumerate(pool.tables):
            if arm.variable in table.given:
                places = np.arange(conditions.start[t], conditions.start[t + 1])
                shape = pool.layout.shapes[t][:-1]
                agrees[k, places] = is_set = _sets(problem, arm, table, shape)
                for members in _alike(problem, arm, table, shape):
                    group[k, places[members]] = len(both)
                    before.append(places[members])
                    both.append(places[members & is_set])
    group[group < 0] = len(both)
    return agrees, group, _padded(before, len(conditions)), _padded(both, len(conditions))


def _alike(problem: Problem, arm: Arm, table: Tallied, shape: tuple[int, ...]) -> list[NDArray[np.bool_]]:
    """The conditions of a table in groups that have the same values of all that comes before the arm's variable."""
    after = {arm.variable, *problem.graph.descendants(str(arm.variable))}
    codes = np.indices(shape).reshape(len(shape), -1)
    kept = codes[[i for i, v in enumerate(table.given) if v not in after]]
    return [(kept == values[:, np.newaxis]).all(axis=0) for values in np.unique(kept, axis=1).T]


def _padded(members: list[Indices], nothing: int) -> Indices:
    longest = max(map(len, members), default=0)
    padded = [np.pad(m, (0, longest - len(m)), constant_values=nothing) for m in members]
    return np.array(padded, dtype=np.intp).reshape(len(padded), longest).T


def _sets(problem: Problem, arm: Arm, table: Tallied, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The conditions of a table in which the arm's variable has the arm's value."""
    axis = table.given.index(str(arm.variable))
    codes = np.arange(math.prod(shape)) // math.prod(shape[axis + 1 :]) % shape[axis]
    return np.asarray(codes == problem.domains[str(arm.variable)].index(str(arm.value)))
