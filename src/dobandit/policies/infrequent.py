"""Which arms are too rare to be learnt from observations: the thresholds of the two-phase algorithms.

All of them look for the smallest tau such that the arms rarer than 1/tau can still be afforded in tau parts of the
money: Lattimore et al. (2016), Nair et al. (2021) and Maiti et al. (2022) count variables and let tau run over whole
numbers from 2; the paper weighs arms by their costs and lets tau be any positive number.
"""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.problem import Problem


def threshold_n(rarity: Array, costs: Array) -> Array:
    """n(q), equation 10: the smallest real tau such that the arms with rarity < 1/tau cost at most tau together.

    Axes (row, arm); `rarity` is q^k. The total cost of the rarer arms is a step function that falls as tau grows,
    from one step at tau = 1/rarity to the next. With the arms sorted by rarity, tau may lie on the step on which
    just the first j arms are rarer if their cost is at most 1/rarity of the next one; then the smallest such tau is
    their cost, or where the step begins.

    >>> threshold_n(np.array([[0.02, 0.02, 0.5, 0.98]]), np.array([[4.0, 4.0, 4.0, 4.0]]))  # two rare arms: 4 + 4
    array([8.])
    >>> threshold_n(np.array([[0.5, 0.5]]), np.array([[3.0, 3.0]]))  # below 2 both arms are rare, from 2 on none
    array([2.])
    """
    order = rarity.argsort(axis=1, kind="stable")
    steps = _seldom(np.take_along_axis(rarity, order, axis=1))  # falling: here the j-th arm ceases to be rare
    none = np.zeros((len(rarity), 1))
    total = np.concatenate([none, np.take_along_axis(costs, order, axis=1).cumsum(axis=1)], axis=1)
    begins = np.concatenate([steps, none], axis=1)  # of the step on which the first j arms are rarer
    ends = np.concatenate([none + np.inf, steps], axis=1)
    smallest = np.maximum(total, begins)
    return np.asarray(np.where(smallest < ends, smallest, np.inf).min(axis=1))


def rarer(rarity: Array, n: Array, or_as_rare: bool) -> Flags:
    """The arms with rarity < 1/n, or <= 1/n."""
    seldom, limit = _seldom(rarity), n[:, np.newaxis]
    return seldom >= limit if or_as_rare else seldom > limit


def _seldom(rarity: Array) -> Array:
    """1/rarity, which is what n and m are compared with: n is often exactly such a number, and 1/49 of the rows is
    not rarer than 1/49 because a quotient was rounded."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.round(1 / rarity, 12)


def threshold_m(rarest: Array, largest: int) -> Array:
    """m(q): the smallest whole number m in 2..largest such that at most m variables are rarer than 1/m.

    Axes (row, variable); `rarest` is the probability of each variable's rarest value (in Maiti et al. to the power
    of the size of its c-component). A single variable gives 2.

    >>> threshold_m(np.array([[0.02, 0.02, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0]]), largest=4)
    array([2., 4.])
    """
    m = np.arange(2.0, max(largest, 2) + 1)
    rare = (_seldom(rarest)[:, np.newaxis, :] > m[np.newaxis, :, np.newaxis]).sum(axis=2)
    return np.asarray(m[np.where((rare <= m).any(axis=1), (rare <= m).argmax(axis=1), len(m) - 1)])


def by_variable(rarity: Array, problem: Problem) -> Array:
    """The rarity of each variable's rarest value, with axes (row, variable)."""
    if not problem.intervenable:
        return rarity[:, 1:]
    sizes = [len(problem.domains[v].known) for v in problem.intervenable]
    starts = 1 + np.cumsum([0, *sizes[:-1]])  # do() comes first
    return np.minimum.reduceat(rarity, starts, axis=1)


def by_arm(variables: Flags, problem: Problem) -> Flags:
    """All values of the marked variables, with axes (row, arm)."""
    sizes = [len(problem.domains[v].known) for v in problem.intervenable]
    arms = np.repeat(variables, sizes, axis=1)
    return np.concatenate([np.zeros((len(arms), 1), dtype=bool), arms], axis=1)


def first_variables(rarest: Array) -> Flags:
    """The rarest variables as the public code of Maiti et al. takes them, which is not what their paper defines: in
    ascending order, up to the first whose rarity is above 1/(its number), counted from one.

    >>> first_variables(np.array([[0.5, 0.02, 0.48, 0.02]]))
    array([[False,  True, False,  True]])
    """
    order = rarest.argsort(axis=1, kind="stable")
    enough = np.take_along_axis(rarest, order, axis=1) > 1 / np.arange(1, rarest.shape[1] + 1)
    number = np.append(enough, np.ones((len(enough), 1), dtype=bool), axis=1).argmax(axis=1)
    place = order.argsort(axis=1, kind="stable")
    return np.asarray(place < number[:, np.newaxis])
