"""Combinations of values with their total weight, and how they become codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Flags, Indices
from dobandit.errors import DataError, counted, listing
from dobandit.evidence.numbers import as_number, not_a_number
from dobandit.numerals import amount
from dobandit.problem import BINARY, Value, is_missing, is_numeral, value_in

MOST_NAMED = 5  # strange values in an error
_BOOLEANS = {"true": "1", "false": "0"}


class Measured(NamedTuple):
    """A column of numbers, summed up with its weights: the sums of the first three powers of how far the numbers are
    above a reference, which is one of them or 0, for each row of a `Grouped`."""

    powers: Array  # axes: power, row
    reference: float
    least: float  # of the rows that are here
    most: float

    @classmethod
    def of(cls, values: Sequence[Value | None], weights: Array, name: str, source: str) -> Measured:
        """From single values, each of which must be a number."""
        numbers = np.empty(len(values))
        for i, value in enumerate(values):
            numbers[i] = as_number(value)
            if np.isnan(numbers[i]) and not is_missing(value):
                raise not_a_number(source, name, value)
        of_numbers = cls.of_numbers(numbers, weights)
        return cls.checked(of_numbers.powers, of_numbers.reference, numbers, numbers, np.isnan(numbers), name, source)

    @classmethod
    def of_numbers(cls, numbers: Array, weights: Array) -> Measured:
        """From single numbers."""
        present = numbers[np.isfinite(numbers)]
        least, most = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # numbers that are too large are refused by their powers
            powers = weights * (numbers - least) ** np.arange(1, 4)[:, np.newaxis]
        return cls(powers, least, least, most)

    @classmethod
    def checked(
        cls, powers: Array, reference: float, least: Array, most: Array, missing: NDArray[Any], name: str, source: str
    ) -> Measured:
        """From sums of powers, smallest and largest values and numbers of missing ones, group by group."""
        if holes := int(missing.sum()):
            raise DataError(f"{source}: column {name} has {counted(holes, 'row')} without a value; drop or fill them")
        if not (np.isfinite(powers).all() and np.isfinite([*least, *most]).all()):
            raise DataError(f"{source}: column {name} has a value that is not a finite number; drop or fill it")
        return cls(powers, reference, float(least.min(initial=np.inf)), float(most.max(initial=-np.inf)))

    def sums(self, weights: Array) -> Array:
        """The sums of the numbers themselves, for rows with these weights."""
        return np.asarray(self.powers[0] + self.reference * weights)

    def only(self, keep: Flags) -> Measured:
        return self._replace(powers=self.powers[:, keep])

    def about(self, reference: float, weights: Array) -> Measured:
        """The same measurements, with powers about another number, for rows with these weights."""
        d, (first, second, third) = self.reference - reference, self.powers
        powers = np.array(
            [
                first + d * weights,
                second + 2 * d * first + d**2 * weights,
                third + 3 * d * second + 3 * d**2 * first + d**3 * weights,
            ]
        )
        return self._replace(powers=powers, reference=reference)


@dataclass(frozen=True)
class Grouped:
    """Rows (not necessarily distinct) of some columns, each with a weight, and perhaps with a measurement."""

    columns: Sequence[Sequence[Any]]
    weights: Array
    variables: tuple[str, ...]
    source: str
    measured: Measured | None = None
    refused: Callable[[DataError], DataError] | None = None  # an error that says all that is wrong with the rows

    def labels(self, variable: str) -> list[str]:
        """The distinct values of a column, numbers in their order first; missing ones are refused."""
        texts = self._text_of(variable, ())
        self._refuse_missing(variable, texts)
        numbers = {_BOOLEANS.get(text.lower(), text) for text in texts.values()}  # if there is nothing else
        return sorted(numbers if numbers <= set(BINARY) else set(texts.values()), key=by_value)

    def codes(self, variable: str, domain: Sequence[str]) -> Indices:
        """The position of every row's value in the domain."""
        texts = self._text_of(variable, domain)
        strange = {value: text for value, text in texts.items() if text not in domain}
        self._refuse_missing(variable, strange)
        if strange:
            rows, values = self._rows_with(variable, strange)
            allowed = f"the values of {variable} are {listing(domain)}"
            raise self._told(f"column {variable} has {counted(rows, 'row')} with the {values}; {allowed}")
        place = {text: i for i, text in enumerate(domain)}
        code = {value: place[text] for value, text in texts.items()}
        column = self.columns[self.variables.index(variable)]
        return np.fromiter((code[value] for value in column), dtype=np.intp, count=len(column))

    def numbers(self, variable: str) -> Array:
        """The values of a column of finite numbers."""
        column = self.columns[self.variables.index(variable)]
        once = np.ones(len(column))
        try:
            return Measured.of(column, once, variable, self.source).sums(once)
        except DataError as error:
            raise (self.refused(error) if self.refused else error) from None

    def measured_within(self, variable: str, low: float, high: float) -> Measured:
        """The measurement, every single value of which lies between two ends."""
        if self.measured is None:
            raise ValueError(f"{variable} was not measured")
        for value in (self.measured.least, self.measured.most):
            if len(self.weights) and not low <= value <= high:
                raise self._told(
                    f"column {variable} has the value {amount(value)}, outside {amount(low)} to {amount(high)}"
                )
        return self.measured

    def among(self, variables: Sequence[str], measured: bool) -> Grouped:
        """The same rows with these columns only, and with or without the measurement."""
        columns = [self.columns[self.variables.index(v)] for v in variables]
        return Grouped(columns, self.weights, tuple(variables), self.source, self.measured if measured else None)

    def only(self, keep: Flags) -> Grouped:
        """The rows that are marked."""
        columns = [[v for v, kept in zip(column, keep, strict=True) if kept] for column in self.columns]
        measured = self.measured and self.measured.only(keep)
        return replace(self, columns=columns, weights=self.weights[keep], measured=measured)

    def _text_of(self, variable: str, domain: Sequence[str]) -> Mapping[Any, str]:
        """The text of every distinct raw value; a column has few of them, so this is where the work is saved."""
        try:
            distinct = set(self.columns[self.variables.index(variable)])
        except TypeError:
            raise DataError(f"{self.source}: column {variable} has lists or tables in place of values") from None
        return {value: value_in(domain, value) for value in distinct}

    def _refuse_missing(self, variable: str, texts: Mapping[Any, str]) -> None:
        missing = {value: text for value, text in texts.items() if is_missing(text)}
        if missing:
            rows, _ = self._rows_with(variable, missing)
            raise self._told(f"column {variable} has {counted(rows, 'row')} without a value; drop or fill them")

    def _told(self, fault: str) -> DataError:
        error = DataError(f"{self.source}: {fault}")
        return self.refused(error) if self.refused else error

    def _rows_with(self, variable: str, texts: Mapping[Any, str]) -> tuple[float, str]:
        """How many rows have one of these raw values, and the values in words, the most frequent ones first."""
        number: Counter[str] = Counter()
        for value, weight in zip(self.columns[self.variables.index(variable)], self.weights, strict=True):
            if value in texts:
                number[texts[value]] += weight
        if len(number) == 1:
            return number.total(), f"value {next(iter(number))!r}"
        ordered = sorted(number.items(), key=lambda item: (-item[1], by_value(item[0])))
        return number.total(), "values " + listing(
            (f"{text!r} ({amount(rows)})" for text, rows in ordered), most=MOST_NAMED
        )


def by_value(text: str) -> tuple[bool, float, str]:
    """The order of values: numbers by their size, then texts."""
    return (False, float(text), text) if is_numeral(text) else (True, 0.0, text)
