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

from dobandit.estimate.pooled.formulas import Formula, formulas, observed
from dobandit.estimate.pooled.messages import widest
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
    return cards | {f"do({v})": cards[v] for v in problem.intervenable}


def choice_for_observing(problem: Problem) -> FormulaChoice:
    """The formulas for the mean of do(): its factors, or simply the mean of Y."""
    whole = (observed(problem.graph, problem.reward),)
    if _fits(problem, whole) and not _is_wide(problem, whole):
        return FormulaChoice(whole, ())
    small = (observed(problem.graph.project(problem.reward), problem.reward),)
    return FormulaChoice(whole if _fits(problem, whole) else (), small)


def choice_for(problem: Problem, x: str) -> FormulaChoice:
    """The formulas for the means of all arms that set X."""
    whole = _learnable(problem, formulas(problem.graph, problem.reward, x))
    if _fits(problem, whole) and not _is_wide(problem, whole):
        return FormulaChoice(whole, ())
    relevant = problem.graph.ancestral_graph(problem.reward)
    deciding = relevant.with_parents(relevant.c_component(x))
    projection = relevant.project({x, problem.reward} | deciding)
    small = _learnable(problem, formulas(projection, problem.reward, x, problem.graph))
    if small == whole or not _fits(problem, small):
        small = ()
    return FormulaChoice(whole if _fits(problem, whole) else (), small)


def _learnable(problem: Problem, chosen: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The formulas whose private tables some arm may enter."""
    able = set(problem.intervenable)
    return tuple(w for w in chosen if all(not f.setting or f.setting & able for f in w.factors))


def _cells(problem: Problem, formula: Formula) -> int:
    """The size of the largest table of a formula."""
    cards = cards_of(problem)
    return max(math.prod(cards[v] for v in (*f.given, f.variable)) for f in formula.factors)


def _is_wide(problem: Problem, chosen: tuple[Formula, ...]) -> bool:
    cards = cards_of(problem)
    return any(math.prod(cards[v] for v in f.given) > WIDE for formula in chosen for f in formula.factors)


def _fits(problem: Problem, chosen: tuple[Formula, ...]) -> bool:
    return all(_cells(problem, f) <= MOST_CELLS and _width(f, cards_of(problem)) <= MOST_CELLS for f in chosen)


def _width(formula: Formula, cards: Mapping[str, int]) -> int:
    """The size of the largest intermediate table of the sum."""
    return widest([formula.axes(f) for f in formula.factors], [formula.kept or ""], cards)
