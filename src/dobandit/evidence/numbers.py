"""Texts that are numbers: the same ones, whether Python or a database reads them."""

from __future__ import annotations

import math
import re
from typing import Any

from dobandit.errors import DataError

# No thousands separators, no decimal commas, no underscores, no letters of other alphabets: programs differ in these.
_BARE = r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
PATTERN = rf"^[ \t]*{_BARE}[ \t]*$"
_NUMBER = re.compile(PATTERN)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9.]*,[0-9]+\s*$")


def as_number(value: object) -> float:
    """A value as a number, NaN if it is none.

    >>> as_number("2.50"), as_number(3), as_number("3,5"), as_number("1_000"), as_number(None)
    (2.5, 3.0, nan, nan, nan)
    """
    if isinstance(value, str):
        return float(value) if _NUMBER.match(value) else math.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def number(column: str) -> Any:
    """The same for a column of texts, as a narwhals expression: null where a text is no number."""
    import narwhals as nw

    text = nw.col(column)
    stripped = nw.when(text.str.contains(PATTERN)).then(text.str.strip_chars())  # seldom needed, and slow
    return nw.when(text.str.contains(f"^{_BARE}$")).then(text).otherwise(stripped).cast(nw.Float64)


def has_decimal_comma(text: str) -> bool:
    return bool(_DECIMAL_COMMA.match(text))


def not_a_number(source: str, column: str, value: object) -> DataError:
    hint = "; write decimals with a point" if isinstance(value, str) and has_decimal_comma(value) else ""
    return DataError(f"{source}: column {column} has {value!r}, which is not a number{hint}")
