"""How far pulls are expected to move the gap between the leader and every rival: an arm that may be recommended.

A pull of arm j is counted on condition z of a table with the chance met[j, z], which makes the posterior of z sharper,
and z has the part moved[a, z] in the variance of the gap between the leader and rival a. So the square of a spread is
the sum over z of moved[a, z] times what arm j teaches about z.

That is a sum for every pair of arms. In a large graph nearly all arms meet z as often as is usual: as often as do(), if
what they set does not precede z, or never. So the sum of what is usual is made once for all arms of the same cost, and
corrected for every arm where it is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Flags, Indices
from dobandit.policies.protocol import OBSERVE

TOGETHER = 2**16  # spreads of a large graph that are made together, so that they stay in the cache
LOST = 1e-6  # of a sum: if a correction leaves less than that of it, too many digits are lost


class OwnRewards(NamedTuple):
    """What the own rewards of arms say, where these judge the arm: axes (arm, row)."""

    variances: Array  # of one reward; 0 where an arm is judged by tables
    number: Array  # of rewards, the prior included

    def moved(self, pulls: Array) -> Array:
        """How far so many pulls move the mean of the arm, as a variance."""
        return np.asarray(self.variances * (1 / self.number - 1 / (self.number + pulls)))


class Information(NamedTuple):
    """What pulls are expected to reveal, with the row as the last axis: about tables, and about the rewards of arms
    that are judged alone."""

    leader: Indices
    rivals: Indices  # the arms that may be recommended, the leader among them
    totals: Array  # of the posteriors: (z, row)
    met: Array  # the chance that an outcome of arm j falls on z: (j, z, row)
    moved: NDArray[np.floating]  # the part of z in the variance of the gap to rival a, times totals + 1: (a, z, row)
    own: OwnRewards | None  # if some arm is judged by these

    def of_row(self, row: int) -> Information:
        """The same for a batch of one."""
        at = slice(row, row + 1)
        totals, met, moved = self.totals[:, at], self.met[..., at], self.moved[..., at]
        own = self.own and OwnRewards(self.own.variances[:, at], self.own.number[:, at])
        return Information(self.leader[at], self.rivals, totals, met, moved, own)


def spreads(information: Information, pulls: Array) -> Array:
    """The spreads of the gap to rival a for so many pulls of arm j: axes (a, j, row). Every pair has its own sum."""
    now = information.totals + 1
    learnt = pulls[:, np.newaxis] * information.met
    learnt += now
    np.divide(1.0, learnt, out=learnt)
    np.subtract(1 / now, learnt, out=learnt)
    squares = added_up(information.moved, learnt.astype(information.moved.dtype)).astype(float)
    rivals, leader, rows = information.rivals, information.leader, np.arange(len(information.leader))
    if information.own is not None:
        own = information.own.moved(pulls)
        squares[np.arange(len(rivals)), rivals] += own[rivals]
        squares[:, leader, rows] += own[leader, rows]
    squares[np.searchsorted(rivals, leader), :, rows] = 0.0
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def added_up(moved: NDArray[np.floating], learnt: NDArray[np.floating]) -> NDArray[np.floating]:
    """Σ_z of products, one z after the other: axes (a, j, row). A matrix product's bits would depend on the machine.
    Fastest is to go through rows inside, or, where there are fewer rows than arms, through arms; the bits are the
    same."""
    arms, _, rows = learnt.shape
    if rows >= arms:
        return np.asarray(np.einsum("azr,jzr->ajr", moved, learnt))
    by_row = zip(np.moveaxis(moved, -1, 0), np.moveaxis(learnt, -1, 0), strict=True)
    return np.stack([np.einsum("az,zj->aj", m, np.ascontiguousarray(one.T)) for m, one in by_row], axis=-1)


def spreads_in_parts(information: Information, pulls: Array) -> Iterator[Array]:
    """The same for a batch of one and some numbers of pulls, axes (number, j), some arms j after the others: axes (a,
    number, j). Arms share what is usual."""
    sums = _Sums(information)
    rivals, leader = information.rivals, int(information.leader[0])
    own = information.own and information.own.moved(pulls[..., np.newaxis])[..., 0]
    usual, price = sums.usual_of_prices(pulls)
    least = LOST * usual
    together = max(1, TOGETHER // (len(pulls) * len(rivals)))
    for first in range(0, pulls.shape[1], together):
        part = slice(first, first + together)
        squares = usual.take(price[part], axis=1)
        sums.correct(squares, part, pulls[:, part])
        sums.renew(squares, squares < least.take(price[part], axis=1), part, pulls[:, part])
        if own is not None:
            _add_own(squares, own, part, rivals, leader)
        squares[..., np.searchsorted(rivals, leader)] = 0.0
        yield np.sqrt(np.moveaxis(squares, -1, 0), order="C")


class _Sums:
    """Sums over z of what is moved times what is learnt, for a batch of one: axes (number of pulls, j, a)."""

    def __init__(self, information: Information) -> None:
        self._now = information.totals[:, 0] + 1
        self._met = information.met[..., 0]
        self._moved = np.ascontiguousarray(information.moved[..., 0].T)
        often = self._met[OBSERVE]
        is_often, is_never = (np.count_nonzero(self._met == each, axis=0) for each in (often, 0.0))
        self._usual = np.where(is_often >= is_never, often, 0.0)

    def usual_of_prices(self, pulls: Array) -> tuple[Array, Indices]:
        """The sums for arms that meet every z as often as is usual, of every price: axes (number of pulls, price, a).
        And the price of every arm."""
        _, first, price = np.unique(pulls[0], return_index=True, return_inverse=True)
        learnt = _learnt(self._now, self._usual, pulls[:, first, np.newaxis])
        return np.einsum("hpz,za->hpa", learnt, self._moved), price

    def correct(self, sums: Array, arms: slice, pulls: Array) -> None:
        """Turn the usual sums into those of some arms."""
        met = self._met[arms]
        differs = met != self._usual
        arm, z = np.divmod(np.flatnonzero(differs), differs.shape[1])  # `nonzero` takes longer
        now, pulls_of = self._now[z], pulls[:, arm]
        more = _learnt(now, met[arm, z], pulls_of) - _learnt(now, self._usual[z], pulls_of)
        begin = np.searchsorted(arm, np.arange(len(met) + 1)).tolist()
        for first, end in pairwise(_starts(differs)):
            of_arms = sums[:, first:end]
            factors = more[:, begin[first] : begin[end]].reshape(len(pulls) * (end - first), -1)
            moved = self._moved.take(z[begin[first] : begin[first + 1]], axis=0)
            of_arms += np.einsum("kz,za->ka", factors, moved).reshape(of_arms.shape)

    def renew(self, sums: Array, lost: Flags, arms: slice, pulls: Array) -> None:
        """Make those sums of some arms again that have lost too many digits, without what is usual."""
        met = self._met[arms]
        for j in np.flatnonzero(lost.any(axis=(0, 2))):
            a = np.flatnonzero(lost[:, j].any(axis=0))
            learnt = _learnt(self._now, met[j], pulls[:, j, np.newaxis])
            sums[:, j, a] = np.einsum("hz,za->ha", learnt, self._moved.take(a, axis=1))


def _learnt(now: Array, met: Array, pulls: Array) -> Array:
    """What so many pulls teach."""
    return np.asarray(1 / now - 1 / (now + pulls * met))


def _starts(differs: Flags) -> list[int]:
    """Where arms begin that differ on other conditions than the arm before, and the end."""
    changes = (differs[1:] != differs[:-1]).any(axis=1)
    return [0, *(np.flatnonzero(changes) + 1).tolist(), len(differs)]


def _add_own(squares: Array, own: Array, part: slice, rivals: Indices, leader: int) -> None:
    """Add what own rewards move: pulls of an arm its own mean, and if it leads, every gap."""
    at = np.flatnonzero((rivals >= part.start) & (rivals < part.stop))
    squares[:, rivals[at] - part.start, at] += own[:, rivals[at]]
    if part.start <= leader < part.stop:
        squares[:, leader - part.start] += own[:, leader, np.newaxis]
