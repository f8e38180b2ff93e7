"""All outcomes counted together, arm by arm: from these counts any table of any graph can be made.

Tables P(v | z) are what one graph needs. Whoever comes to doubt the graph needs other tables, of outcomes that were
counted long ago. The joint table of what acts on the reward has them all, as long as it is not too large.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dobandit.estimate.circuit import total
from dobandit.evidence.tally import Layout, Tallied
from dobandit.problem import Problem

Array = NDArray[np.float64]

MOST_CELLS = 2**15  # of all arms: ten binary variables that can all be set


class Joint:
    """The joint table of a problem; there is none if it would be too large."""

    def __init__(self, problem: Problem) -> None:
        acting = problem.graph.ancestral(problem.reward)
        others = tuple(v for v in problem.graph.variables if v in acting and v != problem.reward)
        arms = tuple(range(len(problem.arms)))
        cells = 2 * math.prod(len(problem.domains[v]) for v in others) * len(arms)
        whole = Tallied(problem.reward, others, arms=arms, by_arm=True)
        self.tables: tuple[Tallied, ...] = (whole,) if cells <= MOST_CELLS else ()
        self.layout = Layout(problem, self.tables)

    def whole(self, counts: Array) -> Array:
        """The joint table with axes (row, arm, others..., reward)."""
        (joint,) = self.tables
        return self.layout.view(counts, joint)

    def of(self, whole: Array, table: Tallied) -> Array:
        """Another table, from the whole of the joint one: axes (row, given..., variable), the arm after the row if
        the table has one."""
        (joint,) = self.tables
        axes: list[str | None] = [None, "arm", *joint.given, joint.variable]
        wanted = [None, *(["arm"] if table.by_arm else []), *table.given, table.variable]
        found = whole if table.by_arm else whole[:, list(table.arms)]
        for axis in [a for a in axes if a not in wanted]:  # in an order that no batch can change
            found = total(np.moveaxis(found, axes.index(axis), 0))
            axes.remove(axis)
        return found.transpose([axes.index(a) for a in wanted])

    def counts(self, counts: Array, tables: Iterable[Tallied]) -> Array:
        """Other tables behind each other: axes (row, cell)."""
        whole = self.whole(counts)
        return np.concatenate([self.of(whole, table).reshape(len(counts), -1) for table in tables], axis=1)
