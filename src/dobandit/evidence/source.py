"""What a source of rows can be asked, and nothing else.

A source is asked how often each combination of values of some columns occurs (and what a measurement adds up to there).
So a database counts where its rows live, and only counts come back. Where rows do not fit, the values of single columns
say which, how many and where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from numpy.typing import ArrayLike

from dobandit.errors import DataError, listing
from dobandit.evidence.grouped import Grouped
from dobandit.evidence.reading import Reading

FIRST = 1000  # rows
MOST_WEIGHT = 1e100  # of all rows: squares of it are numbers, too
Weights = str | ArrayLike | None  # the name of a column, or a number for every row


class Occurrence(NamedTuple):
    """A value of a column as it is written there, the number of rows that have it, and the numbers of the first and the
    last one.

    Rows count from 1; `Source.where` says where one is. In a database there is no first row.
    """

    value: Any
    rows: int
    first: int | None
    last: int | None


class Source(Protocol):
    """Rows that can be counted."""

    name: str
    columns: tuple[str, ...]
    probabilities: bool  # whether the weights are no whole numbers, so that they may be probabilities
    notes: tuple[str, ...]  # how files were read

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        """Every combination of values of these columns that occurs, with its total weight, and, for a column of
        measurements, their weighted sum."""
        ...

    def values(self, column: str) -> list[Occurrence]:
        """The distinct values of a column, in the order in which they appear first."""
        ...

    def read_as(self, readings: Mapping[str, Reading], complete: Sequence[str] = ()) -> Source:
        """The same rows with these columns added, or in place of those with their names; and, of these, only the rows
        in which each of the `complete` columns has a value."""
        ...

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        """The values of these columns in the first rows, up to a thousand."""
        ...

    def rows_without(self, columns: Sequence[str]) -> int:
        """The number of rows in which some of these columns have no value."""
        ...

    def where(self, row: int) -> str:
        """Where a row is, such as `line 3` of a file for its row 2."""
        ...


def require(names: Iterable[str], source: Source) -> None:
    for name in names:
        if name not in source.columns:
            raise DataError(f"{source.name}: there is no column {name}; the columns are {listing(source.columns)}")


def no_values(source: str, column: str) -> DataError:
    return DataError(f"{source}: column {column} has lists or tables in place of values")
