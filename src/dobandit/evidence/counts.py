"""Counts of named tables: how often each combination of values of these variables was seen.

A real-valued reward between two ends counts partly for the one and partly for the other, so that the
mean of the counts is the mean of the reward and every table stays a table of counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.errors import ArmError, DataError, listing
from dobandit.evidence.batches import batches, pairs_counted
from dobandit.evidence.faults import Fault, missing_fault, refusal, rows_told
from dobandit.evidence.fitted import Fitted
from dobandit.evidence.grouped import Grouped
from dobandit.evidence.source import Source, no_values
from dobandit.numerals import size
from dobandit.problem import Value, is_missing, label, parse_do, value_in

Domains = Mapping[str, Sequence[str]]
Ends = tuple[float, float]

INTERVENTION = "intervention"  # a column of logs that says what was done in a row
LARGEST = 10**6  # cells up to which one grouping by all variables serves all tables: 8 MB
FEW = 100  # values of a variable, and square root of combinations, that are counted before the domains are known
MOST_READ = 2**23  # values of rows that are in memory at the same time
PAIR = 128  # cells of a product of matrices, which take as long as counting one pair of variables
MOST_VALUES = 2**12  # of all variables that are counted in pairs together: a table of 128 MB
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
    alone = [group for group in groups if not group or cells(group, domains) > WIDEST or {*group} & between.keys()]
    found = {group: _tally(source, group, domains, between) for group in (alone if len(groups) > 1 else groups)}
    others = [group for group in groups if group not in found]
    for batch in batches(others, _fitting(source, others, domains)):
        found |= _tallies(source, batch, domains)
    return {group: found[group] for group in groups}


def _fitting(
    source: Source, groups: Sequence[tuple[str, ...]], domains: Domains
) -> Callable[[Sequence[str], int], bool]:
    """Whether several blocks of variables, as large as this one, can be read together. What a source returns are the
    combinations of their values and of what was done, and there are at most as many of these as rows."""
    rows, done = math.inf, 1
    if groups:
        asked = (INTERVENTION,) if INTERVENTION in source.columns else groups[0][:1]
        found = source.group(asked)
        rows = rows if source.probabilities else float(found.weights.sum())
        done = len(set(found.columns[0])) if asked == (INTERVENTION,) else 1

    def fits(block: Sequence[str], blocks: int) -> bool:
        combinations = min(cells(block, domains), rows, MOST_READ + 1) ** blocks * done
        is_read = blocks * len(block) * min(combinations, rows) <= MOST_READ
        return is_read and blocks * sum(len(domains[v]) for v in block) <= MOST_VALUES

    return fits


def _tallies(source: Source, groups: Sequence[tuple[str, ...]], domains: Domains) -> dict[tuple[str, ...], Array]:
    """The counts of several groups, from one question to the source."""
    if len(groups) == 1:
        return {groups[0]: _tally(source, groups[0], domains, {})}
    together = tuple(dict.fromkeys(v for group in groups for v in group))
    rows, cards = observations(source, together), {v: len(domains[v]) for v in together}
    codes = {v: rows.codes(v, domains[v]) for v in together}
    pairs = [group for group in groups if len(group) == 2]
    found: dict[tuple[str, ...], Array] = {}
    if len(pairs) * PAIR > sum(cards.values()) ** 2:
        of_pair = pairs_counted(codes, rows.weights, cards)
        found = {pair: of_pair(pair) for pair in pairs}
    for group in groups:
        if group not in found:
            found[group] = sums([codes[v] for v in group], rows.weights, tuple(cards[v] for v in group))
    return found


def read_together(source: Source, variables: Iterable[str], domains: Domains, measure: str | None) -> None:
    """Group a source by all that will be asked of it, if that is not too much: it answers questions about some of these
    variables from there, so that a large file is read once. Numbers, which have no values, are too much."""
    group = tuple(v for v in dict.fromkeys(variables) if v != measure)
    if 0 < cells(group, domains) <= LARGEST and {*group, *([measure] if measure else [])} <= {*source.columns}:
        observations(source, group, measure)


def cells(group: Iterable[str], domains: Domains) -> float:
    return math.prod(float(len(domains[v])) for v in group)


def domains_of(source: Source, variables: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The values that columns have, as domains; if values are missing, one error names all such columns."""
    wanted = list(variables)
    few = _with_few_values(source, wanted)
    if few:
        observations(source, few)  # together, so that a large file is read once for all of them
    found = {v: observations(source, (v,)) for v in sorted(wanted, key=lambda v: v not in few)}
    found = {v: found[v] for v in wanted}
    empty = [v for v, rows in found.items() if any(map(is_missing, _distinct(rows)))]
    if empty:
        missing = {v: [each for each in source.values(v) if is_missing(each.value)] for v in empty}
        faults = [missing_fault(source, f"column {v}", each, "drop or fill them") for v, each in missing.items()]
        raise refusal(source.name, faults)
    if any(not len(rows.weights) for rows in found.values()):
        raise DataError(f"{source.name}: there are no rows")
    return {v: tuple(rows.labels(v)) for v, rows in found.items()}


def _with_few_values(source: Source, variables: Sequence[str]) -> tuple[str, ...]:
    """Those that, by the first rows, have few combinations of values."""
    found, combinations = list[str](), 1
    different = {v: len(set(map(str, values))) for v, values in zip(variables, source.first(variables), strict=True)}
    for v in sorted(variables, key=different.__getitem__):
        combinations *= 1 + different[v]
        found += [v] if different[v] <= FEW and combinations <= FEW**2 else []
    return tuple(found)


def _distinct(rows: Grouped) -> set[Any]:
    """The distinct values of a single column."""
    try:
        return set(rows.columns[0])
    except TypeError:
        raise no_values(rows.source, rows.variables[0]) from None


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
    if INTERVENTION in source.columns and INTERVENTION not in variables:
        refuse_interventions(source, lambda done: _unfit(done, variables, domains or {}))


def refuse_interventions(source: Source, fault: Callable[[Value | None], str | None]) -> None:
    """An error that names everything that was done in a log and has a fault."""
    done_values = _distinct(source.group((INTERVENTION,)))
    faults = {str(done): told for done in sorted(done_values, key=str) if (told := fault(done))}
    if not faults:
        return
    for found in source.values(INTERVENTION):
        if str(found.value) in faults:
            faults[str(found.value)] += f" ({rows_told(source, [found])})"
    found_faults = [Fault(f"column {INTERVENTION}: {what}") for what in faults.values()]
    raise source.refused(found_faults) if isinstance(source, Fitted) else refusal(source.name, found_faults)


def _unfit(done: Value | None, variables: Collection[str], domains: Domains) -> str | None:
    """What is wrong with an intervention that a log names."""
    try:
        settings = {} if nothing_done(done) else parse_do(str(done))
    except ArmError as error:
        return str(error)
    for variable, value in settings.items():
        known = domains.get(variable)
        if variable not in variables:
            return f"{done} does not fit the problem: there is no variable {variable}; it has {listing(variables)}"
        if known is not None and value_in(known, value) not in known:
            return f"{done} does not fit the problem: the values of {variable} are {listing(known)}"
    return None


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
        many = size(cells(group, domains))
        raise DataError(f"a table of {listing(group)} would have {many} cells, which is too many")
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


def moments(source: Source, given: Sequence[str], domains: Domains, measure: str) -> Array:
    """For all values of `given`, the number of plain observations and the sums of the first three powers of how far a
    measurement is above some reference. The last axis is the power."""
    rows = observations(source, tuple(given), measure)
    if rows.measured is None:
        raise ValueError(f"{measure} was not measured")
    index, shape = [rows.codes(v, domains[v]) for v in given], tuple(len(domains[v]) for v in given)
    found = [sums(index, each, shape) for each in (rows.weights, *rows.measured.powers)]
    return np.stack(found, axis=-1)


def measured_ends(source: Source, measure: str, low: float, high: float) -> Ends:
    """The least and the largest number of a measurement, all of which must lie between two others."""
    measured = observations(source, (), measure).measured_within(measure, low, high)
    if not measured.least <= measured.most:  # there are no rows
        return 0.0, 1.0
    return measured.least, measured.most if measured.most > measured.least else measured.least + 1.0


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
