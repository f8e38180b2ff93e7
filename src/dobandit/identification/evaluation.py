"""Running a recipe on numbers: arrays whose first axis is the trial, the others named by variables.

Cells that have no data are NaN, and the arithmetic here knows that zero times anything is zero: a
sum of products is computed once with the undefined cells at 0 and once at 1, and where the two
differ (all terms being non-negative) an undefined cell is needed, so the result is undefined too.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dobandit.arrays import Array
from dobandit.elimination import Factor, arranged, contract
from dobandit.errors import MissingCell
from dobandit.identification.estimand import Estimand
from dobandit.identification.expressions import Expression, Ratio, Sum, Table

Tables = Mapping[Table, Array]


def evaluate(estimand: Estimand, tables: Tables, strict: bool) -> Array:
    found = run(estimand.formula, tables)
    if strict and np.isnan(found.values).any():
        raise _missing(estimand, tables)
    return arranged(found, (estimand.do, *estimand.on))


def run(expression: Expression, tables: Tables) -> Factor:
    match expression:
        case Table():
            return Factor((*expression.given, expression.variable), tables[expression])
        case Sum():
            return _sum_of_product([run(f, tables) for f in expression.factors], expression.over)
        case Ratio():
            return _ratio(expression, tables)


def _sum_of_product(factors: list[Factor], over: frozenset[str]) -> Factor:
    """The product of the factors summed over some axes; NaN where an undefined cell matters."""
    kept = tuple(dict.fromkeys(axis for f in factors for axis in f.axes if axis not in over))
    low = contract(_filled(factors, 0.0), kept)
    if not any(np.isnan(f.values).any() for f in factors):
        return Factor(kept, low)
    high = contract(_filled(factors, 1.0), kept)
    return Factor(kept, np.where(high > low, np.nan, low))


def _filled(factors: list[Factor], undefined: float) -> list[Factor]:
    return [Factor(f.axes, np.nan_to_num(f.values, nan=undefined)) for f in factors]


def _ratio(expression: Ratio, tables: Tables) -> Factor:
    above, below = run(expression.numerator, tables), run(expression.denominator, tables)
    axes = tuple(dict.fromkeys([*below.axes, *above.axes]))
    top, bottom = np.broadcast_arrays(arranged(above, axes), arranged(below, axes))
    if expression.average:
        return _averaged_ratio(expression, Factor(axes, top), Factor(axes, bottom), tables)
    return Factor(axes, _divided(top, bottom))


def _averaged_ratio(expression: Ratio, top: Factor, bottom: Factor, tables: Tables) -> Factor:
    """Both parts averaged over variables that cannot matter; their values with an undefined part drop out."""
    left = tuple(axis for axis in top.axes if axis not in expression.average)
    usable = Factor(top.axes, np.where(np.isnan(top.values) | np.isnan(bottom.values), 0.0, 1.0))
    weights = [run(w, tables) for w in expression.weights]
    above, below = (
        arranged(_sum_of_product([*weights, usable, *_filled([part], 0.0)], expression.average), left)
        for part in (top, bottom)
    )
    return Factor(left, _divided(above, below))


def _divided(top: Array, bottom: Array) -> Array:
    """top / bottom; NaN where that is undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom == 0, np.nan, top / bottom)


def _missing(estimand: Estimand, tables: Tables) -> MissingCell:
    """Name one undefined cell that the recipe needs: filling in all the others does not help."""
    for table in estimand.tables:
        for cell in np.argwhere(np.isnan(tables[table]).any(axis=-1)):
            filled = {t: np.nan_to_num(a, nan=1.0) for t, a in tables.items()}
            filled[table][tuple(cell)] = np.nan
            if np.isnan(run(estimand.formula, filled).values).any():
                return MissingCell(str(table), dict(zip(table.given, map(int, cell[1:]), strict=True)))
    raise AssertionError("an effect is undefined, but no cell is")
