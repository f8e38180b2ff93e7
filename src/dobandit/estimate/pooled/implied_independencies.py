"""The independencies that the graph implies, and whether outcomes violate them.

Where a graph has no edge between two variables, it usually implies that they are independent given some others. A
hidden cause that the graph leaves out violates such an independence, and the outcomes between cause and reward show it,
long before an arm that looks bad by mistake is ever pulled.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.observational import FEWEST
from dobandit.estimate.pooled.circuit import total
from dobandit.estimate.pooled.invariance import by_effect
from dobandit.estimate.pooled.joint import Joint
from dobandit.evidence import CountTable, Layout, measuring
from dobandit.graph import Independence, separator
from dobandit.problem import Problem

VIOLATED = 5.0  # standard deviations: an independence is tested again and again, and there are many
FEWEST_MEASURED = 50  # outcomes behind each mean that is compared, so that it is nearly normal
MOST_NUMBERS = 2**22  # that are in memory at the same time


class Strata(NamedTuple):
    """Where the values of two variables are counted while the others are fixed, arm by arm."""

    cells: Indices  # in the tables of all independencies; axes: value of the one variable, of the other, stratum
    which: Indices  # independence every stratum belongs to

    def fewest(self, moments: bool) -> int:
        """The least number of outcomes of a stratum that counts."""
        b, a = map(int, self.cells.shape[:2])
        return b * FEWEST_MEASURED if moments else b * a * FEWEST


class ImpliedIndependencies:
    """The independencies between variables that act on the reward; none where there is no joint table of all outcomes.

    What a graph implies about observations it implies about the outcomes of every arm: an intervention cuts paths and
    opens none. So the outcomes of each arm are tested by themselves, and the statistics added up. Where variables are
    set together there are many arms with few outcomes each; those that leave the same to change are tested as one.
    """

    def __init__(self, problem: Problem, joint: Joint) -> None:
        self.independencies = tuple(_implied(problem)) if joint.tables else ()
        self._joint = joint
        self._tables = Layout(problem, [_table(one, problem, joint.arms) for one in self.independencies])
        self._places = joint.places(self._tables.tables) if self.independencies else np.zeros((0, 0), dtype=np.intp)
        self._strata = {moments: _strata(self._tables, moments) for moments in (False, True)}
        self._fewest = min(
            (strata.fewest(moments) for moments, all_strata in self._strata.items() for strata in all_strata), default=0
        )
        self._is_by_arm = problem.sets_single_variables

    def violations(self, counts: Array) -> Array:
        """How many standard deviations the outcomes are off each independence, where that is too many, else 0.

        The counts are those of the joint table, with axes (row, cell); the result has axes (row, independence).
        """
        found = np.zeros((len(counts), len(self.independencies)))
        together = max(1, MOST_NUMBERS // max(self._tables.size, 1))
        for first in range(0, len(counts) if self.independencies else 0, together):
            part = found[first : first + together]
            self._test(counts[first : first + together], part)
        return np.where(found > VIOLATED, found, 0.0)

    def _test(self, counts: Array, found: Array) -> None:
        """Raise the standard deviations that were found to those of these counts. Arms with too few outcomes, which
        would not count, are left out: at most times these are all arms but a few."""
        cells = self._cells_with_enough(counts)
        places = self._places[:, cells]
        kept = np.zeros(self._tables.size + 1, dtype=bool)
        kept[places] = True
        kept[-1] = False  # where cells go that a table does not hold
        number = np.where(kept, np.cumsum(kept) - 1, kept.sum())
        tables = self._joint.counts(counts[:, cells], number[places], int(kept.sum()))
        for moments, deviate in ((False, deviations), (True, deviations_of_means)):
            for strata in self._strata[moments]:
                some = np.flatnonzero(kept[strata.cells[0, 0]])
                of_strata = tables[number[strata.cells[..., some]]]
                np.maximum(found, deviate(of_strata, strata.which[some], len(self.independencies)), out=found)

    def _cells_with_enough(self, counts: Array) -> Indices:
        """The cells of the joint table whose arms have enough outcomes to count, in some row; where arms are tested as
        one, all cells."""
        cells = np.arange(counts.shape[1])
        if not self._is_by_arm:
            return cells
        outcomes = self._joint.outcomes_by_arm(counts).max(axis=0)
        return np.asarray(cells.reshape(len(outcomes), -1)[outcomes > self._fewest - 0.5].ravel())


def _implied(problem: Problem) -> list[Independence]:
    """One for every two variables that others separate, the reward never being among these: no table can have it as a
    condition."""
    graph, reward = problem.graph, problem.reward
    acting = graph.in_order(graph.ancestral(reward))
    found = []
    for a, b in combinations(acting, 2):
        given = separator(graph, a, b, frozenset(acting) - {reward})
        if given is not None:
            found.append(Independence(a, b, graph.in_order(given)))
    return found


def _table(independence: Independence, problem: Problem, arms: tuple[int, ...]) -> CountTable:
    """The counts of the one variable by the other and the rest; the reward can only be counted itself."""
    a, b, given = independence
    counted, by = (a, b) if a == problem.reward else (b, a)
    if problem.sets_single_variables:
        return measuring(problem, CountTable(counted, (*given, by), arms=arms, by_arm=True))
    return measuring(problem, by_effect(problem, counted, (*given, by), arms))


def _strata(tables: Layout, moments: bool) -> list[Strata]:
    """The strata of all tables with or without moments, those of one shape together."""
    found: dict[tuple[int, ...], list[Strata]] = {}
    for k, (shape, cells) in enumerate(zip(tables.shapes, tables.slices, strict=True)):
        if tables.tables[k].moments != moments:
            continue
        places = np.moveaxis(np.arange(cells.start, cells.stop).reshape(-1, *shape[-2:]), 0, -1)
        found.setdefault(shape[-2:], []).append(Strata(places, np.full(places.shape[-1], k)))
    return [Strata(*(np.concatenate(parts, axis=-1) for parts in zip(*same, strict=True))) for same in found.values()]


def deviations(counts: Array, which: Indices, number: int) -> Array:
    """Pearson's statistic of independence in every row and for every independence, as standard deviations of a normal
    variable (Wilson and Hilferty 1931): axes (row, independence).

    The counts have axes (value, value, stratum, row); `which` is the independence of each stratum, one of `number`.
    Strata with too few outcomes do not count.
    """
    b, a, _, rows = counts.shape
    some = np.flatnonzero(total(counts.reshape(b * a, -1, rows)).max(axis=1) >= b * a * FEWEST)
    counts, which = counts[:, :, some], which[some]
    by_a, by_b = total(counts), total(np.moveaxis(counts, 1, 0))
    expected = by_b[:, np.newaxis] * by_a / np.maximum(total(by_a), 1.0)
    enough = (expected.min(axis=(0, 1)) >= FEWEST).astype(float)
    parts = total(((counts - expected) ** 2 / np.maximum(expected, 1.0)).reshape(b * a, -1, rows)) * enough
    return _as_normal(parts, enough, (a - 1) * (b - 1), which, number)


def deviations_of_means(counts: Array, which: Indices, number: int) -> Array:
    """The same where the second variable is a measurement: whether its mean depends on the first one (analysis of
    variance). The counts have axes (value, power, stratum, row)."""
    n, s, q, _ = np.moveaxis(counts, 1, 0)
    all_n, all_s, all_q = total(n), total(s), total(q)
    explained = total(s**2 / np.maximum(n, 1.0)) - all_s**2 / np.maximum(all_n, 1.0)
    left = all_q - total(s**2 / np.maximum(n, 1.0))
    spread = left / np.maximum(all_n - len(n), 1.0)
    enough = ((n.min(axis=0) >= FEWEST_MEASURED) & (left > 1e-9 * all_q)).astype(float)
    parts = np.divide(explained, spread, out=np.zeros(spread.shape), where=enough > 0)
    return _as_normal(parts, enough, len(n) - 1, which, number)


def _as_normal(parts: Array, enough: Array, freedom_each: int, which: Indices, number: int) -> Array:
    """Sums of chi-square statistics of strata that are `enough`, as standard deviations of a normal variable."""
    rows = parts.shape[1]
    place = (which[:, np.newaxis] + number * np.arange(rows)).ravel()
    # One stratum is added after the other: then those that do not count change no bit.
    statistic, strata = (np.bincount(place, part.ravel(), rows * number) for part in (parts, enough))
    freedom = np.maximum(strata * freedom_each, 1.0)
    spread = 2 / (9 * freedom)
    z = (np.cbrt(statistic / freedom) - (1 - spread)) / np.sqrt(spread)
    return np.asarray(z.reshape(rows, number))
