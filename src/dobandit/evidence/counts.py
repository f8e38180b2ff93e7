"""Counts of named tables: how often each combination of values of these variables was seen.

A real-valued reward between two ends counts partly for the one and partly for the other, so that the
mean of the counts is the mean of the reward and every table stays a table of counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import DataError
from dobandit.evidence.grouped import Grouped
from dobandit.evidence.sources import Source
from dobandit.problem import label

Counts = NDArray[np.float64]
Domains = Mapping[str, Sequence[str]]
Ends = tuple[float, float]

INTERVENTION = "intervention"  # a column of logs that says what was done in a row
LARGEST = 10**6  # cells up to which one grouping by all variables serves all tables


def count(
    source: Source, groups: Iterable[tuple[str, ...]], domains: Domains, between: Mapping[str, Ends] | None = None
) -> dict[tuple[str, ...], Counts]:
    """The counts of every group of variables, axes in the group's order, from plain observations.

    `between` names the variables (the reward) that are numbers between two ends.
    """
    between = between or {}
    groups = list(dict.fromkeys(groups))
    together = tuple(dict.fromkeys(v for group in groups for v in group))
    if np.prod([float(len(domains[v])) for v in together]) <= LARGEST:
        whole = _tally(observations(source, together), together, domains, between)
        return {group: _margin(whole, together, group) for group in groups}
    return {group: _tally(observations(source, group), group, domains, between) for group in groups}


def values_of(source: Source, variable: str) -> list[str]:
    """The values that a column has, as a domain."""
    found = observations(source, (variable,)).labels(variable)
    if not found:
        raise DataError(f"{source.name}: there are no rows")
    return found


def observations(source: Source, variables: tuple[str, ...]) -> Grouped:
    """The rows in which nobody intervened: all of them, unless a column says what was done."""
    if INTERVENTION not in source.columns or INTERVENTION in variables:
        return source.group(variables)
    found = source.group((*variables, INTERVENTION))
    done = [label(value).replace(" ", "") for value in found.columns[-1]]
    return found.only(np.array([text in ("do()", "", "None", "nan") for text in done], dtype=bool))


def _tally(rows: Grouped, group: tuple[str, ...], domains: Domains, between: Mapping[str, Ends]) -> Counts:
    shape = tuple(len(domains[v]) for v in group)
    counts: Counts = np.zeros(shape)
    codes = [rows.codes(v, domains[v]) for v in group if v not in between]
    for ends, weights in _shares(rows, group, between):
        places = iter(codes)
        index = [next(places) if v not in between else np.full(len(weights), ends) for v in group]
        counts += _sums(index, weights, shape)
    return counts


def _shares(
    rows: Grouped, group: tuple[str, ...], between: Mapping[str, Ends]
) -> list[tuple[int, NDArray[np.float64]]]:
    """The weight with which each row counts for the lower and for the upper end of the real-valued one."""
    real = [v for v in group if v in between]
    if not real:
        return [(0, rows.weights)]
    low, high = between[real[0]]
    numbers = rows.numbers(real[0])
    if len(numbers) and (numbers.min() < low or numbers.max() > high):
        worst = numbers[np.argmax(np.maximum(low - numbers, numbers - high))]
        raise DataError(f"{rows.source}: column {real[0]} has the value {worst:g}, outside {low:g} to {high:g}")
    share = (numbers - low) / (high - low)
    return [(0, rows.weights * (1 - share)), (1, rows.weights * share)]


def _sums(index: list[NDArray[np.intp]], weights: NDArray[np.float64], shape: tuple[int, ...]) -> Counts:
    if not index:
        return np.asarray(weights.sum())
    flat = np.ravel_multi_index(tuple(index), shape)
    return np.asarray(np.bincount(flat, weights, int(np.prod(shape))), dtype=float).reshape(shape)


def _margin(whole: Counts, variables: tuple[str, ...], group: tuple[str, ...]) -> Counts:
    kept = [v for v in variables if v in group]
    margin: Counts = whole.sum(axis=tuple(i for i, v in enumerate(variables) if v not in group))
    return margin.transpose([kept.index(v) for v in group]) if group else margin
