"""Combinations of values with their total weight, and how they become codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import DataError, listing
from dobandit.problem import is_numeral, label

_MISSING = {"", "nan", "none", "null", "na", "n/a", "<na>", "nat"}


@dataclass(frozen=True)
class Grouped:
    """Rows (not necessarily distinct) of some columns, each with a weight."""

    columns: Sequence[Sequence[Any]]
    weights: NDArray[np.float64]
    variables: tuple[str, ...]
    source: str

    def labels(self, variable: str) -> list[str]:
        """The distinct values of a column, numbers in their order first; missing ones are refused."""
        texts = set(self._text_of(variable).values())
        self._refuse(variable, lambda text: text.lower() in _MISSING, "without a value; drop or fill them")
        return sorted(texts, key=_order)

    def codes(self, variable: str, domain: Sequence[str]) -> NDArray[np.intp]:
        """The position of every row's value in the domain."""
        self._refuse(
            variable, lambda text: text.lower() in _MISSING and text not in domain, "without a value; drop or fill them"
        )
        allowed = f"; the values of {variable} are {listing(domain)}"
        self._refuse(variable, lambda text: text not in domain, "with the value {}" + allowed)
        place = {text: i for i, text in enumerate(domain)}
        code = {value: place[text] for value, text in self._text_of(variable).items()}
        column = self.columns[self.variables.index(variable)]
        return np.fromiter((code[value] for value in column), dtype=np.intp, count=len(column))

    def numbers(self, variable: str) -> NDArray[np.float64]:
        """A column of numbers, such as a real-valued reward."""
        self._refuse(variable, lambda text: text.lower() in _MISSING, "without a value; drop or fill them")
        self._refuse(variable, lambda text: not is_numeral(text), "with {}, which is not a number")
        column = self.columns[self.variables.index(variable)]
        return np.fromiter((float(value) for value in column), dtype=float, count=len(column))

    def only(self, keep: NDArray[np.bool_]) -> Grouped:
        """The rows that are marked."""
        columns = [[v for v, kept in zip(column, keep, strict=True) if kept] for column in self.columns]
        return Grouped(columns, self.weights[keep], self.variables, self.source)

    def _text_of(self, variable: str) -> Mapping[Any, str]:
        """The text of every distinct raw value; a column has few of them, so this is where the work is saved."""
        return {value: label(value) for value in set(self.columns[self.variables.index(variable)])}

    def _refuse(self, variable: str, is_bad: Any, complaint: str) -> None:
        bad = {value: text for value, text in self._text_of(variable).items() if is_bad(text)}
        if not bad:
            return
        column = self.columns[self.variables.index(variable)]
        rows = sum(w for value, w in zip(column, self.weights, strict=True) if value in bad or value != value)
        number = f"{rows:g} row" + ("" if rows == 1 else "s")
        shown = repr(sorted(bad.values())[0])
        raise DataError(f"{self.source}: column {variable} has {number} {complaint.format(shown)}")


def _order(text: str) -> tuple[bool, float, str]:
    return (False, float(text), text) if is_numeral(text) else (True, 0.0, text)
