"""Back-door adjustment where tables of all combinations do not fit: over the strata that occur, or without tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.errors import DataError, MissingExtra, listing
from dobandit.estimate.observational.cases import Cases, read_cases
from dobandit.estimate.observational.interval import deviations, squared_error
from dobandit.estimate.observational.plugin import Rows, table_cells
from dobandit.estimate.observational.robust import overlap_fails, robust_scores
from dobandit.estimate.observational.scale import Scale, is_distribution
from dobandit.estimate.observational.scores import Fit, Scores, plain_scores
from dobandit.estimate.observational.strata import ENOUGH, strata_scores
from dobandit.evidence import MOST_CELLS, Source
from dobandit.identification import Estimand
from dobandit.numerals import size
from dobandit.problem import Arm

Signed = tuple[float, Arm]  # 1, or -1 for what it is compared with


class Wide(NamedTuple):
    """The mean or the difference, its interval, the number of rows, what was fitted, and what to warn of."""

    mean: float
    low: float
    high: float
    n: float
    exact: bool  # the weights are probabilities
    fits: tuple[Fit, ...]
    warnings: tuple[str, ...]


def fits_tables(estimand: Estimand, scale: Scale) -> bool:
    """Whether the tables of a recipe are small enough, and hold no numbers."""
    return not _numbers(estimand, scale) and table_cells(estimand, scale.domains) <= MOST_CELLS


def wide_effect(
    source: Source, terms: Sequence[Signed], estimands: Mapping[Arm, Estimand], scale: Scale, level: float
) -> Wide:
    """The sum of the arms' means, each times its factor."""
    given = {arm: _covariates(estimands[arm], scale) for _, arm in terms}
    variables = dict.fromkeys(v for arm, z in given.items() for v in (*arm.variables, *z))
    cases = read_cases(source, variables, estimands[terms[0][1]].on[0], scale)
    exact = is_distribution(source, cases.total)
    scores = {arm: strata_scores(cases, arm, z) if z else plain_scores(cases, arm) for arm, z in given.items()}
    if not exact and any(found.unseen > ENOUGH for found in scores.values()):
        cases = cases.one_by_one()
        try:
            scores = {arm: robust_scores(cases, arm, z) if z else plain_scores(cases, arm) for arm, z in given.items()}
        except MissingExtra as error:
            widest = max((estimands[arm] for arm in given), key=lambda e: len(e.variables))
            raise DataError(f"{_refused(widest, scale)}; without tables, {error}") from None
    return _combined(cases, [(factor, arm, scores[arm]) for factor, arm in terms], level, exact)


def _combined(cases: Cases, terms: Sequence[tuple[float, Arm, Scores]], level: float, exact: bool) -> Wide:
    """The average of the rows' scores, and how uncertain it is."""
    values = np.sum([factor * scores.values for factor, _, scores in terms], axis=0)
    mean, z = cases.average(values), deviations(level)
    squared = z * z * cases.average((values - mean) ** 2) / cases.total
    squared += sum(factor**2 * _of_small_cells(scores.cells, z) for factor, _, scores in terms)
    fits = {arm: scores.fit for _, arm, scores in terms if scores.fit}
    unknown = 0.0 if fits else sum(abs(factor) * scores.unseen * scores.reach for factor, _, scores in terms)
    half = (0.0 if exact else math.sqrt(squared)) + unknown
    low, high = _within(cases.scale, [factor for factor, *_ in terms], mean - half, mean + half)
    warnings = {arm: overlap_fails(scores) if fits else _unseen(arm, scores, cases) for _, arm, scores in terms}
    spoken = tuple(filter(None, warnings.values()))
    return Wide(mean, min(low, mean), max(high, mean), cases.total, exact, tuple(fits.values()), spoken)


def _of_small_cells(cells: Rows, z: float) -> float:
    """What is added to the squared error, since a few rows may look more alike than they are (as in `interval`)."""
    return squared_error(cells, z) - z * z * float((cells.variances / cells.totals).sum())


def _within(scale: Scale, factors: Sequence[float], low: float, high: float) -> tuple[float, float]:
    """The ends, no further than the values of the reward allow; a measurement has no such limits."""
    if scale.between:
        return low, high
    products = [(factor * min(scale.worth), factor * max(scale.worth)) for factor in factors]
    return max(low, sum(map(min, products))), min(high, sum(map(max, products)))


def _unseen(arm: Arm, scores: Scores, cases: Cases) -> str:
    if not scores.unseen:
        return ""
    rows = "the rows that have it" if cases.have(arm).any() else "all rows"
    counts = f"the mean of {rows}" if cases.scale.between else "the middle of the range"
    return (
        f"{arm}: {scores.unseen:.1%} of the rows have covariates with which nothing has it, so {counts} "
        "counts there and the interval is wider"
    )


def _covariates(estimand: Estimand, scale: Scale) -> tuple[str, ...]:
    """What a recipe adjusts for; other recipes need tables."""
    if estimand.method != "adjustment" and not fits_tables(estimand, scale):
        raise DataError(f"{_refused(estimand, scale)}: leave variables out of the graph, or join their values ([bins])")
    return covariates({Arm(): estimand})


def covariates(estimands: Mapping[Arm, Estimand]) -> tuple[str, ...]:
    """The variables that are adjusted for, and that no arm sets."""
    adjusted = [e.formula.over for e in estimands.values() if e.method == "adjustment"]
    return tuple(sorted(frozenset[str]().union(*adjusted).difference(*(arm.variables for arm in estimands))))


def _numbers(estimand: Estimand, scale: Scale) -> list[str]:
    return sorted(estimand.variables & scale.numbers)


def _refused(estimand: Estimand, scale: Scale) -> str:
    """Why tables will not do, for the beginning of a sentence."""
    start = f"the effect of {', '.join(estimand.do)} on {estimand.on[0]} cannot be had from tables"
    if numbers := _numbers(estimand, scale):
        return f"{start}, since {listing(numbers)} {'is a number' if len(numbers) == 1 else 'are numbers'}"
    return f"{start} of {size(table_cells(estimand, scale.domains))} cells ({MOST_CELLS:,} are the most)"
