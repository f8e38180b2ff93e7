"""CSV files of short fields without quotes, counted by NumPy in one reading. A database takes longer, because it hashes
every text of every row.

A text is read as words of eight bytes, and a word becomes its place among the few words that were seen there. Whatever
does not fit (quotes, long texts, many combinations, rows that are too short) is left to the next reader.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.evidence.backed import InDoubt
from dobandit.evidence.columns import Columns
from dobandit.evidence.delimited import Delimited
from dobandit.evidence.fields import Fields, Words
from dobandit.evidence.grouped import Grouped, Measured
from dobandit.evidence.numbers import as_number
from dobandit.evidence.reading import Reading
from dobandit.evidence.source import FIRST, Occurrence, require

CHUNK = 1 << 17  # bytes that are counted together: their arrays stay in the cache of a processor
MOST_CELLS = 1 << 17  # combinations of words: their counts are added up after every chunk of the file
MOST_AXES = 32  # that a table of NumPy may have
FEW = 16  # words, up to which it is quicker to compare with each of them than to search


class ShortFields:
    """A file whose rows are counted by the columns that are asked for, and only then read as variables."""

    probabilities = False

    def __init__(
        self, counted: Counted, columns: Sequence[str], rows: Callable[[Sequence[str]], Columns] | None = None
    ) -> None:
        """`rows` are the counted rows of some columns, if these are not the columns of the file as they are."""
        self._counted, self.columns, self._rows = counted, tuple(columns), rows or counted.rows
        self.name, self.where = counted.file.text.name, counted.file.where
        self.notes: tuple[str, ...] = (counted.file.note,)
        self._is_as_written = rows is None

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        require([*variables, *([measure] if measure else [])], self)
        if measure is None:
            return self._rows(variables).group(variables)
        if not self._is_as_written:
            raise InDoubt
        return self._counted.measured(variables, measure)

    def values(self, column: str) -> list[Occurrence]:
        raise InDoubt  # in which line a value is, is not known here

    def read_as(self, readings: Mapping[str, Reading], complete: Sequence[str] = ()) -> ShortFields:
        require([reading.column for reading in readings.values()], self)

        def rows(variables: Sequence[str]) -> Columns:
            needed = dict.fromkeys((*variables, *complete))
            read = {v: readings[v] for v in needed if v in readings}
            return self._rows([read[v].column if v in read else v for v in needed]).read_as(read, complete)

        return ShortFields(self._counted, tuple(dict.fromkeys((*self.columns, *readings))), rows)

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        require(columns, self)
        if not self._is_as_written:
            raise InDoubt
        return self._counted.first(columns)

    def rows_without(self, columns: Sequence[str]) -> int:
        return self._rows(columns).rows_without(columns) if columns else 0


def short_fields(file: Delimited) -> ShortFields:
    return ShortFields(Counted(file), [name for name in file.dialect.names if name])


class Counted:
    """Counts of the combinations of texts in some columns; the last ones serve as long as they have the columns."""

    def __init__(self, file: Delimited) -> None:
        self.file = file
        self._last: Grouped | None = None
        self._measure: str | None = None

    def rows(self, columns: Sequence[str]) -> Columns:
        found = self._grouped(columns, None)
        data = {name: list(texts) for name, texts in zip(found.variables, found.columns, strict=True)}
        return Columns(found.source, data, times=found.weights.astype(np.intp), where=self.file.where)

    def measured(self, columns: Sequence[str], measure: str) -> Grouped:
        return self._grouped(columns, measure).among(columns, True)

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        rows = [row.fields for row in islice(self.file.rows(), FIRST)]
        return [[row[self._place(column)] or None for row in rows] for column in columns]

    def _place(self, column: str) -> int:
        return self.file.dialect.names.index(column)

    def _grouped(self, columns: Sequence[str], measure: str | None) -> Grouped:
        last = self._last
        if last is None or not {*columns} <= {*last.variables} or measure not in (None, self._measure):
            asked = tuple(dict.fromkeys(columns)) or (self.file.dialect.names[0],)
            last = self._last = self._count(asked, measure)
            self._measure = measure
        return last

    def _count(self, columns: tuple[str, ...], measure: str | None) -> Grouped:
        tally = Tally([self._place(column) for column in columns], 1 if measure is None else 4)
        reference = 0.0 if measure is None else self._typical(measure)
        ends = [math.inf, -math.inf]
        for lines in _chunks(self.file):
            fields = Fields.of(lines, self.file.dialect.separator.encode(), len(self.file.dialect.names))
            if measure is None:
                tally.add(fields)
                continue
            numbers = fields.numbers(self._place(measure))
            above = numbers - reference
            tally.add(fields, above, above * above, above * above * above)
            ends = [min(ends[0], float(numbers.min())), max(ends[1], float(numbers.max()))]
        texts, (times, *powers) = tally.result()
        found = Measured(np.array(powers), reference, *ends) if measure else None
        return Grouped(texts, times, columns, self.file.text.name, found)

    def _typical(self, measure: str) -> float:
        """The middle one of the first numbers, about which powers are added up."""
        numbers = sorted(filter(math.isfinite, map(as_number, self.first([measure])[0])))
        return numbers[len(numbers) // 2] if numbers else 0.0


def _chunks(file: Delimited) -> Iterator[bytes]:
    """The lines under the header, many at a time, each of which ends in the same way."""
    quote = file.dialect.quote.encode()
    with file.text.contents.opened() as opened:
        header = b"".join(opened.readline() for _ in range(file.dialect.line))
        if b"\r" in _unified(header) or len(file.dialect.names) == 1:  # then an empty line is no row
            raise InDoubt
        while lines := _unified(opened.read(CHUNK) + opened.readline()):
            if quote in lines or b"\r" in lines:
                raise InDoubt
            yield lines if lines.endswith(b"\n") else lines + b"\n"


def _unified(lines: bytes) -> bytes:
    """With the same end of every line."""
    return lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines


class Tally:
    """Sums over the rows with each combination of words: a table with an axis for every word of the texts of a column.
    The first sum is the number of rows."""

    def __init__(self, columns: Sequence[int], sums: int) -> None:
        if len(columns) > MOST_AXES:
            raise InDoubt
        self._axes = [(column, 0) for column in columns]  # the column of a word, and its place in the text
        self._known: list[Words] = [np.zeros(0, dtype=np.uint64) for _ in columns]  # sorted
        self._sums: Array = np.zeros([sums, *(0 for _ in columns)])

    def add(self, fields: Fields, *weights: Array) -> None:
        """The rows of a chunk, and what is added up besides their number."""
        found = {(c, k): word for c in dict(self._axes) for k, word in enumerate(fields.words(c))}
        for column, place in sorted(found.keys() - {*self._axes}):
            self._add_axis(column, place)
        cells = np.zeros(len(fields.starts), dtype=np.intp)
        for axis, column_and_place in enumerate(self._axes):
            codes = self._codes(axis, found.get(column_and_place, np.zeros(len(cells), dtype=np.uint64)))
            cells *= len(self._known[axis])
            cells += codes
        for total, each in zip(self._sums, (None, *weights), strict=True):
            total += np.bincount(cells, each, minlength=total.size).reshape(total.shape)

    def result(self) -> tuple[list[list[str | None]], Array]:
        """The texts of every column in the combinations that occur, and the sums of each."""
        found = np.nonzero(self._sums[0])
        texts = []
        for column in dict(self._axes):
            of_column = sorted((k, axis) for axis, (c, k) in enumerate(self._axes) if c == column)
            words = np.stack([self._known[axis][found[axis]] for _, axis in of_column], axis=-1)
            whole = words.astype(">u8").view(f"S{8 * len(of_column)}").ravel().tolist()  # without the zeros at the end
            texts.append([text.decode() or None for text in whole])
        return texts, np.array([total[found] for total in self._sums])

    def _add_axis(self, column: int, place: int) -> None:
        """A further word of the texts of a column, which is empty in all rows so far."""
        if len(self._axes) == MOST_AXES:
            raise InDoubt
        self._axes.append((column, place))
        self._known.append(np.zeros(1, dtype=np.uint64))
        self._sums = self._sums[..., np.newaxis]

    def _codes(self, axis: int, words: Words) -> Indices:
        """The places of these words among the known ones, to which new ones are added."""
        known = self._known[axis]
        if len(known):
            codes = _places(words, known)
            if (known[codes] == words).all():
                return codes
        new = np.setdiff1d(words, known)
        self._known[axis] = np.union1d(known, new)
        if math.prod(map(len, self._known)) > MOST_CELLS:
            raise InDoubt
        self._sums = np.insert(self._sums, np.searchsorted(known, new), 0, axis + 1)
        return _places(words, self._known[axis])


def _places(words: Words, known: Words) -> Indices:
    """The place of the largest known word that is not larger than each of these."""
    if len(known) > FEW:
        return np.maximum(np.searchsorted(known, words, side="right") - 1, 0)
    places = np.zeros(len(words), dtype=np.intp)
    for word in known[1:]:
        places += words >= word
    return places
