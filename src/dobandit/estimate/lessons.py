"""What a pull would teach: which conditions z of which tables its outcome would fall on, and how often.

Only do() shows how often z occurs by itself. An arm do(X=x) is taken to meet those z that an observation with X=x
would, which is exact where X is a root, and a guess elsewhere. It decides what is pulled, never what is believed.
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
        agrees, self._pair, self._members = _agreement(problem, pool, conditions)
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
        shares = np.concatenate([total(padded[self._members]), np.ones((1, seen.shape[1]))])
        return np.where(self._meets, seen / shares[self._pair], 0.0)


def _agreement(problem: Problem, pool: Pool, conditions: Conditions) -> tuple[NDArray[np.bool_], Indices, Indices]:
    """Which conditions agree with what an arm sets; and for every pair of an arm and a table that has its variable
    as a condition, which of the table's conditions do. Where there is no such pair, its number is the last."""
    agrees = np.ones((pool.arms, len(conditions)), dtype=bool)
    pair = np.full(agrees.shape, -1, dtype=np.intp)
    members: list[Indices] = []
    for k, arm in enumerate(problem.arms):
        for t, table in enumerate(pool.tables):
            if arm.variable in table.given:
                at = slice(int(conditions.start[t]), int(conditions.start[t + 1]))
                agrees[k, at] = _sets(problem, arm, table, pool.layout.shapes[t][:-1])
                pair[k, at] = len(members)
                members.append(at.start + np.flatnonzero(agrees[k, at]))
    pair[pair < 0] = len(members)
    longest = max(map(len, members), default=0)
    padded = [np.pad(m, (0, longest - len(m)), constant_values=len(conditions)) for m in members]
    return agrees, pair, np.array(padded, dtype=np.intp).reshape(len(padded), longest).T


def _sets(problem: Problem, arm: Arm, table: Tallied, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The conditions of a table in which the arm's variable has the arm's value."""
    axis = table.given.index(str(arm.variable))
    codes = np.arange(math.prod(shape)) // math.prod(shape[axis + 1 :]) % shape[axis]
    return np.asarray(codes == problem.domains[str(arm.variable)].index(str(arm.value)))
