"""What a variable may be called, in every format that we read."""

from __future__ import annotations

import re

from dobandit.errors import GraphError

NAME = r"[A-Za-z_][A-Za-z0-9_.]*"
RULE = "a name starts with a letter or '_' and goes on with letters, digits, '_' and '.'"


def is_name(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch(NAME, text) is not None


def check_name(text: object) -> None:
    if not is_name(text):
        raise GraphError(f"{text!r} cannot be the name of a variable: {RULE}")
