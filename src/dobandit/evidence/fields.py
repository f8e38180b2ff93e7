"""The fields of many lines of a CSV file at once, as arrays: as words of eight bytes, or as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Flags, Indices
from dobandit.evidence.backed import InDoubt

LONGEST = 32  # bytes of a text
MOST_DIGITS = 15  # of a number: as an integer, a double holds it exactly
_NEWLINE, _POINT, _MINUS, _ZERO = b"\n.-0"
_TENS = 10.0 ** np.arange(MOST_DIGITS + 1)

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


class Fields(NamedTuple):
    """Lines of a file as bytes, and where each field starts and ends, by row and column."""

    signs: Bytes
    starts: Indices
    ends: Indices

    @classmethod
    def of(cls, lines: bytes, separator: bytes, width: int) -> Fields:
        """All lines end in a newline, and there are no quotes in them."""
        signs = np.frombuffer(lines + bytes(LONGEST), dtype=np.uint8)
        is_newline = signs == _NEWLINE
        ends = np.flatnonzero(is_newline | (signs == separator[0]))
        if len(ends) != width * np.count_nonzero(is_newline) or not is_newline[ends[width - 1 :: width]].all():
            raise InDoubt  # a row is too short or too long
        starts = np.concatenate([[0], ends[:-1] + 1])
        return cls(signs, starts.reshape(-1, width), ends.reshape(-1, width))

    def words(self, column: int) -> Iterator[Words]:
        """The texts of a column, eight bytes at a time."""
        word = np.zeros(len(self.starts), dtype=np.uint64)
        for k, (byte, inside) in enumerate(self._bytes(column, LONGEST)):
            if k and k % 8 == 0:
                yield word
                word = np.zeros(len(self.starts), dtype=np.uint64)
            byte = byte if inside is None else byte * inside
            word |= byte.astype(np.uint64) << np.uint64(8 * (7 - k % 8))
        yield word

    def numbers(self, column: int) -> Array:
        """A column of decimal numbers such as -12.50, rounded as Python rounds them."""
        whole, decimals, points, digits = (np.zeros(len(self.starts), dtype=np.int64) for _ in range(4))
        negative = np.zeros(len(self.starts), dtype=bool)
        for k, (byte, inside) in enumerate(self._bytes(column, MOST_DIGITS)):
            digit = byte - np.uint8(_ZERO)
            is_digit, is_point = digit < 10, byte == _POINT
            strange = ~(is_digit | is_point)
            if k == 0:
                negative = byte == _MINUS
                strange &= ~negative
            if inside is not None:
                is_digit, is_point, strange = is_digit & inside, is_point & inside, strange & inside
            if strange.any():
                raise InDoubt
            whole = np.where(is_digit, 10 * whole + digit, whole)
            decimals += is_digit & (points > 0)
            points += is_point
            digits += is_digit
        if (points > 1).any() or not digits.all():
            raise InDoubt
        return np.asarray(np.where(negative, -whole, whole) / _TENS[decimals])

    def _bytes(self, column: int, most: int) -> Iterator[tuple[Bytes, Flags | None]]:
        """The first bytes of all texts of a column, the second ones and so on, and which of the texts are as long; None
        for all."""
        start = np.ascontiguousarray(self.starts[:, column])
        size = self.ends[:, column] - start
        shortest, longest = int(size.min()), int(size.max())
        if longest > most:
            raise InDoubt
        for k in range(longest):
            yield self.signs[start + k], None if k < shortest else size > k
