"""All outcomes counted together, arm by arm: from these counts any table of any graph can be made.

One graph needs certain tables P(v | z). If the graph turns out to be wrong, other tables are needed, of outcomes that
were counted before. The joint table of what acts on the reward holds them all, as long as it is not too large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.evidence import MOMENTS, CountTable, Layout, measuring
from dobandit.problem import Problem

MOST_CELLS = 2**15  # of all arms: nine binary causes of the reward that can all be set


class Joint:
    """The joint table of a problem; there is none if it would be too large."""

    def __init__(self, problem: Problem) -> None:
        others = problem.graph.in_order(problem.graph.ancestors(problem.reward))
        arms = tuple(range(len(problem.arms)))
        whole = measuring(problem, CountTable(problem.reward, others, arms=arms, by_arm=True, needed=False))
        self._of_reward = 1 + MOMENTS if whole.moments else 2
        cells = self._of_reward * math.prod(len(problem.domains[v]) for v in others) * len(arms)
        self.tables: tuple[CountTable, ...] = (whole,) if cells <= MOST_CELLS else ()
        self.layout = Layout(problem, self.tables)

    def outcomes(self, counts: Array) -> Array:
        """How many outcomes there are: axes (row)."""
        return np.asarray(counts[:, self.layout.numbers].sum(axis=1) if self.layout.has_moments else counts.sum(axis=1))

    def places(self, tables: Sequence[CountTable]) -> Indices:
        """Where each cell of the joint table belongs in other tables that lie behind each other: axes (table, cell).
        What a table does not hold goes to a cell behind them all."""
        (joint,) = self.tables
        shape = self.layout.shapes[0]
        names = ("arm", *joint.given, joint.variable)
        size = dict(zip(names, shape, strict=True))
        codes = dict(zip(names, np.unravel_index(np.arange(math.prod(shape)), shape), strict=True))
        found, first = [], 0
        for table in tables:
            place, cells = np.zeros(math.prod(shape), dtype=np.intp), 1
            for v in (*(["arm"] if table.by_arm else []), *table.given, table.variable):
                place, cells = place * size[v] + codes[v], cells * size[v]
            holds = np.isin(codes["arm"], table.arms)
            if joint.moments and table.variable != joint.variable:
                holds &= codes[joint.variable] == 0  # the number of outcomes
            found.append(np.where(holds, first + place, -1))
            first += cells
        return np.array([np.where(place < 0, first, place) for place in found])

    def counts(self, counts: Array, places: Indices, size: int) -> Array:
        """The other tables, which have so many cells, from the counts of the joint one: axes (row, cell)."""
        rows, cells = np.nonzero(counts)
        target = places[:, cells] + rows * (size + 1)
        weights = np.broadcast_to(counts[rows, cells], target.shape)
        found = np.bincount(target.ravel(), weights.ravel(), len(counts) * (size + 1))
        return np.asarray(found.reshape(len(counts), size + 1)[:, :size], dtype=float)
