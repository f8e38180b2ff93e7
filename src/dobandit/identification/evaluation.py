"""Running a recipe on numbers: arrays whose first axis is the trial, the others named by variables.

Cells that have no data are NaN, and the arithmetic here knows that zero times anything is zero: a
sum of products is computed once with the undefined cells at 0 and once at 1, and where the two
differ (all terms being non-negative) an undefined cell is needed, so the result is undefined too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    return arranged(found, (*estimand.do, *estimand.on))


def run(expression: Expression, tables: Tables) -> Factor:
    match expression:
        case Table():
            return Factor((*expression.given, expression.variable), tables[expression])
        case Sum():
            return _sum_of_product([run(f, tables) for f in expression.factors], expression.over)
        case Ratio():
            return _ratio(expression, tables)


def gradient(estimand: Estimand, tables: Tables, weights: Array) -> dict[Table, Array]:
    """The derivative by every cell of the sum of weights * P(on | do(do)), by the chain rule from the outside in."""
    axes = (*estimand.do, *estimand.on)
    absent = tuple(1 + i for i, axis in enumerate(axes) if axis not in estimand.formula.free)
    passed = Factor(tuple(axis for axis in axes if axis in estimand.formula.free), weights.squeeze(absent))
    found: dict[Table, Array] = {t: np.zeros(tables[t].shape) for t in estimand.tables}
    _pass_on(estimand.formula, passed, tables, found)
    return found


def _pass_on(expression: Expression, passed: Factor, tables: Tables, found: dict[Table, Array]) -> None:
    """Add to `found` what the derivative by this expression, `passed`, says of the tables in it."""
    match expression:
        case Table():
            found[expression] += arranged(passed, (*expression.given, expression.variable))
        case Sum():
            _pass_through_product(expression.factors, [], passed, tables, found)
        case Ratio():
            above, below, usable = _parts(expression, tables)
            weight = arranged(passed, above.axes)
            with np.errstate(invalid="ignore", divide="ignore"):
                to_above = np.where(weight == 0, 0.0, weight / below.values)
                to_below = np.where(weight == 0, 0.0, -to_above * above.values / below.values)
            for part, to_part in ((expression.numerator, to_above), (expression.denominator, to_below)):
                passed = Factor(above.axes, to_part)
                _pass_through_product((*expression.weights, part), usable, passed, tables, found)


def _pass_through_product(
    factors: Sequence[Expression], constant: list[Factor], passed: Factor, tables: Tables, found: dict[Table, Array]
) -> None:
    """The derivative by a factor is what is passed times the other factors, summed over what it does not depend on."""
    parts = [run(f, tables) for f in factors]
    for i, factor in enumerate(factors):
        others = [*parts[:i], *parts[i + 1 :], *constant, passed]
        over = frozenset(axis for f in others for axis in f.axes) - factor.free
        _pass_on(factor, _sum_of_product(others, over), tables, found)


def _sum_of_product(factors: list[Factor], over: frozenset[str]) -> Factor:
    """The product of the factors summed over some axes; NaN where an undefined cell matters."""
    kept = tuple(dict.fromkeys(axis for f in factors for axis in f.axes if axis not in over))
    low = contract(_filled(factors, 0.0), kept)
    if not any(np.isnan(f.values).any() for f in factors):
        return Factor(kept, low)
    high = contract(_filled(factors, 1.0), kept)
    return Factor(kept, np.where(high != low, np.nan, low))


def _filled(factors: list[Factor], undefined: float) -> list[Factor]:
    return [Factor(f.axes, np.nan_to_num(f.values, nan=undefined)) for f in factors]


def _ratio(expression: Ratio, tables: Tables) -> Factor:
    """NaN where the ratio is undefined."""
    above, below, _ = _parts(expression, tables)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Factor(above.axes, np.where(below.values == 0, np.nan, above.values / below.values))


def _parts(expression: Ratio, tables: Tables) -> tuple[Factor, Factor, list[Factor]]:
    """Both parts of a ratio, with the same axes. They are averaged over variables that cannot matter; values of these
    with an undefined part drop out, and the third thing returned is which ones are left."""
    above, below = run(expression.numerator, tables), run(expression.denominator, tables)
    axes = tuple(dict.fromkeys([*below.axes, *above.axes]))
    top, bottom = np.broadcast_arrays(arranged(above, axes), arranged(below, axes))
    if not expression.average:
        return Factor(axes, top), Factor(axes, bottom), []
    left = tuple(axis for axis in axes if axis not in expression.average)
    usable = Factor(axes, np.where(np.isnan(top) | np.isnan(bottom), 0.0, 1.0))
    factors = [*(run(w, tables) for w in expression.weights), usable]
    top, bottom = (
        arranged(_sum_of_product([*factors, *_filled([Factor(axes, part)], 0.0)], expression.average), left)
        for part in (top, bottom)
    )
    return Factor(left, top), Factor(left, bottom), [usable]


def _missing(estimand: Estimand, tables: Tables) -> MissingCell:
    """Name one undefined cell that the recipe needs: filling in all the others does not help."""
    for table in estimand.tables:
        for cell in np.argwhere(np.isnan(tables[table]).any(axis=-1)):
            filled = {t: np.nan_to_num(a, nan=1.0) for t, a in tables.items()}
            filled[table][tuple(cell)] = np.nan
            if np.isnan(run(estimand.formula, filled).values).any():
                return MissingCell(str(table), dict(zip(table.given, map(int, cell[1:]), strict=True)))
    raise AssertionError("an effect is undefined, but no cell is")
