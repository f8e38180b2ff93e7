"""What a column of data holds: how many rows have a value, which values, and whether they are numbers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

import numpy as np

from dobandit.arrays import Array
from dobandit.evidence import Source
from dobandit.problem import BINARY, is_missing, is_null, is_numeral, label, says_none, value_in

SPELLINGS = 20  # in which a column may have 0 and 1: False, FALSE, false, ...
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}([ T]\d{1,2}:.*)?$")  # also 31/12/2026 and 12/31/26
MANY = 1000  # different values above which it does not matter that 1.50 and 1.5 are the same


@dataclass(frozen=True)
class Profile:
    """A column: the rows of each of its values, and those in which a value is missing, by the text that is there."""

    column: str
    counts: Counter[str]
    missing: Counter[str]

    @property
    def rows(self) -> int:
        """The rows that have a value."""
        return self.counts.total()

    @cached_property
    def is_numeric(self) -> bool:
        return bool(self.counts) and all(map(is_numeral, self.counts))

    @cached_property
    def numbers(self) -> tuple[Array, Array]:
        """The different numbers of a numeric column in increasing order, and the rows of each."""
        given = np.array([float(text) for text in self.counts])
        numbers, places = np.unique(given, return_inverse=True)
        rows = np.bincount(places, np.array(list(self.counts.values()), dtype=float))
        return numbers, rows.astype(float)

    @property
    def is_whole(self) -> bool:
        """Whether the numbers are whole ones."""
        return bool((self.numbers[0] % 1 == 0).all())

    @property
    def are_dates(self) -> bool:
        return all(map(_is_date, self.counts))

    @property
    def none(self) -> Counter[str]:
        """The rows in which the text is `none`, which may mean no value, and counts as one here."""
        return Counter({text: rows for text, rows in self.counts.items() if says_none(text)})

    @property
    def alike(self) -> list[list[str]]:
        """The texts that differ in upper and lower case alone."""
        folded = [] if self.is_numeric else [text.casefold() for text in self.counts]
        twice = [one for one, number in Counter(folded).items() if number > 1]
        return [[text for text in self.counts if text.casefold() == one] for one in twice]


def profile(source: Source, column: str) -> Profile:
    """What a column holds; where all values mean 0 and 1, these are its values, unless they are yes and no."""
    counts, missing = Counter[str](), Counter[str]()
    found = source.values(column)
    are_many = len(found) > MANY
    for value, rows, *_ in found:
        if are_many and isinstance(value, str) and value[:1].isdigit():  # a number in all likelihood: to save time
            counts[value] += rows
        elif is_missing(value):
            missing["" if is_null(value) else str(value).strip()] += rows
        else:
            counts[str(value) if isinstance(value, date | datetime) else label(value)] += rows
    meant = {text: value_in(BINARY, text) for text in counts} if len(counts) <= SPELLINGS else {}
    if {text.lower() for text in counts} == {"no", "yes"}:
        meant = {text: text.lower() for text in counts} if len(counts) > 2 else {text: text for text in counts}
    elif not set(meant.values()) <= set(BINARY):
        meant = {}
    if meant:
        counts = Counter({text: sum(n for t, n in counts.items() if meant[t] == text) for text in set(meant.values())})
    return _with_none(Profile(column, counts, missing))


def _with_none(found: Profile) -> Profile:
    """Among words, `none` is one of them: no coupon, no plan. Elsewhere it is a missing value."""
    none = Counter({text: rows for text, rows in found.missing.items() if says_none(text)})
    if not none or not found.counts or any(is_numeral(text) for text in found.counts):
        return found
    return Profile(found.column, found.counts + none, found.missing - none)


def _is_date(text: str) -> bool:
    if _DATE.match(text):
        return True
    try:
        return len(text) >= len("2026-1-1") and bool(datetime.fromisoformat(text))
    except ValueError:
        return False
