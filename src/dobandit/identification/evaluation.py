"""Running a recipe on numbers: arrays whose first axis is the trial, the others named by variables.

Cells that have no data are NaN, and the arithmetic here knows that zero times anything is zero: a
sum of products is computed once with the undefined cells at 0 and once at 1, and where the two
differ (all terms being non-negative) an undefined cell is needed, so the result is undefined too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import MissingCell
from dobandit.identification.estimand import Estimand
from dobandit.identification.expressions import Expression, Ratio, Sum, Table

Array = NDArray[np.float64]
Tables = Mapping[Table, Array]


class Named(NamedTuple):
    """An array with axes (trial, *axes)."""

    values: Array
    axes: tuple[str, ...]


def evaluate(estimand: Estimand, tables: Tables, strict: bool) -> Array:
    found = run(estimand.formula, tables)
    if strict and np.isnan(found.values).any():
        raise _missing(estimand, tables)
    return _arranged(found, (estimand.do, *estimand.on))


def run(expression: Expression, tables: Tables) -> Named:
    match expression:
        case Table():
            return Named(tables[expression], (*expression.given, expression.variable))
        case Sum():
            return _sum_of_product([run(f, tables) for f in expression.factors], expression.over)
        case Ratio():
            return _ratio(expression, tables)


def _sum_of_product(factors: list[Named], over: Iterable[str]) -> Named:
    """The product of the factors summed over some axes; NaN where an undefined cell matters."""
    low = _contract(factors, over, 0.0)
    if not any(np.isnan(f.values).any() for f in factors):
        return low
    high = _contract(factors, over, 1.0)
    return Named(np.where(high.values > low.values, np.nan, low.values), low.axes)


def _contract(factors: list[Named], over: Iterable[str], undefined: float) -> Named:
    axes = tuple(dict.fromkeys(axis for f in factors for axis in f.axes))
    number = {axis: i + 1 for i, axis in enumerate(axes)}
    kept = tuple(axis for axis in axes if axis not in set(over))
    trials = max((len(f.values) for f in factors), default=1)
    operands: list[Any] = []
    for f in factors:
        filled = np.nan_to_num(f.values, nan=undefined)
        operands += [np.broadcast_to(filled, (trials, *filled.shape[1:])), [0, *(number[a] for a in f.axes)]]
    if not factors:
        return Named(np.ones(trials), ())
    return Named(np.einsum(*operands, [0, *(number[a] for a in kept)], optimize=len(factors) > 2), kept)


def _ratio(expression: Ratio, tables: Tables) -> Named:
    above, below = run(expression.numerator, tables), run(expression.denominator, tables)
    axes = tuple(dict.fromkeys([*below.axes, *above.axes]))
    top, bottom = (_arranged(part, axes) for part in (above, below))
    undefined = np.isnan(top) | np.isnan(bottom)
    if expression.average:
        usable = Named(np.where(undefined, 0.0, 1.0), axes)
        weights = [run(w, tables) for w in expression.weights]
        top, bottom = (
            _arranged(
                _sum_of_product([*weights, usable, Named(np.nan_to_num(part), axes)], expression.average),
                left := tuple(a for a in axes if a not in expression.average),
            )
            for part in (top, bottom)
        )
        axes, undefined = left, np.zeros(np.shape(bottom), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Named(np.where(undefined | (bottom == 0), np.nan, top / bottom), axes)


def _arranged(found: Named, axes: tuple[str, ...]) -> Array:
    """The values with exactly these axes, of length one where the array does not depend on one."""
    present = [axis for axis in axes if axis in found.axes]
    values = found.values.transpose(0, *(1 + found.axes.index(axis) for axis in present))
    missing = tuple(1 + i for i, axis in enumerate(axes) if axis not in found.axes)
    return np.expand_dims(values, missing)


def _missing(estimand: Estimand, tables: Tables) -> MissingCell:
    """Name one undefined cell that the recipe needs: filling in all the others does not help."""
    for table in estimand.tables:
        for cell in np.argwhere(np.isnan(tables[table]).any(axis=-1)):
            filled = {t: np.nan_to_num(a, nan=1.0) for t, a in tables.items()}
            filled[table][tuple(cell)] = np.nan
            if np.isnan(run(estimand.formula, filled).values).any():
                return MissingCell(str(table), dict(zip(table.given, map(int, cell[1:]), strict=True)))
    raise AssertionError("an effect is undefined, but no cell is")
