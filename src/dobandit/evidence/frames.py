"""Rows in a frame of another library or in a database."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from dobandit.errors import DataError, DobanditError, needing
from dobandit.evidence.columns import Columns
from dobandit.evidence.grouped import Grouped, Measured
from dobandit.evidence.numbers import as_number, not_a_number, number
from dobandit.evidence.reading import Reading
from dobandit.evidence.source import FIRST, MOST_WEIGHT, Occurrence, Source, require
from dobandit.numerals import amount
from dobandit.problem import is_missing


class Frame:
    """A pandas, polars, pyarrow, DuckDB, PySpark or Dask frame, through narwhals."""

    def __init__(self, data: Any, weights: str | None = None, name: str = "data", notes: tuple[str, ...] = ()) -> None:
        with needing("narwhals", "data"):
            import narwhals as nw
        self.name, self.notes = name, notes
        try:
            self._given = nw.from_native(data)
            self._frame = self._given.lazy()
        except TypeError:
            raise DataError(f"data: expected columns, rows or a data frame, not {type(data).__name__}") from None
        schema = self._frame.collect_schema()
        self.columns: tuple[str, ...] = tuple(schema.names())
        if not all(isinstance(column, str) for column in self.columns):
            raise DataError(f"{name}: the names of the columns must be texts")
        self._weights = weights
        self._last: tuple[Any, Grouped, str | None] = (None, Grouped((), np.zeros(0), (), name), None)
        self.probabilities = False
        if weights is not None:
            require([weights], self)
            self._given = self._given.with_columns(self._number(weights).alias(weights))
            self._frame = self._given.lazy()
            self._check_weights(weights)

    def _check_weights(self, weights: str) -> None:
        import narwhals as nw

        w = nw.col(weights)
        broken = (w % 1 != 0).cast(nw.Int64).sum()  # Spark adds up numbers only
        asked = {"low": w.min(), "missing": w.null_count(), "total": w.sum(), "broken": broken}
        (low, missing, total, broken), *_ = self._fetched(self._frame.select(**asked))
        if missing or (low is not None and not (low >= 0 and total < MOST_WEIGHT)):
            raise DataError(
                f"{weights}: weights are numbers that are not negative, none may be missing, and they add up to less "
                f"than {amount(MOST_WEIGHT)}"
            )
        self.probabilities = bool(broken)

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        """What was grouped last serves as long as it has the columns, so that a large file is read once for many
        questions."""
        require([*variables, *([measure] if measure else [])], self)
        frame, answer, measured = self._last
        if frame is not self._frame or not set(variables) <= set(answer.variables) or measure not in (None, measured):
            answer = self._grouped(variables, measure)
            self._last = (self._frame, answer, measure)
        return answer.among(variables, measure is not None)

    def _grouped(self, variables: Sequence[str], measure: str | None) -> Grouped:
        import narwhals as nw

        frame, asked = self._frame, {"number of rows": nw.len()}
        if self._weights is not None:
            asked["total weight"] = nw.col(self._weights).sum()
        if measure is not None:
            frame = frame.with_columns(self._number(measure).alias("what is measured"))
            y, reference = nw.col("what is measured"), self._typical(measure)
            powers = self._powers(y - reference)
            frame = frame.with_columns(*(power.alias(name) for name, power in powers.items()))
            asked |= {f"total {name}": nw.col(name).sum() for name in powers}
            asked |= {"least measured": y.min(), "most measured": y.max(), "number measured": y.count()}
        rows = self._fetched(frame.group_by(*variables).agg(**asked) if variables else frame.select(**asked))
        columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in range(len(variables) + len(asked))]
        values, numbers = columns[: len(variables)], [np.array(c, dtype=float) for c in columns[len(variables) :]]
        measured = None
        if measure is not None:
            *_, first, second, third, least, most, present = numbers
            sums, missing = np.array([first, second, third]), numbers[0] - present
            if missing.any():
                self._refuse_texts(measure)
            measured = Measured.checked(sums, reference, least, most, missing, measure, self.name)
        return Grouped(values, numbers[0 if self._weights is None else 1], tuple(variables), self.name, measured)

    def _typical(self, measure: str) -> float:
        """The middle one of the first numbers of a column, about which its powers are added up; 0 if there is none.
        They are close to all others, so that little is lost to rounding, and need no reading of all rows."""
        first = self._fetched(self._frame.select(self._number(measure).alias(measure)).head(FIRST))
        finite = sorted(float(value) for (value,) in first if value is not None and math.isfinite(value))
        return finite[len(finite) // 2] if finite else 0.0

    def _powers(self, above: Any) -> dict[str, Any]:
        """The first three powers of a column with the weights of the rows, by names that no other column has."""
        import narwhals as nw

        weight = 1 if self._weights is None else nw.col(self._weights)
        powers = (above, above * above, above * above * above)
        return {f"what is measured, power {k}": power * weight for k, power in enumerate(powers, 1)}

    def _number(self, column: str) -> Any:
        """A column as numbers; texts count as far as they are numbers, and are null elsewhere."""
        import narwhals as nw

        kind = self._frame.collect_schema()[column]
        if kind == nw.String:
            return number(column)
        if not kind.is_numeric():
            raise DataError(f"{self.name}: column {column} has no numbers, and numbers are needed")
        return nw.col(column)

    def values(self, column: str) -> list[Occurrence]:
        import narwhals as nw

        require([column], self)
        if not isinstance(self._given, nw.DataFrame):  # rows without an order
            found = self._frame.select(column).group_by(column).agg(**{"number of rows": nw.len()})
            return [Occurrence(value, int(rows), None, None) for value, rows in self._fetched(found)]
        numbered = self._given.select(column).with_row_index("number of the row").lazy()
        number = nw.col("number of the row")
        asked = {"number of rows": nw.len(), "last row": number.max(), "first row": number.min()}
        rows = sorted(self._fetched(numbered.group_by(column).agg(**asked)), key=lambda row: int(row[-1]))
        return [Occurrence(value, int(times), int(first) + 1, int(last) + 1) for value, times, last, first in rows]

    def read_as(self, readings: Mapping[str, Reading], complete: Sequence[str] = ()) -> Source:
        import narwhals as nw

        schema = self._frame.collect_schema()
        require([reading.column for reading in readings.values()], self)
        if any(schema[reading.column] == nw.Object for reading in readings.values()):  # values of several types
            return Columns(self.name, self.everything(), self._weights).read_as(readings, complete)
        other, read = copy(self), {v: reading.expression(schema[reading.column]) for v, reading in readings.items()}
        other._given = self._given.with_columns(**read) if read else self._given
        if complete:
            other._given = other._given.filter(*(~nw.col(column).is_null() for column in complete))
        other._frame = other._given.lazy()
        other.columns = tuple(other._frame.collect_schema().names())
        return other

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        require(columns, self)
        rows = self._fetched(self._frame.select(*columns).head(FIRST))
        return [[row[i] for row in rows] for i in range(len(columns))]

    def rows_without(self, columns: Sequence[str]) -> int:
        import narwhals as nw

        if not columns:
            return 0
        empty = nw.any_horizontal(*(nw.col(column).is_null() for column in columns), ignore_nulls=True)
        ((rows,),) = self._fetched(self._frame.select(**{"number of rows": empty.cast(nw.Int64).sum()}))
        return int(rows or 0)

    def _refuse_texts(self, column: str) -> None:
        for value, *_ in self.values(column):
            if isinstance(value, str) and not is_missing(value) and math.isnan(as_number(value)):
                raise not_a_number(self.name, column, value)

    def where(self, row: int) -> str:
        return f"row {row}"

    def everything(self) -> dict[str, list[Any]]:
        rows = self._fetched(self._frame)
        return {name: [row[i] for row in rows] for i, name in enumerate(self.columns)}

    def _fetched(self, frame: Any) -> list[tuple[Any, ...]]:
        """The rows of a small frame; whatever goes wrong inside a database is told in one sentence."""
        try:
            native = frame.to_native()
            if hasattr(native, "fetchall"):  # DuckDB, which would otherwise need pyarrow
                return list(native.fetchall())
            return list(frame.collect().iter_rows())
        except DobanditError:
            raise
        except Exception as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> Exception:
        """What to say of an error inside a database."""
        what = (str(error) or type(error).__name__).splitlines()[0]
        return DataError(f"{self.name}: the rows cannot be counted: {what}")
