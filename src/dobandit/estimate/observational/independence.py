"""Pearson's chi-square test of the independencies that a graph implies, summed over the values of what is given."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    tested = dict(zip(counts, p_values_of(list(counts.values())), strict=True))
    p_values = [tested.get(groups[i]) for i in implied]
    rejected = holm([p for p in p_values if p is not None], LEVEL)
    return [Verdict(i, p, p is not None and p <= rejected) for i, p in zip(implied, p_values, strict=True)]


def p_values_of(tables: Sequence[Array]) -> list[float | None]:
    """For every table the chance of such counts if its last two variables are independent given the others; None
    without enough data. Tables of the same shape are tested together."""
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for i, table in enumerate(tables):
        by_shape.setdefault(table.shape, []).append(i)
    found: list[float | None] = [None] * len(tables)
    for shape, alike in by_shape.items():
        together = max(1, MOST_CELLS // max(1, math.prod(shape)))
        for first in range(0, len(alike), together):
            part = alike[first : first + together]
            for i, p in zip(part, _of_one_shape(np.stack([tables[i] for i in part])), strict=True):
                found[i] = p
    return found


def _of_one_shape(tables: Array) -> Iterator[float | None]:
    """The same for tables with axes (table, given..., a, b)."""
    strata = tables.reshape(len(tables), -1, *tables.shape[-2:])
    of_a, of_b, number = strata.sum(axis=3, keepdims=True), strata.sum(axis=2, keepdims=True), strata.sum(axis=(2, 3))
    expected = of_a * of_b / np.maximum(number, 1.0)[..., np.newaxis, np.newaxis]
    occurs = (of_a > 0) & (of_b > 0)
    least = np.where(occurs, expected, np.inf).min(axis=(2, 3))
    values_of_a, values_of_b = (of_a > 0).sum(axis=(2, 3)), (of_b > 0).sum(axis=(2, 3))
    enough = (least >= FEWEST) & (np.minimum(values_of_a, values_of_b) > 1)
    off = np.divide((strata - expected) ** 2, expected, out=np.zeros(strata.shape), where=occurs & (expected > 0))
    statistic = (off.sum(axis=(2, 3)) * enough).sum(axis=1)
    freedom = ((values_of_a - 1) * (values_of_b - 1) * enough).sum(axis=1)
    for chi_square, degrees in zip(statistic.tolist(), freedom.tolist(), strict=True):
        yield chi_square_tail(chi_square, degrees) if degrees else None


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
    half, odd = statistic / 2, freedom % 2
    if half <= 0:
        return 1.0
    exponents = (k + odd / 2 for k in range(freedom // 2))  # 0, 1, 2, ... or 1/2, 3/2, ...
    terms = sum(math.exp(e * math.log(half) - half - math.lgamma(e + 1)) for e in exponents)
    return min(1.0, terms + (math.erfc(math.sqrt(half)) if odd else 0.0))
