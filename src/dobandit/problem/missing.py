"""What counts as a missing value, and what a problem may do about it.

Nothing (None, NaN) is always missing. A text such as NA is missing too, in any case, unless the domain of its variable
lists it as a value.

>>> is_missing("n/a"), is_missing(float("nan")), is_missing("NA", ("NA", "EU")), is_missing("unknown")
(True, True, False, False)
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, get_args

Missing = Literal["refuse", "drop", "category"]  # the rows are an error, are left out, or have a value of their own
WAYS: tuple[Missing, ...] = get_args(Missing)
MISSING = "missing"  # the value of what is missing, where that is a category
MISSING_TEXTS = ("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none", "\\n")  # in lower case; \N is SQL's


def is_null(value: Any) -> bool:
    """Whether a value is none at all: None, or the NaN of any library."""
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def says_none(value: Any) -> bool:
    """Whether a value is the text `none`, which among words may be one of them: no coupon, no plan."""
    return isinstance(value, str) and value.strip().lower() == "none"


def is_missing(value: Any, domain: Collection[str] = ()) -> bool:
    """Whether a value is missing from a variable with this domain."""
    if is_null(value):
        return True
    text = str(value).strip().lower()
    return text in MISSING_TEXTS and not any(text == known.lower() for known in domain)
