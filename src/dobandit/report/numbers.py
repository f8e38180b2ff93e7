"""Numbers as people read them."""

from __future__ import annotations

import math


def interval(low: float, high: float) -> str:
    """Its two ends; nothing while they are not known."""
    return "" if math.isnan(low) else f"{low:.4g} to {high:.4g}"


def number(value: float, digits: int = 4) -> str:
    """With so many significant digits; nothing for what is not known."""
    return "" if math.isnan(value) else f"{value:.{digits}g}"


def percent(share: float, short: bool = False) -> str:
    """A share in words that do not claim more than it says; `short` for the cells of a table."""
    if 0.01 <= share <= 0.99:
        return f"{share:.0%}"
    above, below = (">", "<") if short else ("more than ", "less than ")
    return f"{above}99%" if share > 0.99 else f"{below}1%"
