"""Where outcomes contradict what the graph implies, the hidden cause that would explain it is added, and all data are
pooled by the repaired graph. An edge too many costs evidence but never makes an estimate wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.estimate.pooled.estimator import PooledEstimator
from dobandit.evidence import Evidence
from dobandit.problem import Problem

Added = Flags  # hidden causes that a row allows for: axes (row, pair)
KEPT = 256  # estimators of repaired graphs that are kept: rows of a batch may need different ones


class Doubts(NamedTuple):
    """What is remembered about a graph that may be wrong: part of the state of a policy that guards against it."""

    refuted: Array  # how far own rewards contradict the graph; 0 where they do not: axes (row, arm)
    added: Added
    look: Indices  # the number of outcomes at the next test of the implied independencies


class RepairedGraphs:
    """The pooled estimator of a problem, and those of its graph with hidden causes added."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.given = problem, PooledEstimator(problem)
        # The pairs of variables that a forgotten hidden cause may act on; none where no cause could be added.
        acting = problem.graph.in_order(problem.graph.ancestral(problem.reward)) if self.given.joint.tables else ()
        self.pairs = tuple(combinations(acting, 2))
        self._allowing_for = lru_cache(maxsize=KEPT)(self._with_causes)

    def _with_causes(self, added: bytes) -> PooledEstimator:
        marks = np.frombuffer(added, dtype=bool).tolist()
        causes = [pair for pair, is_added in zip(self.pairs, marks, strict=True) if is_added]
        return PooledEstimator(self.problem.with_hidden_causes(causes), from_joint=True)

    def no_doubts(self, rows: int) -> Doubts:
        """What is remembered before the first outcome."""
        added = np.zeros((rows, len(self.pairs)), dtype=bool)
        return Doubts(np.zeros((rows, len(self.problem.arms))), added, np.zeros(rows, dtype=np.intp))

    def by_graph(self, evidence: Evidence, added: Added) -> Iterator[tuple[Indices, PooledEstimator, Evidence]]:
        """The rows that assume the same graph, its estimator, and their evidence in its tables."""
        if not added.any():
            yield np.arange(len(added)), self.given, evidence
            return
        kinds, which = np.unique(added, axis=0, return_inverse=True)
        for k, kind in enumerate(kinds):
            rows = np.flatnonzero(which == k)
            part = evidence.take(rows)
            other = self._allowing_for(kind.tobytes()) if kind.any() else self.given
            yield rows, other, self.given.translated(part, other) if kind.any() else part

    def repaired(self, evidence: Evidence, added: Added) -> Added:
        """Every violated independence is explained by a hidden cause, the most violated one first, until all hold."""
        complete = self.given.has_all_outcomes(evidence)
        while True:
            new = added.copy()
            for rows, other, part in self.by_graph(evidence, added):
                off = other.violations(part)
                for k in np.flatnonzero(off.any(axis=1) & complete[rows]):
                    worst = other.implied.independencies[off[k].argmax()]
                    new[rows[k], self.pairs.index((worst.a, worst.b))] = True
            if (new == added).all():
                return added
            added = new

    def reconsidered(self, evidence: Evidence, refuted: Array, added: Added) -> tuple[Array, Added]:
        """What is refuted and added after a test of the independencies: a new graph may explain what the old one could
        not."""
        now = self.repaired(evidence, added)
        changed = (now != added).any(axis=1, keepdims=True)
        return np.where(changed, 0.0, refuted), now
