"""Pages that commands print: lines and tables.

Rich lays them out on terminals. A file or a pipe has no colours, and if no line is long, rich would write the lines as
they are; then they are written without it, because to load it takes a good part of the time of a short command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
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
    lines = [line for part in parts for line in _plain(part)]
    is_simple = all(line.isascii() and len(line) <= NARROWEST for line in lines)
    if is_simple and not sys.stdout.isatty() and not _COLOURS & os.environ.keys():
        click.echo("\n".join(lines))
    else:
        console().print(in_colours(parts))


def _plain(part: Part) -> Iterator[str]:
    """The lines of a part as text."""
    if not isinstance(part, Grid):
        yield printable(part if isinstance(part, str) else part.marked + part.rest)
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
