"""All outcomes counted together, arm by arm: from these counts any table of any graph can be made.

One graph needs certain tables P(v | z). If the graph turns out to be wrong, other tables are needed, of outcomes that
were counted before. The joint table of what acts on the reward holds them all, as long as it is not too large.

Where variables are set together there are many arms. Then arms that set the same variables have one part of the table
in common: the values that they set are among its axes. Where there is no room for all parts, those come first that
set the fewest variables, because an outcome tells less about the graph, the more of its edges are cut.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.evidence import MOMENTS, CountTable, Layout, measuring
from dobandit.problem import Problem

MOST_CELLS = 2**15  # of all arms, 256 kB for a study: nine binary causes of the reward that can all be set


class Joint:
    """The joint table of a problem; there is none if it would be too large. `arms` are those that it counts."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        others = problem.graph.in_order(problem.graph.ancestors(problem.reward))
        whole = measuring(problem, CountTable(problem.reward, others, needed=False))
        of_reward = 1 + MOMENTS if whole.moments else 2
        room = MOST_CELLS // (of_reward * math.prod(len(problem.domains[v]) for v in others))
        parts = _parts(problem, frozenset(others))
        self.arms = tuple(k for k, part in enumerate(parts) if part < room)
        if problem.sets_single_variables:
            self.arms = self.arms if len(self.arms) == len(parts) else ()
            whole = replace(whole, arms=self.arms, by_arm=True)
        else:
            whole = replace(whole, arms=self.arms, parts=tuple(part if part < room else 0 for part in parts))
        self.tables: tuple[CountTable, ...] = (whole,) if self.arms else ()
        self.layout = Layout(problem, self.tables)

    def outcomes(self, counts: Array) -> Array:
        """How many outcomes there are: axes (row)."""
        return np.asarray(counts[:, self.layout.numbers].sum(axis=1) if self.layout.has_moments else counts.sum(axis=1))

    def outcomes_by_arm(self, counts: Array) -> Array:
        """The same of every arm, where each has a part of its own: axes (row, arm)."""
        numbers = counts[:, self.layout.numbers] if self.layout.has_moments else counts
        return np.asarray(numbers.reshape(len(counts), len(self.arms), -1).sum(axis=2))

    def places(self, tables: Sequence[CountTable]) -> Indices:
        """Where each cell of the joint table belongs in other tables that lie behind each other: axes (table, cell).
        What a table does not hold goes to a cell behind them all."""
        (joint,), shape = self.tables, self.layout.shapes[0]
        size = dict(zip(joint.variables, shape[1:], strict=True))
        codes = dict(zip(joint.variables, np.unravel_index(np.arange(math.prod(shape)), shape)[1:], strict=True))
        arm, others = self._arm_of_cell, Layout(self._problem, tables)
        found = []
        for table, parts, at in zip(others.tables, others.parts, others.slices, strict=True):
            place = np.zeros(len(arm), dtype=np.intp) if parts is None else parts[arm]
            for v in table.variables:
                place = place * size[v] + codes[v]
            holds = np.isin(arm, table.arms)
            if joint.moments and table.variable != joint.variable:
                holds &= codes[joint.variable] == 0  # the number of outcomes
            found.append(np.where(holds, at.start + place, others.size))
        return np.array(found)

    @cached_property
    def _arm_of_cell(self) -> Indices:
        """The arm whose outcomes a cell counts; -1 where there is none."""
        (joint,), shape = self.tables, self.layout.shapes[0]
        if joint.by_arm:
            return np.repeat(np.arange(shape[0]), math.prod(shape[1:]))
        found = np.full(shape, -1, dtype=np.intp)
        for k in self.arms:
            codes = self._problem.arms[k].codes(self._problem.domains)
            found[(joint.parts[k], *(codes.get(v, slice(None)) for v in joint.given))] = k
        return found.ravel()

    def counts(self, counts: Array, places: Indices, size: int) -> Array:
        """The other tables, which have so many cells, from the counts of the joint one: axes (cell, row)."""
        some = np.flatnonzero(counts != 0)
        rows, cells = np.divmod(some, max(counts.shape[1], 1))
        target = places[:, cells] * len(counts) + rows
        weights = np.broadcast_to(counts.ravel()[some], target.shape)
        found = np.bincount(target.ravel(), weights.ravel(), (size + 1) * len(counts))
        return np.asarray(found.reshape(size + 1, len(counts))[:size], dtype=float)


def _parts(problem: Problem, counted: frozenset[str]) -> list[int]:
    """The part of the joint table of these variables that each arm has."""
    if problem.sets_single_variables:
        return list(range(len(problem.arms)))
    first: dict[Hashable, int] = {}
    outside = (frozenset(s for s in arm.settings if s[0] not in counted) for arm in problem.arms)
    keys = ((counted.intersection(arm.variables), rest) for arm, rest in zip(problem.arms, outside, strict=True))
    return [first.setdefault(key, len(first)) for key in keys]
