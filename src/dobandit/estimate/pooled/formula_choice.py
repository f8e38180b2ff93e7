"""Which formulas an arm's mean is read from, by the size of the tables they need.

The formulas of the whole graph use the data of most arms, and are best while their tables can be filled. A wide table
P(Y | many parents) stays empty for long; then the projection of the graph on X, what decides about X, and Y needs
smaller tables, but learns from fewer arms. Both hold the same data, so that they are never averaged: the one with the
smaller error is used. Where even the projection is too wide, an arm learns from its own rewards.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from dobandit.elimination import Messages, summed, widest
from dobandit.estimate.pooled.formulas import Do, Factor, Formula, difference, formulas, observed, set_axis
from dobandit.estimate.pooled.invariance import Set
from dobandit.problem import Problem

MOST_CELLS = 4096  # of a table that is used at all, and of any intermediate table
WIDE = 32  # conditions, which all have to be met to fill a table, up to which the projection is not looked at


class FormulaChoice(NamedTuple):
    """The formulas for the mean of an arm: each of the two is one formula, or two weighed by their variances."""

    whole: tuple[Formula, ...]  # of the whole graph; none if it is too wide
    projected: tuple[Formula, ...]


def cards_of(problem: Problem) -> dict[str, int]:
    """The number of values of every axis that a formula may have; the reward has two cells."""
    cards = {v: 2 if v == problem.reward else len(problem.domains[v]) for v in problem.graph.variables}
    return cards | {set_axis(v): cards[v] for v in problem.intervenable}


class FormulaChooser:
    """Chooses for the arms of a problem, which set `sets`."""

    def __init__(self, problem: Problem, sets: tuple[Set, ...]) -> None:
        self._problem, self._sets, self._cards = problem, sets, cards_of(problem)
        self._base = observed(problem.graph, problem.reward)
        self._wide = [f for f in self._base.factors if self._is_wide(f)]
        self._shared_width = max(map(self._cells, self._base.factors))
        if self.base_fits:  # so far: else no sum is made from its messages
            widths = _Widths(self._cards)
            scopes = {f.variable: _scope(self._base, f, problem.reward) for f in self._base.factors}
            self._shared = Messages(widths, scopes, self._cards)
            self._shared_width = max(self._shared_width, widths.widest)

    @property
    def base_fits(self) -> bool:
        """Whether all tables that E[Y] needs are small enough."""
        return self._shared_width <= MOST_CELLS

    def for_observing(self) -> FormulaChoice:
        """The formulas for the mean of do(): its factors, or simply the mean of Y."""
        graph, reward = self._problem.graph, self._problem.reward
        whole = (self._base,)
        if self._fits(whole) and not self._wide:
            return FormulaChoice(whole, ())
        return FormulaChoice(whole if self._fits(whole) else (), (observed(graph.project(reward), reward),))

    def for_setting(self, do: Do) -> FormulaChoice:
        """The formulas for the means of all arms that set these variables."""
        graph, reward = self._problem.graph, self._problem.reward
        whole = _learnable(formulas(graph, reward, do, sets=self._sets))
        fits = self._fits(whole)
        if fits and not any(self._has_wide(formula) for formula in whole):
            return FormulaChoice(whole, ())
        relevant = graph.ancestral_graph(reward)
        deciding = relevant.with_parents(frozenset[str]().union(*(relevant.c_component(x) for x in do)))
        projection = relevant.project({*do, reward} | deciding)
        small = _learnable(formulas(projection, reward, do, graph, self._sets))
        if small == whole or not self._fits(small):
            small = ()
        return FormulaChoice(whole if fits else (), small)

    def _fits(self, chosen: tuple[Formula, ...]) -> bool:
        return all(self._size(formula) <= MOST_CELLS for formula in chosen)

    def _size(self, formula: Formula) -> int:
        """The size of the largest table of a formula, and of any table on the way to its sum."""
        if formula is self._base:
            return self._shared_width
        changed = difference(formula, self._base) if self.base_fits else None
        if changed is None:  # then the sum is not made from that of the base
            scopes = [formula.axes(f) for f in formula.factors]
            return widest(scopes, formula.kept, self._cards, enough=MOST_CELLS)
        widths, (gone, put) = _Widths(self._cards), changed
        scopes_put = [_scope(formula, f, self._problem.reward) for f in put]
        summed(widths, self._shared.around(gone, scopes_put), formula.kept, self._cards)
        return max([self._shared_width, widths.widest, *map(self._cells, put)])

    def _has_wide(self, formula: Formula) -> bool:
        """Whether a table has so many conditions that it stays empty for long."""
        replaced = {f.variable for f in formula.changes}
        kept = formula.base is self._base and any(
            f.variable not in formula.gone and f.variable not in replaced for f in self._wide
        )
        return kept or any(map(self._is_wide, formula.changes))

    def _is_wide(self, factor: Factor) -> bool:
        return math.prod(self._cards[v] for v in factor.given) > WIDE

    def _cells(self, factor: Factor) -> int:
        return math.prod(self._cards[v] for v in (*factor.given, factor.variable))


def sums_fit(problem: Problem) -> bool:
    """Whether the tables that exact sums over the whole graph need are small enough; if not, formulas are narrower."""
    return FormulaChooser(problem, ()).base_fits


class Scope(NamedTuple):
    """The variables of a table, without its numbers."""

    axes: tuple[str, ...]


def _scope(formula: Formula, factor: Factor, reward: str) -> Scope:
    """The variables of a factor; the reward has one value in it."""
    axes = formula.axes(factor)
    return Scope(axes[:-1] if factor.variable == reward else axes)


class _Widths:
    """Sums of tables of which only the sizes are known: `widest` is the largest of all that were looked at."""

    def __init__(self, cards: Mapping[str, int]) -> None:
        self._cards, self.widest = cards, 1

    def sum_out(self, functions: Sequence[Scope], over: Collection[str]) -> Scope:
        axes = dict.fromkeys(a for f in functions for a in f.axes)
        self.widest = max(self.widest, math.prod(self._cards[a] for a in axes))
        return Scope(tuple(a for a in axes if a not in over))

    def constant(self) -> Scope:
        return Scope(())


def _learnable(chosen: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The formulas whose private tables some arm may enter."""
    return tuple(w for w in chosen if all(f.setting is None or f.setting for f in w.changes))
