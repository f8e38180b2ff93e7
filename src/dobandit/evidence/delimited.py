"""CSV files, read by the standard library. What a file means is decided here, and DuckDB must read the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from dobandit.errors import DataError, counted
from dobandit.evidence.columns import Columns
from dobandit.evidence.dialect import Dialect, records
from dobandit.evidence.source import Weights
from dobandit.evidence.texts import Text


class Line(NamedTuple):
    """A row of a file, and the line in which it begins."""

    number: int
    fields: list[str]


@dataclass(frozen=True)
class Delimited:
    """A CSV file and how it is written."""

    text: Text
    dialect: Dialect

    @property
    def note(self) -> str:
        """How it is read, for people."""
        packed = f", {self.text.contents.packed}" if self.text.contents.packed else ""
        return f"read {self.text.name} as CSV: {self.dialect}, encoding {self.text.encoding}{packed}"

    def rows(self) -> Iterator[Line]:
        """The rows under the header; blank lines do not count, and every row has as many fields as the header."""
        width = len(self.dialect.names)
        with self.text.opened() as file:
            reader = self.dialect.reader(file)
            line = 0
            for fields in records(reader, self.text.name):
                if fields and line >= self.dialect.line:
                    if len(fields) != width:
                        place = f"{self.text.name}, line {line + 1}"
                        hint = self.dialect.other_separator(fields)
                        raise DataError(f"{place}: {counted(len(fields), 'field')}, but the header names {width}{hint}")
                    yield Line(line + 1, fields)
                line = reader.line_num

    def where(self, row: int) -> str:
        """The line in which a row begins, as an editor shows it; rows count from 1."""
        return f"line {next(islice(self.rows(), row - 1, None)).number}"

    def columns(self, weights: Weights = None) -> Columns:
        """The distinct rows in memory."""
        times: dict[tuple[str, ...], int] = {}
        first: dict[tuple[str, ...], int] = {}
        for number, (_, fields) in enumerate(self.rows(), start=1):
            row = tuple(fields)
            times[row] = times.get(row, 0) + 1
            first.setdefault(row, number)
        data = {name: [row[i] for row in times] for i, name in enumerate(self.dialect.names) if name}
        often, rows = (np.array(list(found.values()), dtype=np.intp) for found in (times, first))
        return Columns(self.text.name, data, weights, often, rows, self.where, (self.note,))
