"""Rows as a problem reads them: columns under the names of variables, numbers in bins, missing values as it wants."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from dobandit.errors import DataError, counted, listing
from dobandit.evidence.faults import Fault, refusal, variable_faults
from dobandit.evidence.grouped import Grouped
from dobandit.evidence.missing import MissingRows
from dobandit.evidence.reading import Reading
from dobandit.evidence.source import Occurrence, Source
from dobandit.graph import normal
from dobandit.problem import Problem, is_missing, is_numeral, says_none


def fit(source: Source, problem: Problem) -> Fitted:
    """The source as a problem reads it; one that is fitted already stays as it is."""
    return source if isinstance(source, Fitted) and source.problem == problem else Fitted(source, problem)


class Fitted:
    """A source whose columns are the variables of a problem, and what other columns there are."""

    def __init__(self, source: Source, problem: Problem) -> None:
        self._source = source
        self.problem, self.name, self.probabilities = problem, source.name, source.probabilities
        self.notes, self._given = source.notes, source.columns
        found = {v: _column_of(v, problem, source) for v in problem.graph.variables}
        self.column_of = {v: column for v, column in found.items() if column in source.columns}
        self._read = source.read_as(self._readings()) if self._changes_values else source
        self._kept = self._read.read_as({}, complete=self._required) if self._required else self._read
        self.columns = tuple(dict.fromkeys((*self.column_of, *(c for c in source.columns if c not in found))))

    @property
    def _changes_values(self) -> bool:
        renamed = any(v != column for v, column in self.column_of.items())
        return renamed or bool(self.problem.bins) or self.problem.missing != "refuse"

    def _readings(self) -> dict[str, Reading]:
        return {v: Reading(column, self.problem.domains[v]) for v, column in self.column_of.items()}

    @property
    def _required(self) -> list[str]:
        """The variables without which a row is dropped."""
        if self.problem.missing == "refuse":
            return []
        return [v for v in self.column_of if self.problem.missing == "drop" or not self.problem.domains[v].has_missing]

    @cached_property
    def affected(self) -> MissingRows:
        """The rows in which values are missing; a word that may be meant as a value is warned of."""
        optional = [v for v in self.column_of if v not in self._required] if self._required else []
        found = MissingRows(
            self._read.rows_without(self._required) if self._required else 0,
            self._kept.rows_without(optional) if optional else 0,
        )
        for v in self.column_of if any(found) else ():
            self._warn_of_none(v)
        return found

    def _warn_of_none(self, variable: str) -> None:
        """Say if `none` was read as missing although it may be one of the words of a variable."""
        domain = self.problem.domains[variable]
        if not domain or domain.cuts or any(map(is_numeral, domain)):
            return
        values = self._source.values(self.column_of[variable])
        rows = sum(each.rows for each in values if says_none(each.value) and is_missing(each.value, domain))
        if rows:
            warnings.warn(
                f"{variable}: the text 'none' ({counted(rows, 'row')}) is read as a missing value; if it is a value, "
                f'add "none" to the values of {variable} in [domains]',
                stacklevel=4,
            )

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        absent = [v for v in (*variables, measure) if v in self.problem.graph and v not in self.column_of]
        if absent:
            raise self.refused(absent=absent)
        try:
            found = self._kept.group(variables, measure)
        except DataError as error:
            raise self.refused(otherwise=error) from None
        return replace(found, refused=lambda error: self.refused(otherwise=error))

    def refused(
        self, known: Sequence[Fault] = (), absent: Sequence[str | None] = (), otherwise: DataError | None = None
    ) -> DataError:
        """Everything that is wrong with these rows, beside what is known already, in one error."""
        problem, found = self.problem, list(known)
        for v in problem.graph.variables:
            if v in self.column_of:
                found += variable_faults(self._read, v, self.column_of[v], problem)
            elif v in absent:
                column = problem.columns.get(v, v)
                what = f"there is no column {column}" + (f" for the variable {v}" if column != v else "")
                found.append(Fault(what, f"the columns are {listing(self._given)}"))
        if otherwise is not None and not found:
            return otherwise
        return refusal(self.name, found)

    def values(self, column: str) -> list[Occurrence]:
        return self._read.values(column)

    def read_as(self, readings: Mapping[str, Reading], complete: Sequence[str] = ()) -> Source:
        return self._kept.read_as(readings, complete)

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        return self._kept.first(columns)

    def rows_without(self, columns: Sequence[str]) -> int:
        return self._kept.rows_without(columns)

    def where(self, row: int) -> str:
        return self._read.where(row)


def _column_of(variable: str, problem: Problem, source: Source) -> str:
    """The column that holds a variable: the one that the problem names, or, as in files of ours, the variable's own."""
    columns = {normal(column): column for column in source.columns}  # however their letters are composed
    stated = normal(problem.columns.get(variable, variable))
    return columns.get(stated) or columns.get(variable, variable)
