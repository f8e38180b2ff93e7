"""Where outcomes break what the graph implies, the hidden cause that would explain it is added, and all data are pooled
by the repaired graph. An edge too many costs evidence, never truth: a right graph stays right with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.estimate.pooled.estimator import PooledEstimator, pooled_of
from dobandit.evidence import Evidence
from dobandit.problem import Problem

Added = Flags  # hidden causes that a row allows for: axes (row, pair)


@lru_cache(maxsize=256)
def pairs_of(problem: Problem) -> tuple[tuple[str, str], ...]:
    """The pairs of variables that a forgotten hidden cause may act on; none where no cause could be added."""
    if not pooled_of(problem).joint.tables:
        return ()
    return tuple(combinations(problem.graph.in_order(problem.graph.ancestral(problem.reward)), 2))


@lru_cache(maxsize=256)
def _allowing_for(problem: Problem, added: bytes) -> PooledEstimator:
    marks = np.frombuffer(added, dtype=bool).tolist()
    return PooledEstimator(
        problem.with_hidden_causes([p for p, mark in zip(pairs_of(problem), marks, strict=True) if mark])
    )


def by_graph(problem: Problem, evidence: Evidence, added: Added) -> Iterator[tuple[Indices, PooledEstimator, Evidence]]:
    """The rows that assume the same graph, its estimator, and their evidence in its tables."""
    pooled = pooled_of(problem)
    if not added.any():
        yield np.arange(len(added)), pooled, evidence
        return
    kinds, which = np.unique(added, axis=0, return_inverse=True)
    for k, kind in enumerate(kinds):
        rows = np.flatnonzero(which == k)
        part = evidence.take(rows)
        other = _allowing_for(problem, kind.tobytes()) if kind.any() else pooled
        yield rows, other, pooled.translated(part, other) if kind.any() else part


def repaired(problem: Problem, evidence: Evidence, added: Added) -> Added:
    """Every broken promise is explained by a hidden cause, the most broken one first, until all are kept."""
    pooled = pooled_of(problem)
    # Older studies counted other tables.
    complete = pooled.together(evidence).sum(axis=1) >= evidence.told.sum(axis=1) - 0.5
    while True:
        new = added.copy()
        for rows, other, part in by_graph(problem, evidence, added):
            broken = other.broken(part)
            for k in np.flatnonzero(broken.any(axis=1) & complete[rows]):
                promise = other.promises.promises[broken[k].argmax()]
                new[rows[k], pairs_of(problem).index((promise.a, promise.b))] = True
        if (new == added).all():
            return added
        added = new


def looked(problem: Problem, evidence: Evidence, refuted: Array, added: Added) -> tuple[Array, Added]:
    """What is refuted and added after a look at the promises: a new graph may explain what the old one could not."""
    now = repaired(problem, evidence, added)
    changed = (now != added).any(axis=1, keepdims=True)
    return np.where(changed, 0.0, refuted), now


class Doubts(NamedTuple):
    """What the guard remembers of every row: part of the state of a policy that has it."""

    refuted: Array  # how far own rewards contradict the graph; 0 where they do not: axes (row, arm)
    added: Added
    look: Indices  # the number of outcomes at the next look at the promises

    @classmethod
    def none(cls, problem: Problem, rows: int) -> Doubts:
        added = np.zeros((rows, len(pairs_of(problem))), dtype=bool)
        return cls(np.zeros((rows, len(problem.arms))), added, np.zeros(rows, dtype=np.intp))
