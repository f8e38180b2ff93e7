"""Forced observation: the rule that CRM-NB, CRM and the paper's Algorithm 1 share.

Observing is worth more than its reward, because an observation informs other arms. So do() is pulled
whenever it has been pulled fewer than beta^2 ln t times, and beta grows as the gap between the best arm and
do() becomes small. Otherwise the arm with the highest index is pulled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import OBSERVE, Info, Reason, View
from dobandit.policies.ties import pick, sweep_first


class Forced(NamedTuple):
    """What the rule remembers."""

    beta: Array
    swept: Flags  # whether the first sweep over the arms is over


def start(rows: int) -> Forced:
    return Forced(np.ones(rows), np.zeros(rows, dtype=bool))


def decide(view: View, forced: Forced, index: Array, value: Array, chance: Chance) -> tuple[Indices, Forced, Info]:
    """The next arm: the sweep first (in arm order, do() first), then observation where forced, else the best index.

    `value` is what beta compares: the estimated means (over costs, if the algorithm knows of costs).
    """
    beta = np.where(forced.swept, updated_beta(forced.beta, value, view.time), forced.beta)
    best, info = pick(index, view, chance)
    is_due = (view.pulls[:, OBSERVE] < beta**2 * np.log(view.time + 1)) & view.affordable[:, OBSERVE]
    reason = np.where(is_due & (best != OBSERVE), Reason.OBSERVATION_DUE, info.reason)
    arms, info = sweep_first(view, np.where(is_due, OBSERVE, best), replace(info, reason=reason))
    return arms, Forced(beta, forced.swept | (info.reason != Reason.SWEEP)), info


def updated_beta(beta: Array, value: Array, t: int) -> Array:
    """min{2 sqrt 2 / gap, sqrt(ln t)} where some arm looks better than do(); elsewhere beta stays as it is.

    >>> updated_beta(np.array([1.0, 1.0]), np.array([[0.2, 0.9], [0.5, 0.4]]), t=100)
    array([2.14596603, 1.        ])
    """
    gap = value.max(axis=1) - value[:, OBSERVE]
    with np.errstate(divide="ignore"):
        candidate = np.minimum(2 * np.sqrt(2) / gap, np.sqrt(np.log(max(t, 1))))
    return np.where(gap > 0, candidate, beta)
