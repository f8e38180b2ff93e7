"""What is safe to print: texts of others may hold control characters, and addresses may hold passwords."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def printable(text: str) -> str:
    r"""The text on one line, with whatever a terminal would not show but obey written out.

    >>> print(printable("lab\x1b[2J"), printable("größer 0"))
    lab\x1b[2J größer 0
    """
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def without_passwords(text: str, arguments: Sequence[str]) -> str:
    """An error as it may be shown: an argument that is an address may be in it, where something else was expected."""
    for argument in arguments:
        shown = _shown(argument) if ":" in argument or "=" in argument else argument
        if shown != argument:
            for given in (argument, str(Path(argument))):
                for form in (given, given.strip(), printable(given), repr(given)[1:-1]):
                    text = text.replace(form, shown)
    return text


def _shown(place: str) -> str:
    from dobandit.errors import DobanditError
    from dobandit.study import shown

    try:
        return shown(place)
    except DobanditError:
        return "***"
