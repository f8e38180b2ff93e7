"""What notebooks show: tables and pictures as HTML."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

_NUMBERS = set("0123456789.,+-%<>e ")


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()) -> str:
    """A table with notes below it; numbers stand to the right.

    >>> html_table(["arm", "cost"], [["do()", "1"]])  # doctest: +ELLIPSIS
    '<table><thead>...<td style="text-align:right">1</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(map(_cell, cells))}</tr>" for cells in rows)
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def html_picture(svg: bytes, shows: str) -> str:
    """A drawing inside of the text, which needs no file."""
    data = b64encode(svg).decode("ascii")
    return f'<img alt="{escape(shows)}" src="data:image/svg+xml;base64,{data}">'


def _cell(text: str) -> str:
    style = ' style="text-align:right"' if text and set(text) <= _NUMBERS else ""
    return f"<td{style}>{escape(text)}</td>"
