"""Where in a TOML file a key stands. The parser of the standard library does not tell, and a fault
without its line sends people searching."""

from __future__ import annotations

import re

_KEYS = r"""((?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_.\-\s])+?)"""
_HEADER = re.compile(rf"\s*\[\s*{_KEYS}\s*\]\s*(#.*)?")
_KEY = re.compile(rf"\s*{_KEYS}\s*=\s*")
_PART = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*\.?""")
_ESCAPED = re.compile(r'\\(["\\])')
_LONG = re.compile(r'"""|\'\'\'')


class Places:
    """The lines of the keys of a TOML text; a key that cannot be found answers with its table's line."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._starts: dict[tuple[str, ...], tuple[int, int]] = {}
        self._pinned: dict[tuple[str, ...], tuple[int, int]] = {}
        table: tuple[str, ...] = ()
        closing = ""  # the quotes that end the long text we are in
        for number, line in enumerate(self._lines, 1):
            if closing:
                closing = "" if closing in line else closing
                continue
            if header := _HEADER.fullmatch(line):
                table = _path(header[1])
                self._starts.setdefault(table, (number, 0))
            elif key := _KEY.match(line):
                self._starts.setdefault((*table, *_path(key[1])), (number, key.end()))
            quotes = _LONG.findall(line)
            closing = quotes[0] if len(quotes) == 1 else ""

    def line(self, place: tuple[str, ...]) -> int:
        """The line of a key, else of its table, else 0."""
        if place in self._pinned:
            return self._pinned[place][0]
        known = (place[:end] for end in range(len(place), 0, -1) if place[:end] in self._starts)
        return next((self._starts[key][0] for key in known), 0)

    def of(self, place: tuple[str, ...]) -> str:
        """`, line 12`, with the column where it is known, or nothing where not even the table is."""
        if place in self._pinned:
            return f", line {self._pinned[place][0]}, column {self._pinned[place][1]}"
        return f", line {self.line(place)}" if self.line(place) else ""

    def pin(self, place: tuple[str, ...], line: int, column: int) -> None:
        """Remember where a fault is, from its line and column inside the text that is the value of this key."""
        first, start = self._starts.get(place, (1, 0))
        opening = self._lines[first - 1][start:]
        quotes = 3 if _LONG.match(opening) else 1
        if quotes == 3 and not opening[3:].rstrip("\r"):  # a newline right after the quotes is not part of the text
            self._pinned[place] = first + line, column
        else:
            self._pinned[place] = first + line - 1, column + (start + quotes if line == 1 else 0)


def _path(text: str) -> tuple[str, ...]:
    return tuple(_ESCAPED.sub(r"\1", a) or b or c for a, b, c in _PART.findall(text))
