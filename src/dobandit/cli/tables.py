"""How tables look on the console, the same in all commands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dobandit.printable import printable

if TYPE_CHECKING:
    from rich.table import Table


def table(*words: str, numbers: Iterable[str] = (), wrap: str | None = None, gap: int = 3, below: int = 0) -> Table:
    """An empty table: columns of words on the left, then columns of numbers, aligned to the right.

    `wrap` is the only column that a narrow terminal may break into lines (None: all of them), `gap` the space between
    two columns and `below` the number of empty lines after each row.
    """
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, below, 0))
    for name in words:
        made.add_column(cell(name), no_wrap=wrap not in (None, name), overflow="fold" if name == wrap else "ellipsis")
    for name in numbers:
        made.add_column(cell(name), justify="right", no_wrap=wrap is not None)
    return made


def cell(text: str) -> str:
    """A user's text, escaped so that the screen shows it as it is."""
    from rich.markup import escape

    return escape(printable(text))
