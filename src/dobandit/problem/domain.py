"""The values of a variable, and which of them is meant by what people, files and programs write.

A variable that is a number has bins: their cut points split the numbers, and a cut point belongs to the bin above it.

>>> age = Domain.binned([30, 45, 60])
>>> age
('<30', '30-45', '45-60', '>=60')
>>> value_in(age, 37), value_in(age, "45"), value_in(age, "30-45"), value_in(age, -1.5)
('30-45', '45-60', '30-45', '<30')
>>> Domain.binned([-10, 0, 2.5])
('<-10', '-10 to 0', '0 to 2.5', '>=2.5')
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Self

from dobandit.problem.kinds import Value
from dobandit.problem.labels import is_numeral, label, spelled_in
from dobandit.problem.missing import MISSING, is_missing, is_null


class Domain(tuple[str, ...]):
    """Values as texts. `cuts` are the cut points of bins; with `has_missing`, MISSING stands for missing values."""

    cuts: tuple[float, ...]
    has_missing: bool

    def __new__(cls, values: Iterable[str], cuts: Sequence[float] = (), has_missing: bool = False) -> Self:
        made = super().__new__(cls, values)
        made.cuts, made.has_missing = tuple(cuts), has_missing
        return made

    @classmethod
    def binned(cls, cuts: Sequence[float]) -> Self:
        """The bins between cut points. A minus inside of the numbers would be read as the one between them, so then it
        is the word "to"."""
        texts = [label(float(cut)) for cut in cuts]
        between = " to " if any("-" in text for text in texts) else "-"
        return cls((f"<{texts[0]}", *map(between.join, pairwise(texts)), f">={texts[-1]}"), cuts)

    def with_missing(self) -> Self:
        """The same values, and at the end one for what is missing."""
        return type(self)((*(value for value in self if value != MISSING), MISSING), self.cuts, has_missing=True)

    @property
    def known(self) -> tuple[str, ...]:
        """All values but the one for what is missing: nothing can be set to that, and no world has it."""
        return self[:-1] if self.has_missing else self

    def meant(self, value: Value | None) -> str:
        """The value that is meant, else the label as it is."""
        if type(value) in (int, str) and (text := str(value)) in self:
            return text  # the usual case, quickly
        if self.cuts and is_numeral(text := label(value)):
            return self[bisect_right(self.cuts, float(text))]
        if self.has_missing and is_missing(value, self):
            return MISSING
        return "" if is_null(value) else spelled_in(self, value)


def value_in(domain: Collection[str], value: Value | None) -> str:
    """The value of a domain that is meant, else the label as it is; an empty text is what a missing value has."""
    if isinstance(domain, Domain):
        return domain.meant(value)
    return "" if is_null(value) else spelled_in(domain, value)
