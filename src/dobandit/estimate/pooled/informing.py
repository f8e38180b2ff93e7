"""Which private tables observations tell something about, and the counts that say what.

A private table P(v | z) of arms that set X, where X is one of its conditions, has a prior from observations
(`consistency`): the counts of v by the same conditions, and of X by those conditions that X does not act on. If hidden
causes act on X and on one of the other conditions, the share of X=x differs from that in single rows and is right on
average only; leaving these tables without a prior would be worse, because then nothing at all is known of their arms.
Tables that stand beside a formula without private tables are left alone: what observations say of such an arm is in
that formula.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled.confounding import Learnt, drawn_shapes, learnt
from dobandit.estimate.pooled.consistency import Rows, Seen, alike, jeffreys, prior
from dobandit.estimate.pooled.formulas import Do
from dobandit.estimate.pooled.invariance import changed_by, pooled, unchanged_by
from dobandit.estimate.pooled.own import PRIOR
from dobandit.estimate.pooled.pool import Pool
from dobandit.estimate.pooled.posterior import Conditions
from dobandit.evidence import CountTable, Layout
from dobandit.graph import Graph
from dobandit.problem import Problem


class Informed(NamedTuple):
    """A private table, and the tables of observations that inform it."""

    private: CountTable
    seen: CountTable  # the same, of observations
    settings: CountTable  # what is set there, by the conditions that come before it
    do: Do


class Informing:
    """The priors of the private tables of a pool. `tables` are the counts that they need; `cells` and `conditions` are
    the places of their rows in the pool."""

    def __init__(self, pool: Pool, conditions: Conditions) -> None:
        start = conditions.start
        informed = list(informed_tables(pool))
        self.tables = tuple(dict.fromkeys(t for one in informed for t in (one.seen, one.settings)))
        self.layout = Layout(pool.problem, self.tables)
        places = [pool.layout.place[one.private] for one in informed]
        none = np.zeros(0, dtype=np.intp)
        self.conditions = np.concatenate([none, *(np.arange(start[k], start[k + 1]) for k in places)])
        self.cells = np.concatenate([none, *(_range(pool.layout.slices[k]) for k in places)])
        self._seen = np.concatenate([none, *(_range(self.layout.slice(one.seen)) for one in informed)])
        card = [np.full(start[k + 1] - start[k], pool.layout.shapes[k][-1]) for k in places]
        cards = np.concatenate([none, *card])
        groups = [settings_of(pool.problem, self.layout, one) for one in informed]
        numbers = [np.full(len(group), group.shape[1]) for group, _ in groups]
        table, begin = np.repeat(np.arange(len(card)), [*map(len, card)]), np.cumsum([0, *map(len, card)])[:-1]
        settings = np.concatenate([none, *numbers])
        beside = np.bincount(table, minlength=len(card)).take(table) // settings
        self.rows = Rows(np.cumsum([0, *cards])[:-1], cards, settings, beside, table, begin)
        self._uniform = 1 / self.rows.spread(cards)
        self._as_set = np.concatenate([none, *(group[np.arange(len(group)), own] for group, own in groups)])
        self._all = padded([group for group, _ in groups], self.layout.size)
        self._of_reward = np.array([one.private.variable == pool.problem.reward for one in informed], dtype=bool)

    def __len__(self) -> int:
        return len(self.conditions)

    def learnt(self, counts: Array, own: Array, is_centred: bool, is_stated: bool) -> Learnt:
        """What is known of the rows after these counts of `tables` and of the pool, with axes (batch, cell). Where they
        are centred, the usual reward is the mean of all observations; else all values are equally likely. What is
        stated in answers also learns how alike the rows are: the best of many options would look too good."""
        seen = counts.take(self._seen, axis=1)
        padded = np.concatenate([counts, np.zeros((len(counts), 1))], axis=1)
        found = Seen(seen, counts.take(self._as_set, axis=1), padded.take(self._all, axis=1).sum(axis=2))
        centre = self._centre(seen)
        usual = centre if is_centred else self._uniform
        weight = alike(found, self.rows, usual) if is_stated else jeffreys(self.rows)
        return learnt(prior(found, self.rows, usual, weight, centre), self.rows, own.take(self.cells, axis=1))

    def drawn_shapes(self, known: Learnt, number: int, rng: np.random.Generator) -> Array:
        """Parameters of `cells` for draws from their posterior: axes (draw, cell)."""
        return drawn_shapes(known, self.rows, number, rng)

    def followed(self, known: Learnt, gradients: Array) -> tuple[Array, Array]:
        """How far functions with these gradients, axes (arm, cell, batch), follow all rows together, and by how much of
        that what is seen: axes (arm, batch)."""
        g = gradients.take(self.cells, axis=1)
        ends = (np.asarray(each.reduceat(g, self.rows.first, axis=1)) for each in (np.maximum, np.minimum))
        most, least = ends
        spans = most - least
        return spans.sum(axis=1), (spans * known.follows.T).sum(axis=1)

    def moved(self, known: Learnt, gradients: Array) -> Array:
        """How far observations move functions with these gradients, axes (..., cell, batch): the part of each row in
        the variance, times `number` + 1. Axes (..., row, batch)."""
        g, p = gradients.take(self.cells, axis=-2), known.seen.T
        mean, square = (np.add.reduceat(p * each, self.rows.first, axis=-2) for each in (g, g * g))
        return np.asarray(known.follows.T**2 * (square - mean**2))

    def seen(self, counts: Array) -> Array:
        """How many observations inform each row: axes (batch, row)."""
        return self.rows.sums(counts.take(self._seen, axis=1))

    def shares(self, counts: Array) -> Array:
        """The chance that an observation falls on each of the rows that inform: axes (batch, row)."""
        number = self.seen(counts)
        rows = np.bincount(self.rows.table)[self.rows.table]
        return np.asarray((number + 1 / rows) / (self.rows.of_table(number) + 1))

    def _centre(self, seen: Array) -> Array:
        """The mean of all observations for the reward; for other variables, all values are equally likely."""
        if not self._of_reward.any():
            return self._uniform
        won, lost = (self.rows.of_table(seen.take(self.rows.first + k, axis=1)) + PRIOR for k in (1, 0))
        mean = self.rows.spread(won / (won + lost))
        is_won = np.arange(seen.shape[1]) == self.rows.spread(self.rows.first + 1)
        of_reward = self.rows.spread(self._of_reward[self.rows.table])
        return np.where(of_reward, np.where(is_won, mean, 1 - mean), self._uniform)


def informed_tables(pool: Pool, moments: bool = False) -> Iterator[Informed]:
    """The private tables with a prior from observations: those of a measured reward, with `moments`, or all others."""
    problem, found = pool.problem, set[CountTable]()
    for do, private in pool.unidentified():
        if private in found or private.moments is not moments or not set(do) <= set(private.given):
            continue
        found.add(private)
        seen = replace(pooled(problem, private.variable, private.given), needed=False, moments=moments)
        yield Informed(private, seen, _settings(problem, do, _before(problem.graph, do, private.given)), do)


def _before(graph: Graph, do: Do, given: tuple[str, ...]) -> tuple[str, ...]:
    """The conditions that precede what is set."""
    after = set(do).union(*map(graph.descendants, do))
    return tuple(v for v in given if v not in after)


def _settings(problem: Problem, do: Do, before: tuple[str, ...]) -> CountTable:
    """What is set, by the conditions before it, in all outcomes that leave its distribution as it is."""
    changing = frozenset[str]().union(*(changed_by(problem.graph, x, (*before, *do[:i])) for i, x in enumerate(do)))
    return CountTable(do[-1], (*before, *do[:-1]), arms=unchanged_by(problem, changing), needed=False)


def settings_of(problem: Problem, layout: Layout, one: Informed) -> tuple[Indices, Indices]:
    """For every row of a private table: the cells that count the values of what is set, and which one is its own."""
    given, settings = one.private.given, one.settings
    cards = {v: len(problem.domains[v]) for v in (*given, *settings.variables)}
    shape = [cards[v] for v in given]
    codes = dict(zip(given, np.indices(shape).reshape(len(shape), math.prod(shape)), strict=True))
    number = math.prod(cards[v] for v in one.do)
    before, own = (np.zeros(math.prod(shape), dtype=np.intp) for _ in range(2))
    for v in settings.variables[: -len(one.do)]:
        before = before * cards[v] + codes[v]
    for v in one.do:
        own = own * cards[v] + codes[v]
    start = layout.slice(settings).start + before * number
    return start[:, np.newaxis] + np.arange(number), own


def _range(at: slice) -> Indices:
    return np.arange(at.start, at.stop)


def padded(groups: list[Indices], behind: int) -> Indices:
    """Groups of different sizes as one array, filled up with the cell behind all others."""
    widest = max((group.shape[1] for group in groups), default=0)
    filled = [np.pad(g, ((0, 0), (0, widest - g.shape[1])), constant_values=behind) for g in groups]
    return np.concatenate([np.zeros((0, widest), dtype=np.intp), *filled])
