"""How the values of a variable are read from a column: what is missing is None, and numbers are put into bins.

The same rule for columns in memory and, as an expression, for frames and databases, which apply it to their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.problem import MISSING_TEXTS, Domain, is_missing, value_in

_NUMBER = r"^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"


class Reading(NamedTuple):
    """The column of a variable, and its domain."""

    column: str
    domain: Domain

    def of(self, values: Sequence[Any]) -> list[Any]:
        """What a column in memory says; what is neither missing nor in a bin stays as it is."""
        if self.domain.cuts and (numbers := _numbers(values)) is not None:
            labels = np.array([*self.domain.known, None], dtype=object)
            bins = np.searchsorted(self.domain.cuts, numbers, side="right")
            return list(labels[np.where(np.isnan(numbers), len(labels) - 1, bins)])
        read = {value: self._value(value) for value in set(values)}
        return [read[value] for value in values]

    def _value(self, value: Any) -> Any:
        if is_missing(value, self.domain):
            return None
        return text if self.domain.cuts and (text := value_in(self.domain, value)) in self.domain else value

    def expression(self, dtype: Any) -> Any:
        """The same for a column of this type, as a narwhals expression."""
        import narwhals as nw

        column, is_text = nw.col(self.column), dtype in (nw.String, nw.Categorical, nw.Enum)
        text = column.cast(nw.String)
        present = ~column.is_null()
        if is_text:
            listed = {value.lower() for value in self.domain}
            present &= ~text.str.strip_chars().str.to_lowercase().is_in([t for t in MISSING_TEXTS if t not in listed])
        elif dtype.is_float():
            present &= ~column.is_nan()
        if not self.domain.cuts:
            return nw.when(present).then(column)
        is_number = text.str.contains(_NUMBER) if is_text else nw.lit(dtype.is_numeric() or dtype == nw.Boolean)
        number = nw.when(is_number).then(text.str.strip_chars() if is_text else column).cast(nw.Float64)
        return nw.when(present).then(nw.when(number.is_finite()).then(self._bin(number)).otherwise(text))

    def _bin(self, number: Any) -> Any:
        import narwhals as nw

        *below, last = self.domain.known
        found: Any = nw.lit(last)
        for cut, label in reversed(list(zip(self.domain.cuts, below, strict=True))):
            found = nw.when(number < cut).then(nw.lit(label)).otherwise(found)
        return found


def _numbers(values: Sequence[Any]) -> Array | None:
    """A column of numbers (NaN where one is missing) as an array, or None if there is anything else in it."""
    try:
        found = np.asarray(values)
    except ValueError:
        return None
    if found.dtype.kind not in "iuf":
        return None
    numbers = found.astype(float)
    return None if np.isinf(numbers).any() else numbers
