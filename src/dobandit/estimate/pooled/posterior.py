"""What is believed about the cells of tables: every row P(. | z) has a Dirichlet posterior, Jeffreys' prior being 1/2
for every value.

Rows of a table of the reward may be centred: then they have a prior of the same weight around the mean of a group of
rows. Many rows have few data or none; where success is rare, a row with mean 1/2 would look better than everything that
is known.

All arrays have the rows of the batch as their last axis and are added up in a fixed order, so that the bits of a
row do not depend on its company.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.estimate.pooled.own import PRIOR
from dobandit.evidence import CountTable, Layout

OBSERVED = 0  # the place of do() among the arms


class Conditions:
    """The conditions z of all tables: which cells belong together. `groups` are those that are centred together, each
    a list of conditions of one table of the reward."""

    def __init__(self, layout: Layout, groups: Sequence[Indices] = ()) -> None:
        cards = [shape[-1] for shape in layout.shapes]
        numbers = [int(np.prod(shape[:-1])) for shape in layout.shapes]
        self.table = np.repeat(np.arange(len(cards)), numbers)  # of every condition
        self.card = np.array(cards, dtype=np.intp)[self.table]
        self.first = np.concatenate([[0], np.cumsum(self.card)[:-1]]).astype(np.intp) if len(cards) else self.table
        self.of_cell = np.repeat(np.arange(len(self.card)), self.card)
        self.start = np.concatenate([[0], np.cumsum(numbers)]).astype(np.intp)  # of every table's conditions
        self._all_binary = bool((self.card == 2).all())
        together = [group for group in groups if len(group) > 1]
        self.lost = self.first[np.concatenate([np.zeros(0, dtype=np.intp), *together])]  # cells of centred rows
        self.won = self.lost + 1
        self._begin = np.cumsum([0, *map(len, together)])[:-1]
        self.group = np.repeat(np.arange(len(together)), [*map(len, together)])  # of every centred row

    def __len__(self) -> int:
        return len(self.card)

    def shapes(self, counts: Array) -> Array:
        """The parameters of the posteriors after these counts: axes (row, cell)."""
        found = counts + PRIOR
        if len(self.group):
            above = (2 * PRIOR * self.group_means(counts) - PRIOR).take(self.group, axis=1)
            found[:, self.won] += above
            found[:, self.lost] -= above
        return found

    def sampled(self, shapes: Array, chance: Chance, trials: Indices, number: int | Indices) -> Array:
        """A draw from the posteriors with these parameters, not yet normalised, for the decision of this number."""
        return chance.gammas(trials, number, shapes)

    def group_means(self, counts: Array) -> Array:
        """The mean reward of every group, with Jeffreys' prior: axes (row, group)."""
        won, lost = self.added_up(counts.take(self.won, axis=1)), self.added_up(counts.take(self.lost, axis=1))
        return np.asarray((won + PRIOR) / (won + lost + 2 * PRIOR))

    def added_up(self, numbers: Array) -> Array:
        """Sums over every group, of numbers with axes (row, centred row of a table)."""
        return np.add.reduceat(numbers, self._begin, axis=1)

    def sums(self, cells: Array) -> Array:
        """Sums over the values of each condition; axes (..., cell, row) become (..., condition, row)."""
        if self._all_binary:
            return np.asarray(cells[..., 0::2, :] + cells[..., 1::2, :])
        found = cells.take(self.first, axis=-2)
        for code in range(1, int(self.card.max(initial=1))):
            has = np.flatnonzero(self.card > code)
            found[..., has, :] += cells.take(self.first[has] + code, axis=-2)
        return found

    def normalised(self, cells: Array) -> Array:
        """Cells that sum to one for every condition."""
        return np.asarray(cells / self.sums(cells).take(self.of_cell, axis=-2))

    def errors(self, cells: Array, g: Array) -> tuple[Array, Array]:
        """How far functions with these gradients may be off because of each condition: its part of their variance (the
        `covariance` with themselves), and where the prior stands for it, its standard deviation if all values are
        equally likely, times this over the posterior's total."""
        if self._all_binary:
            between = _differences(g)
            parts = between * between
            parts *= cells[..., 0::2, :] * cells[..., 1::2, :]
            np.abs(between, out=between)
            between *= PRIOR
            return parts, between
        uniform = np.broadcast_to(1 / self.card[self.of_cell][:, np.newaxis], g.shape)
        return self.covariance(cells, g, g), self._off(self.covariance(uniform, g, g))

    def _off(self, parts: Array) -> Array:
        """How far the prior may be off where the parts of conditions in the variance are these."""
        return np.asarray(PRIOR * self.card[:, np.newaxis] * np.sqrt(np.maximum(parts, 0.0)))

    def covariance(self, cells: Array, g: Array, h: Array) -> Array:
        """Σ_v p g h - (Σ_v p g)(Σ_v p h) for every condition, of gradients with axes (..., cell, row).

        Divided by one more than the Dirichlet's total, it is the condition's part of the covariance of two functions
        of the tables with these gradients (delta method). With two values it is P(0) P(1) times the differences of the
        gradients between them, which takes half as long and loses no digits.
        """
        if self._all_binary:
            found = _differences(g)
            found *= found if h is g else _differences(h)
            found *= cells[..., 0::2, :] * cells[..., 1::2, :]
            return np.asarray(found)
        weighed = cells * g
        if h is g:
            return np.asarray(self.sums(weighed * g) - self.sums(weighed) ** 2)
        return np.asarray(self.sums(weighed * h) - self.sums(weighed) * self.sums(cells * h))


def _differences(gradients: Array) -> Array:
    """How far the first value of each condition is above the second, where all have two: axes (..., condition, row)."""
    return np.asarray(gradients[..., 0::2, :] - gradients[..., 1::2, :])


def shared_groups(layout: Layout, private: bool) -> list[Indices]:
    """The rows of each table of the reward that observations enter, and with `private` of the others, too. A private
    one has outcomes only while its arms are pulled: for a policy that still decides what to pull, a bad start must not
    speak for rows without data, unless there are too many arms to try them all."""
    return [rows for table, rows in rows_of_reward(layout) if private or OBSERVED in table.arms]


def rows_of_reward(layout: Layout) -> Iterator[tuple[CountTable, Indices]]:
    """The tables of the reward, and their conditions among those of all tables."""
    ends = np.cumsum([0, *(math.prod(shape[:-1]) for shape in layout.shapes)])
    for k in layout.reward_tables:
        yield layout.tables[k], np.arange(ends[k], ends[k + 1])
