"""Pearson's chi-square test of the independencies that a graph implies, summed over the values of what is given."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import DataError
from dobandit.estimate.observational.enough import FEWEST
from dobandit.estimate.observational.scale import problem_scale
from dobandit.evidence import Data, Source, cells, check_interventions, count, domains_of, fit, open_source, read_sample
from dobandit.graph import GraphLike, Independence, as_graph, independencies
from dobandit.problem import Problem

LEVEL = 0.05  # the chance to reject anything at all when the graph is right
MOST_CELLS = 10**6  # of a table: more than any log fills


class Verdict(NamedTuple):
    """What the data say of one implied independence; without enough data the p-value is None."""

    independence: Independence
    p_value: float | None
    rejected: bool


def check_graph(graph: GraphLike, data: Data) -> list[Verdict]:
    """Test on logged rows every independence that a graph implies, before money is spent on a wrong one.

    Rows that do not fit the problem are refused, and so is a log without a plain observation. A reward that is a
    measurement has no cells to count, so independencies that name it are not tested.

    Parameters
    ----------
    graph
        A Problem, whose values the rows must have, or a Graph or a text.
    data
        Columns, rows, a data frame, or the path of a CSV or Parquet file, as for `effect`.

    Returns
    -------
    list of Verdict
        For every independence its p-value (None without enough data) and whether it is rejected.

    Examples
    --------
    >>> rows = {"X": [0, 0, 1, 1] * 50, "M": [0, 1, 0, 1] * 50, "Y": [0, 0, 1, 1] * 50}  # Y is X, whatever M is
    >>> [(str(independence), rejected) for independence, p_value, rejected in check_graph("X -> M -> Y", rows)]
    [('X ⫫ Y | M', True)]
    """
    known, source = as_graph(graph), open_source(data)
    implied = list(independencies(known))
    if not isinstance(graph, Problem):
        check_interventions(source, known.variables)
        return judge(source, implied, domains_of(source, known.variables))
    source = fit(source, graph)
    check_interventions(source, known.variables, graph.domains)
    _check_rows(source, graph)
    measured = graph.numbers | ({graph.reward} if graph.reward_is_continuous else set())
    return judge(source, implied, graph.domains, measured)


def _check_rows(source: Source, problem: Problem) -> None:
    """Refuse rows that do not fit the problem, also in columns that no test needs."""
    scale, variables = problem_scale(problem, source), problem.graph.variables
    counted = [v for v in variables if v in source.columns and v not in problem.numbers]
    groups: list[tuple[str, ...]] = [(v,) for v in counted] or [variables]
    if not count(source, groups, scale.domains, scale.between)[groups[0]].sum():
        raise DataError(f"{source.name}: there are no plain observations to test the graph on")
    read_sample(source, [v for v in variables if v in problem.numbers and v in source.columns], {}, problem.numbers)


def judge(
    source: Source, of: Iterable[Independence], domains: Mapping[str, tuple[str, ...]], measured: Collection[str] = ()
) -> list[Verdict]:
    """Test these independencies, but for those of measured variables, which have no cells to count. Which ones
    are rejected is decided for all of them together (Holm 1979)."""
    implied = list(of)
    groups = {i: (*i.given, i.a, i.b) for i in implied}
    countable = [g for g in groups.values() if not any(v in measured for v in g)]
    counts = count(source, [g for g in countable if cells(g, domains) <= MOST_CELLS], domains)
    p_values = [p_value(counts[groups[i]]) if groups[i] in counts else None for i in implied]
    rejected = holm([p for p in p_values if p is not None], LEVEL)
    return [Verdict(i, p, p is not None and p <= rejected) for i, p in zip(implied, p_values, strict=True)]


def p_value(counts: Array) -> float | None:
    """The chance of such a table if its last two variables are independent given the others."""
    strata = counts.reshape(-1, *counts.shape[-2:])
    statistic = freedom = 0.0
    for table in strata:
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
        if min(table.shape) > 1 and expected.min() >= FEWEST:
            statistic += float(((table - expected) ** 2 / expected).sum())
            freedom += (table.shape[0] - 1) * (table.shape[1] - 1)
    return chi_square_tail(statistic, int(freedom)) if freedom else None


def holm(p_values: Iterable[float], level: float) -> float:
    """The largest p-value that is rejected when all are judged together, or -1."""
    largest = -1.0
    ordered = sorted(p_values)
    for i, p in enumerate(ordered):
        if p > level / (len(ordered) - i):
            break
        largest = p
    return largest


def chi_square_tail(statistic: float, freedom: int) -> float:
    """P(chi-square with so many degrees of freedom > statistic), by its finite sum for whole numbers.

    >>> round(chi_square_tail(3.841, 1), 4), round(chi_square_tail(18.307, 10), 4)
    (0.05, 0.05)
    """
    half = statistic / 2
    if half <= 0:
        return 1.0
    exponents = np.arange(freedom // 2) + (freedom % 2) / 2  # 0, 1, 2, ... or 1/2, 3/2, ...
    terms = sum(math.exp(e * math.log(half) - half - math.lgamma(e + 1)) for e in exponents)
    return min(1.0, terms + (math.erfc(math.sqrt(half)) if freedom % 2 else 0.0))
