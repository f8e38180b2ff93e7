"""Counts of named tables: how often each combination of values of these variables was seen.

A real-valued reward between two ends counts partly for the one and partly for the other, so that the
mean of the counts is the mean of the reward and every table stays a table of counts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.errors import ArmError, DataError, listing
from dobandit.evidence.grouped import Grouped
from dobandit.evidence.source import Source
from dobandit.problem import Value, label, parse_do, value_in

Domains = Mapping[str, Sequence[str]]
Ends = tuple[float, float]

INTERVENTION = "intervention"  # a column of logs that says what was done in a row
LARGEST = 10**6  # cells up to which one grouping by all variables serves all tables: 8 MB
WIDEST = 10**7  # cells of a single table: 80 MB


def count(
    source: Source, groups: Iterable[tuple[str, ...]], domains: Domains, between: Mapping[str, Ends] | None = None
) -> dict[tuple[str, ...], Array]:
    """The counts of every group of variables, axes in the group's order, from plain observations.

    `between` names the variables (the reward) that are numbers between two ends.
    """
    between = between or {}
    groups = list(dict.fromkeys(groups))
    together = tuple(dict.fromkeys(v for group in groups for v in group))
    if cells(together, domains) <= LARGEST:
        whole = _tally(source, together, domains, between)
        return {group: _margin(whole, together, group) for group in groups}
    return {group: _tally(source, group, domains, between) for group in groups}


def cells(group: Iterable[str], domains: Domains) -> float:
    return math.prod(float(len(domains[v])) for v in group)


def values_of(source: Source, variable: str) -> list[str]:
    """The values that a column has, as a domain."""
    found = observations(source, (variable,)).labels(variable)
    if not found:
        raise DataError(f"{source.name}: there are no rows")
    return found


def observations(source: Source, variables: tuple[str, ...], measure: str | None = None) -> Grouped:
    """The rows that are plain observations: all of them, unless a column says what was done."""
    if INTERVENTION not in source.columns or INTERVENTION in variables:
        return source.group(variables, measure)
    found = source.group((*variables, INTERVENTION), measure)
    observed = {value: not _parsed(value, source) for value in set(found.columns[-1])}
    return found.only(np.array([observed[value] for value in found.columns[-1]], dtype=bool))


def rows_left_out(source: Source, variables: Collection[str]) -> float:
    """How many rows are no plain observations, because something was done in them."""
    if INTERVENTION not in source.columns or INTERVENTION in variables:
        return 0.0
    found = source.group((INTERVENTION,))
    done = np.array([bool(_parsed(value, source)) for value in found.columns[0]], dtype=bool)
    return float(found.weights[done].sum())


def check_spelling(source: Source, variables: Collection[str]) -> None:
    """Experiments must not pass for observations because of a capital letter."""
    for column in source.columns:
        if column.lower() == INTERVENTION != column and column not in variables:
            raise DataError(
                f"{source.name}: column {column}: what was done is read from a column that is called {INTERVENTION}; "
                "rename this one, or drop it if it says something else"
            )


def check_interventions(source: Source, variables: Collection[str], domains: Domains | None = None) -> None:
    """What was done in a log can be done: it sets a variable of the graph, to one of its values if these are known."""
    check_spelling(source, variables)
    if INTERVENTION not in source.columns or INTERVENTION in variables:
        return
    for done in sorted(set(source.group((INTERVENTION,)).columns[0]), key=str):
        for variable, value in _parsed(done, source).items():
            known = (domains or {}).get(variable)
            if variable not in variables:
                what = f"there is no variable {variable}; it has {listing(variables)}"
            elif known is not None and value_in(known, value) not in known:
                what = f"the values of {variable} are {listing(known)}"
            else:
                continue
            raise DataError(f"{source.name}: column {INTERVENTION}: {done} does not fit the problem: {what}")


def _parsed(done: Value | None, source: Source) -> dict[str, str | None]:
    """The variables and the values that a cell of the column `intervention` names; none for a plain observation."""
    try:
        return {} if nothing_done(done) else parse_do(str(done))
    except ArmError as error:
        raise DataError(f"{source.name}: column {INTERVENTION}: {error}") from None


def nothing_done(done: Value | None) -> bool:
    """Whether a value of the column `intervention` is empty."""
    return label(done) in ("", "None", "nan", "null")


def _tally(source: Source, group: tuple[str, ...], domains: Domains, between: Mapping[str, Ends]) -> Array:
    if cells(group, domains) > WIDEST:
        raise DataError(f"a table of {listing(group)} would have {cells(group, domains):.3g} cells, which is too many")
    real = next((v for v in group if v in between), None)
    rows = observations(source, tuple(v for v in group if v != real), real)
    codes = {v: rows.codes(v, domains[v]) for v in group if v != real}
    shape = tuple(len(domains[v]) for v in group)
    if real is None:
        return sums(list(codes.values()), rows.weights, shape)
    low, high = between[real]
    upper = (rows.measured_within(real, low, high).sums(rows.weights) - low * rows.weights) / (high - low)
    ends = [np.full(len(upper), end) for end in (0, 1)]
    lower_cells, upper_cells = ([codes.get(v, end) for v in group] for end in ends)
    return sums(lower_cells, rows.weights - upper, shape) + sums(upper_cells, upper, shape)


def sums(index: Sequence[Indices], weights: Array, shape: tuple[int, ...]) -> Array:
    """The total weight of every cell; `index` has the codes of every axis."""
    if not index:
        return np.asarray(weights.sum())
    flat = np.ravel_multi_index(tuple(index), shape)
    return np.asarray(np.bincount(flat, weights, math.prod(shape)), dtype=float).reshape(shape)


def _margin(whole: Array, variables: tuple[str, ...], group: tuple[str, ...]) -> Array:
    kept = [v for v in variables if v in group]
    margin: Array = whole.sum(axis=tuple(i for i, v in enumerate(variables) if v not in group))
    return margin.transpose([kept.index(v) for v in group]) if group else margin
