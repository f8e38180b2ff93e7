"""Which formulas an arm's mean is read from, by the size of the tables they need.

The formulas of the whole graph use the data of most arms, and are best while their tables can be filled. A wide table
P(Y | many parents) stays empty for long; then the projection of the graph on X, what decides about X, and Y needs
smaller tables, but learns from fewer arms. Both hold the same data, so that they are never averaged: the one with the
smaller error is used. Where even the projection is too wide, an arm learns from its own rewards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from dobandit.elimination import widest
from dobandit.estimate.pooled.formulas import Do, Formula, formulas, observed, set_axis
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


def choice_for_observing(problem: Problem) -> FormulaChoice:
    """The formulas for the mean of do(): its factors, or simply the mean of Y."""
    whole = (observed(problem.graph, problem.reward),)
    if _fits(problem, whole) and not _is_wide(problem, whole):
        return FormulaChoice(whole, ())
    small = (observed(problem.graph.project(problem.reward), problem.reward),)
    return FormulaChoice(whole if _fits(problem, whole) else (), small)


def choice_for(problem: Problem, do: Do, sets: tuple[Set, ...]) -> FormulaChoice:
    """The formulas for the means of all arms that set these variables, where arms set the `sets`."""
    whole = _learnable(formulas(problem.graph, problem.reward, do, sets=sets))
    if _fits(problem, whole) and not _is_wide(problem, whole):
        return FormulaChoice(whole, ())
    relevant = problem.graph.ancestral_graph(problem.reward)
    deciding = relevant.with_parents(frozenset[str]().union(*(relevant.c_component(x) for x in do)))
    projection = relevant.project({*do, problem.reward} | deciding)
    small = _learnable(formulas(projection, problem.reward, do, problem.graph, sets))
    if small == whole or not _fits(problem, small):
        small = ()
    return FormulaChoice(whole if _fits(problem, whole) else (), small)


def _learnable(chosen: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The formulas whose private tables some arm may enter."""
    return tuple(w for w in chosen if all(f.setting is None or f.setting for f in w.factors))


def _cells(formula: Formula, cards: Mapping[str, int]) -> int:
    """The size of the largest table of a formula."""
    return max(math.prod(cards[v] for v in (*f.given, f.variable)) for f in formula.factors)


def _is_wide(problem: Problem, chosen: tuple[Formula, ...]) -> bool:
    cards = cards_of(problem)
    return any(math.prod(cards[v] for v in f.given) > WIDE for formula in chosen for f in formula.factors)


def _fits(problem: Problem, chosen: tuple[Formula, ...]) -> bool:
    cards = cards_of(problem)
    return all(_cells(f, cards) <= MOST_CELLS and _width(f, cards) <= MOST_CELLS for f in chosen)


def _width(formula: Formula, cards: Mapping[str, int]) -> int:
    """The size of the largest intermediate table of the sum."""
    return widest([formula.axes(f) for f in formula.factors], formula.kept, cards)
