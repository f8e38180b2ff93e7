"""Texts of others, written so that terminals and pictures show them: they may hold control characters."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""The text on one line, with whatever a terminal would not show but obey written out.

    >>> print(printable("lab\x1b[2J"), printable("größer 0"))
    lab\x1b[2J größer 0
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def shortened(text: str, most: int = 40) -> str:
    """The text, cut where it has more characters than this.

    >>> shortened("1234567", 5), shortened("1234567")
    ('12345...', '1234567')
    """
    return text if len(text) <= most else f"{text[:most]}..."


def printable_lines(text: str) -> str:
    """The same of a text of several lines."""
    return "\n".join(map(printable, text.split("\n")))
