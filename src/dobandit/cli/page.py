"""Pages that commands print: lines and tables.

Rich lays them out on terminals. A file or a pipe has no colours, and tables there are as wide as they need to be. Such
pages are written without rich, which takes a good part of the time of a short command to load, unless a letter may be
wider than others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

import click

from dobandit.cli.common import NARROWEST, console
from dobandit.cli.tables import cell, table
from dobandit.printable import printable

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

GAP = 3  # between columns
_COLOURS = {"FORCE_COLOR", "TTY_COMPATIBLE"}  # environment variables that make rich write as on a terminal


class Line(NamedTuple):
    """A line that begins with marked words."""

    marked: str
    rest: str = ""
    style: str = "bold"


class Grid(NamedTuple):
    """A table: columns of words, of numbers, and at the end, if there are remarks, a column of them without a head."""

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    has_remarks: bool = False

    @property
    def head(self) -> tuple[str, ...]:
        return (*self.words, *self.numbers, *([""] if self.has_remarks else []))


Part = str | Line | Grid


def show(page: Iterable[Part]) -> None:
    """Print a page."""
    parts = list(page)
    if sys.stdout.isatty() or _COLOURS & os.environ.keys():
        console().print(in_colours(parts))
        return
    lines = [line for part in parts for line in _plain(part)]
    if all(map(str.isascii, lines)):
        click.echo("\n".join(lines))
        return
    screen = console(at_least=2 * max(map(len, lines)))  # a letter is at most two columns wide
    for part in parts:
        screen.print(_in_colours(part), width=None if isinstance(part, Grid) else NARROWEST)


def _plain(part: Part) -> Iterator[str]:
    """The lines of a part as text."""
    if not isinstance(part, Grid):
        text = printable(part if isinstance(part, str) else part.marked + part.rest)
        yield from wrap(text, NARROWEST, break_on_hyphens=False) or [""]
        return
    rows = [tuple(map(printable, row)) for row in (part.head, *part.rows)]
    widths = [max(1, *map(len, column)) for column in zip(*rows, strict=True)]
    places = range(len(part.words), len(part.words) + len(part.numbers))
    for row in rows:
        cells = [
            text.rjust(width) if place in places else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield (" " * GAP).join(cells)


def in_colours(parts: Iterable[Part]) -> Group:
    """The page as rich shows it."""
    from rich.console import Group

    return Group(*map(_in_colours, parts))


def _in_colours(part: Part) -> str | Table:
    if isinstance(part, str):
        return cell(part)
    if isinstance(part, Line):
        return f"[{part.style}]{cell(part.marked)}[/]{cell(part.rest)}"
    made = table(*part.words, numbers=part.numbers, gap=GAP)
    if part.has_remarks:
        made.add_column("")
    for row in part.rows:
        made.add_row(*map(cell, row))
    return made
