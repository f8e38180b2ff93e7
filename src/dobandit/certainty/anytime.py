"""Confidence sequences: intervals of means that hold at all times together, however often you look.

Take any number m for the mean of rewards between 0 and 1. A player who bets a share f of the money on each reward x
being larger than m has (1 - f) + f x / m times as much afterwards. If m is the mean, such money does not grow on
average, whatever decides about the next pull, so that it ever reaches 1/α times its start with a chance of at most α
(Ville). So every m at which it has done so is left out, and so for bets that rewards are smaller. The money is divided
among several shares f, because the best one is not known: a mixture of bets (Waudby-Smith and Ramdas, JRSS B 2024;
Robbins 1970). It depends on how often every reward occurred, and not on their order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array

LEVEL = 0.95
SHARES = 2.0 ** (-np.arange(26) / 2)  # of the money that are bet: from all of it to what 10^7 rewards ask for
HALVINGS = 50  # of the interval in which an end is searched


class Interval(NamedTuple):
    low: float
    high: float


def sequence_ends(rewards: Array, counts: Array, level: float = LEVEL) -> tuple[Array, Array]:
    """The ends of confidence sequences.

    Parameters
    ----------
    rewards
        The values that occurred, between 0 and 1: axes (value,).
    counts
        How often each of them did: axes (..., value), for many sequences at once.
    level
        The chance that a mean is never outside, at any time.

    Returns
    -------
    tuple of arrays
        The lower and the upper ends, with the axes of `counts` but the last.

    >>> low, high = sequence_ends(np.array([0.0, 1.0]), np.array([[0, 0], [60, 40]]))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.24], [1.0, 0.57])
    """
    needed = np.log(2 / (1 - level))  # half of the chance for either side
    return _lower(rewards, counts, needed), 1 - _lower(1 - rewards, counts, needed)


def _lower(rewards: Array, counts: Array, needed: float) -> Array:
    """The largest number at which bets on larger rewards have earned enough: they earn less, the larger it is."""
    low, high = np.zeros(counts.shape[:-1]), np.ones(counts.shape[:-1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_left_out = _log_money(rewards, counts, middle) >= needed
        low, high = np.where(is_left_out, middle, low), np.where(is_left_out, high, middle)
    return low


def _log_money(rewards: Array, counts: Array, mean: Array) -> Array:
    """The logarithm of what one unit of money has become that was divided equally among the shares."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.log((1 - SHARES) + SHARES * (rewards / mean[..., np.newaxis])[..., np.newaxis])  # (..., value, f)
        logs = np.where(counts[..., np.newaxis] > 0, counts[..., np.newaxis] * factors, 0.0).sum(axis=-2)
        top = np.maximum(logs.max(axis=-1, keepdims=True), -1e300)
        return np.asarray(np.log(np.exp(logs - top).mean(axis=-1)) + top[..., 0])
