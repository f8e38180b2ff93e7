"""Addresses may hold passwords, which no message shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dobandit.printable import printable


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
