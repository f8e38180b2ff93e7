"""How a CSV file is written: what separates its columns, what quotes its fields, and what its header names.

One guess serves all readers, so that a file means the same whichever of them reads it. Where two separators could be
meant, that is said instead of guessed.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from dobandit.errors import DataError
from dobandit.evidence.texts import Text
from dobandit.problem import is_numeral

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
SAMPLE = 1 << 16  # letters that are looked at
_STATED = re.compile(r"sep=([,;\t|])\r?\n")  # a first line that is written for Excel


@dataclass(frozen=True)
class Dialect:
    """How the fields of a file are separated and quoted, and what the columns are called ("" for no name)."""

    separator: str
    quote: str
    names: tuple[str, ...] = ()
    start: int = 1  # the line in which the header begins
    line: int = 1  # the line in which it ends

    def __str__(self) -> str:
        quote = "single" if self.quote == "'" else "double"
        return f"separator {SEPARATORS[self.separator]}, {quote} quotes, header in line {self.start}"

    def other_separator(self, fields: Sequence[str]) -> str:
        """What to say of a record that would have as many fields as the header with another separator."""
        for sign, name in SEPARATORS.items():
            if len(fields) == 1 and fields[0].count(sign) == len(self.names) - 1:
                return f"; this line has the separator {name}, the header {SEPARATORS[self.separator]}: use one of them"
        return ""

    def reader(self, lines: Iterable[str]) -> Any:
        """The records of a file, without a thought about what they mean."""
        return csv.reader(lines, delimiter=self.separator, quotechar=self.quote, skipinitialspace=True, strict=True)


def find_dialect(text: Text) -> Dialect:
    with text.opened() as file:
        sample = file.read(SAMPLE)
        is_whole = not file.read(1)
    if not sample.strip():
        raise DataError(f"{text.name}: the file is empty; the first line must name the columns")
    quote, stated = "'" if _has_single_quotes(sample) else '"', _STATED.match(sample)
    separator = stated[1] if stated else _separator(text.name, sample, is_whole, quote)
    with text.opened() as file:
        reader = Dialect(separator, quote).reader(file)
        before = 0
        for header in records(reader, text.name):
            if header and not (stated and before == 0):
                break
            before = reader.line_num
    return Dialect(separator, quote, _names(header, text.name), before + 1, reader.line_num)


def records(reader: Any, name: str) -> Iterator[list[str]]:
    """The records of a file; a malformed one is an error with its line."""
    limit = csv.field_size_limit(2**31 - 1)  # texts may be long
    line = 0
    try:
        for row in reader:
            yield row
            line = reader.line_num
    except csv.Error as error:
        raise DataError(f"{name}, line {line + 1}: {_in_words(str(error))}") from None
    finally:
        csv.field_size_limit(limit)


def _in_words(error: str) -> str:
    if "unexpected end" in error:
        return "a quote is opened and never closed"
    if "expected after" in error:
        return "something follows a closing quote; a quote inside a field is written twice"
    return error


def _has_single_quotes(sample: str) -> bool:
    """Whether the whole header is in single quotes; elsewhere they are apostrophes."""
    fields = sample.lstrip().splitlines()[0]
    for separator in SEPARATORS:
        fields = fields.replace(separator, "\n")
    return all(len(field) > 1 and field[0] == field[-1] == "'" for field in map(str.strip, fields.split("\n")))


def _separator(name: str, sample: str, is_whole: bool, quote: str) -> str:
    """The one that splits the header into columns and every row of the sample likewise."""
    rows = {separator: _rows(sample, is_whole, separator, quote) for separator in SEPARATORS}
    widths = {separator: [len(row) for row in found if row] for separator, found in rows.items()}
    header = {separator: found[0] for separator, found in widths.items() if found and found[0] > 1}
    even = {separator: width for separator, width in header.items() if set(widths[separator]) == {width}}
    best = [separator for separator, width in (even or header).items() if width == max((even or header).values())]
    if len(best) > 1:
        both = " and ".join(SEPARATORS[separator] for separator in best)
        raise DataError(f"{name}, line 1: the columns could be separated by {both}; put quotes around names with signs")
    return best[0] if best else ","


def _rows(sample: str, is_whole: bool, separator: str, quote: str) -> Sequence[list[str]]:
    """The records of a sample as far as they can be read; the last one may be cut off."""
    found: list[list[str]] = []
    try:
        found.extend(Dialect(separator, quote).reader(StringIO(sample, newline="")))
    except csv.Error:
        return found
    return found if is_whole else found[:-1] or found


def _names(header: Sequence[str], file: str) -> tuple[str, ...]:
    names = tuple(field.strip() for field in header)
    if not any(names):
        raise DataError(f"{file}: the first line must name the columns, and it names none")
    if all(is_numeral(name) for name in names):
        raise DataError(f"{file}: the first line must name the columns, and it has nothing but numbers")
    twice = [name for name, number in Counter(names).items() if name and number > 1]
    if twice:
        raise DataError(f"{file}, line 1: the column {twice[0]!r} is there twice")
    return names
