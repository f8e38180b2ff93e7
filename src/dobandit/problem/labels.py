"""Values compare by their text, so that a CSV, a TOML file and a NumPy array mean the same thing.

>>> label(1), label(1.0), label("1.0"), label(True), label(2.50), label("low")
('1', '1', '1', '1', '2.5', 'low')
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection

from dobandit.problem.kinds import Value

_DECIMAL = re.compile(r"[+-]?\d+\.\d+")
_MINUS_ZERO = re.compile(r"-0+")
_WORDS = {"true": "1", "false": "0"}


def label(value: Value | None) -> str:
    """The text of a value: trailing zeros of decimals do not count, and true is 1."""
    if type(value).__name__ in ("bool", "bool_"):  # bool_ is NumPy's, which need not be loaded here
        return str(int(value))  # type: ignore[arg-type]
    text = str(value).strip()
    if _DECIMAL.fullmatch(text):
        text = text.rstrip("0").rstrip(".")
    return "0" if _MINUS_ZERO.fullmatch(text) else text


def spelled_in(domain: Collection[str], value: Value | None) -> str:
    """The value as its domain spells it, else its label. True and false, as words in any case, are the same word of the
    domain, or else 1 and 0: every program writes them in its own way.

    >>> spelled_in(("0", "1"), "TRUE"), spelled_in(("False", "True"), "TRUE"), spelled_in(("no", "yes"), "TRUE")
    ('1', 'True', 'TRUE')
    """
    text = label(value)
    if text in domain or (word := str(value).strip().lower()) not in _WORDS:
        return text
    meant = [known for known in domain if known.lower() == word] or [_WORDS[word]]
    return meant[0] if len(meant) == 1 and meant[0] in domain else text


def is_numeral(text: str) -> bool:
    """Whether a label is a (finite) number.

    >>> is_numeral("2.5"), is_numeral("low"), is_numeral("nan")
    (True, False, False)
    """
    try:
        # Python reads 1_0 and the digits of every alphabet as numbers; other programs do not.
        return math.isfinite(float(text)) and "_" not in text and text.isascii()
    except ValueError:
        return False
