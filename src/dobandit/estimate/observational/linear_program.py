"""The ends of a linear function over all distributions that agree with what is known, by HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.errors import MissingExtra, needing

EXACT = 1e-10  # tolerance of the solver


def can_solve() -> bool:
    """Whether the solver is installed."""
    try:
        _highspy()
    except MissingExtra:
        return False
    return True


class Program:
    """Distributions q over some types, each of which adds its probability to some rows, whose totals are known."""

    def __init__(self, rows: Indices, number: int) -> None:
        """`rows` has one line for each type: the rows that it adds to; `number` is how many rows there are."""
        self._rows = np.hstack([rows, np.full((len(rows), 1), number)])  # the last row is the total of q
        self._number = number + 1
        self._solver = _solver([self._rows], self._number)

    def extremes(self, known: Array, worth: Array) -> tuple[Array, Array]:
        """The distributions with the least and with the largest mean of `worth` that agree with what is known.

        Parameters
        ----------
        known
            The totals of the rows; NaN where a total is not known. Where no distribution fits them, because they come
            from a finite sample, the nearest totals that one fits take their place.
        worth
            One number for each type.

        Returns
        -------
        tuple of two arrays
            The distributions, one number for each type.
        """
        known = np.append(known, 1.0)
        found = self._solved(known, worth) or self._solved(self._nearest(known), worth)
        assert found is not None, "totals that fit do not fit"
        return found

    def _solved(self, known: Array, worth: Array) -> tuple[Array, Array] | None:
        highspy, answers = _highspy(), []
        _state(self._solver, known, worth)
        for sense in (highspy.ObjSense.kMinimize, highspy.ObjSense.kMaximize):
            self._solver.changeObjectiveSense(sense)
            self._solver.run()
            if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                return None
            answers.append(np.array(self._solver.getSolution().col_value))
        return answers[0], answers[1]

    def _nearest(self, known: Array) -> Array:
        """The totals nearest to the known ones, by the sum of all differences, that some distribution fits."""
        types, each = len(self._rows), np.arange(self._number - 1)[:, np.newaxis]
        solver = _solver([self._rows, each, each], self._number, signs=(1.0, 1.0, -1.0))  # too little, too much
        _state(solver, known, np.repeat([0.0, 1.0], [types, 2 * len(each)]))
        solver.run()
        q = np.array(solver.getSolution().col_value)[:types]
        fitted = np.zeros(self._number)
        np.add.at(fitted, self._rows, (q / q.sum())[:, np.newaxis])
        return np.where(np.isnan(known), np.nan, fitted)


def _state(solver: Any, known: Array, cost: Array) -> None:
    """Set the totals of the rows and what is to be made small or large."""
    infinity = _highspy().kHighsInf
    for row, total in enumerate(known):
        ends = (-infinity, infinity) if np.isnan(total) else (total, total)
        solver.changeRowBounds(row, *ends)
    solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)


def _solver(blocks: Sequence[Indices], number: int, signs: Sequence[float] = (1.0,)) -> Any:
    """HiGHS with one column, at least 0, for each line of the blocks: it stands with its sign in these rows."""
    highspy = _highspy()
    lengths = np.concatenate([np.full(len(block), block.shape[1]) for block in blocks])
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(lengths), number
    program.col_cost_, program.col_lower_ = np.zeros(len(lengths)), np.zeros(len(lengths))
    program.col_upper_ = np.full(len(lengths), highspy.kHighsInf)
    program.row_lower_ = program.row_upper_ = np.zeros(number)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.concatenate([[0], np.cumsum(lengths)])
    program.a_matrix_.index_ = np.concatenate([block.ravel() for block in blocks])
    program.a_matrix_.value_ = np.repeat(signs, [block.size for block in blocks])
    solver = highspy.Highs()
    solver.silent()
    for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(option, EXACT)
    solver.passModel(program)
    return solver


@lru_cache(maxsize=1)
def _highspy() -> Any:
    with needing("highspy", "bounds"):
        import highspy
    return highspy
