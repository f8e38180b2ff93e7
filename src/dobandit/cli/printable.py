"""Texts of strangers on a terminal: names, values and reasons may hold signs that a terminal obeys."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""The text on one line, with whatever a terminal would not show but obey written out.

    >>> print(printable("lab\x1b[2J"), printable("größer 0"))
    lab\x1b[2J größer 0
    """
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
