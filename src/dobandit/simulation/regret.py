"""Regret: what was lost against the best choice with known means of all arms.

Simple regret compares the recommended arm with the best one. Cumulative regret compares with the best way to spend
the whole budget: where costs and budget are whole cents, an unbounded knapsack problem that is solved exactly; else
spending everything on the best ratio of mean and cost ("fractional"), which is too high by less than one pull.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices
from dobandit.problem import Objective

CENTS = 100
MOST_UNITS = 10**6


def optimum(means: Array, costs: Array, budgets: Sequence[float]) -> tuple[Array, str]:
    """The largest total of means with axes (trial, budget), and how it was found: "knapsack" or "fractional"."""
    units = _units(costs, budgets)
    if units is None:
        return (means / costs).max(axis=1)[:, np.newaxis] * np.array(budgets), "fractional"
    prices, sizes = units
    best = np.empty((len(means), len(budgets)))
    for i, (mean, price) in enumerate(zip(means, prices, strict=True)):
        densest = int((mean / price).argmax())
        if (sizes % price[densest] == 0).all():  # the best ratio alone spends everything
            best[i] = mean[densest] * (sizes // price[densest])
        else:
            best[i] = knapsack(mean, price, int(sizes.max()))[sizes]
    return best, "knapsack"


def knapsack(values: Array, prices: NDArray[np.int64], size: int) -> Array:
    """The best total value for every size up to `size`, any number of each item.

    >>> knapsack(np.array([1.0, 2.5]), np.array([2, 3]), 7)
    array([0. , 0. , 1. , 2.5, 2.5, 3.5, 5. , 5. ])
    """
    best = np.zeros(size + 1)
    for price in np.unique(prices):
        value = float(values[prices == price].max())
        if price > size or value <= 0:
            continue
        # Along every residue class: best[r + k price] = max over j of best[r + j price] + (k - j) value.
        steps = -(-(size + 1) // int(price))
        lanes = np.full(steps * int(price), -np.inf)
        lanes[: size + 1] = best
        earned = np.arange(steps)[:, np.newaxis] * value
        lanes = (np.maximum.accumulate(lanes.reshape(steps, int(price)) - earned, axis=0) + earned).ravel()
        best = np.maximum(best, lanes[: size + 1])
    return np.maximum.accumulate(best)


def found(objective: Objective, pulls: Array, recommended: Indices, means: Array) -> Array:
    """What was earned, with axes (trial, place on the grid): the total of the means of all pulls, or for simple regret
    the mean of the recommended arm."""
    if objective == "simple":
        return np.take_along_axis(means, recommended, axis=1)
    return np.asarray((pulls * means[:, np.newaxis]).sum(axis=2))


def _units(costs: Array, budgets: Sequence[float]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Costs and budgets in their largest common unit, or None if they are not whole cents or too many."""
    cents = np.concatenate([costs.ravel(), np.array(budgets)]) * CENTS
    whole = np.rint(cents).astype(np.int64)
    if whole.min() < 1 or (np.abs(cents - whole) > 1e-9 * cents).any():
        return None
    unit = int(np.gcd.reduce(whole))
    units = whole // unit
    if units[costs.size :].max() > MOST_UNITS:
        return None
    return units[: costs.size].reshape(costs.shape), units[costs.size :]
