"""Picking the best arm, and what to do when several are: one uniform number per row decides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dobandit.chance import Chance
from dobandit.policies.protocol import Arms, Array, View


def pick(scores: Array, allowed: NDArray[np.bool_], u: Array) -> Arms:
    """The allowed arm with the highest score; of m such arms the floor(u*m)-th in arm order.

    >>> pick(np.array([[1.0, 3.0, 3.0]]), np.array([[True, True, True]]), np.array([0.7]))
    array([2])
    """
    masked = np.where(allowed, scores, -np.inf)
    best: Arms = masked.argmax(axis=1)
    ties = masked == masked[np.arange(len(best)), best][:, np.newaxis]
    ties &= allowed
    several = np.flatnonzero(np.count_nonzero(ties, axis=1) > 1)
    if len(several):
        among = ties[several]
        wanted = np.floor(u[several] * among.sum(axis=1))
        best[several] = (among.cumsum(axis=1) > wanted[:, np.newaxis]).argmax(axis=1)
    return best


def sweep_then_pick(view: View, index: Array, chance: Chance) -> Arms:
    """Every arm once in arm order, as far as it is affordable; then the affordable one with the highest index."""
    u = chance.uniforms(view.trials, view.time, 1)[:, 0]
    untried = first((view.pulls == 0) & view.affordable)
    return np.where(untried >= 0, untried, pick(index, view.affordable, u))


def first(marked: NDArray[np.bool_]) -> Arms:
    """The first marked arm of every row, -1 where none is."""
    found = marked.argmax(axis=1)
    return np.where(marked[np.arange(len(found)), found], found, -1)


def recommended(scores: Array, costs: Array) -> Arms:
    """The arm with the highest score; among equals do(), then the cheaper, then the first."""
    best = scores == scores.max(axis=1, keepdims=True)
    cheapness = np.where(best, costs, np.inf)
    cheapness[:, 0] = np.where(best[:, 0], -1.0, np.inf)
    found: Arms = cheapness.argmin(axis=1)
    return found
