"""Picking the best arm, and what to do when several are: one uniform number per row decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import Info, Reason, View

NEARLY = 1e-6  # scores of rewards that are measurements are equal if they differ by less


def pick(scores: Array, view: View, chance: Chance) -> tuple[Indices, Info]:
    """The affordable arm with the highest score, and why; of m such arms the floor(u*m)-th in arm order."""
    allowed = view.affordable
    masked = scores if allowed.all() else np.where(allowed, scores, -np.inf)
    if view.problem.reward_is_real:
        masked = levelled(masked)
    best: Indices = masked.argmax(axis=1)
    last = masked.shape[1] - 1 - masked[:, ::-1].argmax(axis=1)
    several = (best != last).nonzero()[0]
    reason = np.zeros(len(best), dtype=np.intp)  # Reason.INDEX
    if len(several):
        u = chance.uniforms(view.trials[several], view.times[several], 1)[:, 0]
        ties = masked[several] == masked[several, best[several]][:, np.newaxis]
        best[several] = chosen(ties & allowed[several], u)
        reason[several] = Reason.TIE
    return best, Info(reason, scores)


def levelled(scores: Array) -> Array:
    """Scores of which those that are nearly the highest are equal. Rewards in another unit are rounded in another
    way, and that shall decide nothing.

    >>> levelled(np.array([[0.5, 0.7, 0.7 + 1e-9]])).round(6).tolist()
    [[0.5, 0.7, 0.7]]
    """
    highest = scores.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # all may be minus infinity
        return np.where(highest - scores < NEARLY, highest, scores)


def chosen(marked: Flags, u: Array) -> Indices:
    """Of the m marked arms of a row the floor(u*m)-th.

    >>> chosen(np.array([[False, True, True]]), np.array([0.7]))
    array([2])
    """
    wanted = np.floor(u * marked.sum(axis=1))
    return np.asarray((marked.cumsum(axis=1) > wanted[:, np.newaxis]).argmax(axis=1))


def sweep_first(view: View, arms: Indices, info: Info) -> tuple[Indices, Info]:
    """Every arm once in arm order, as far as it is affordable, before these choices count."""
    untried = (view.pulls == 0) & view.affordable
    if not untried.any():
        return arms, info
    sweeping = untried.any(axis=1)
    reason = np.where(sweeping, Reason.SWEEP, info.reason)
    return np.where(sweeping, untried.argmax(axis=1), arms), replace(info, reason=reason)


def recommended(scores: Array, costs: Array) -> Indices:
    """The arm with the highest score; among equals do(), then the cheaper, then the first. NaN: nothing is known.

    Scores that differ in the last digits only are equal: the order in which a sum was made shall not decide.
    """
    scores = np.where(np.isnan(scores), -np.inf, np.round(scores, 12))
    best = scores == scores.max(axis=1, keepdims=True)
    cheapness = np.where(best, costs, np.inf)
    cheapness[:, 0] = np.where(best[:, 0], -1.0, np.inf)
    return np.asarray(cheapness.argmin(axis=1))
