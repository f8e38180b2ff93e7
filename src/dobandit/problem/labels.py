"""Values compare by their text, so that a CSV, a TOML file and a NumPy array mean the same thing.

>>> label(1), label(1.0), label("1.0"), label(True), label(2.50), label("low")
('1', '1', '1', '1', '2.5', 'low')
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection

from dobandit.graph import normal
from dobandit.problem.kinds import Value

LARGEST = 1e100  # of the numbers that are measured: their cubes are added up, and must stay finite
_DECIMAL = re.compile(r"[+-]?\d+\.\d+")
_MINUS_ZERO = re.compile(r"-0+")
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def label(value: Value | None) -> str:
    """The text of a value, in the normal form of Unicode: trailing zeros of decimals do not count, and true is 1."""
    if type(value).__name__ in ("bool", "bool_"):  # bool_ is NumPy's, which need not be loaded here
        return str(int(value))  # type: ignore[arg-type]
    text = normal(str(value).strip())
    if _DECIMAL.fullmatch(text):
        text = text.rstrip("0").rstrip(".")
    return "0" if _MINUS_ZERO.fullmatch(text) else text


def spelled_in(domain: Collection[str], value: Value | None) -> str:
    """The value as its domain spells it, else its label. True, yes and 1 are the same, and so are false, no and 0, in
    any case, since every program writes them in its own way; but only if the domain has one value for each of the two.

    >>> spelled_in(("0", "1"), "TRUE"), spelled_in(("False", "True"), "yes"), spelled_in(("no", "yes"), 1.0)
    ('1', 'True', 'yes')
    >>> spelled_in(("yes", "true", "no"), "1"), spelled_in(("1", "2"), "yes")
    ('1', 'yes')

    Our CSV files have a quote before a text that a spreadsheet would compute.

    >>> spelled_in(("=1+1", "@b"), "'=1+1"), spelled_in(("=1+1", "'=1+1"), "'=1+1")
    ('=1+1', "'=1+1")
    """
    text = label(value)
    if text not in domain and text[:1] == "'" and text[1:] in domain:
        return text[1:]
    if text in domain or text.lower() not in _TRUTH:
        return text
    sides: dict[bool, list[str]] = {False: [], True: []}
    for known in domain:
        if known.lower() in _TRUTH:
            sides[_TRUTH[known.lower()]].append(known)
    return sides[_TRUTH[text.lower()]][0] if all(len(side) == 1 for side in sides.values()) else text


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
