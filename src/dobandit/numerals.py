"""Numbers as people read them: a few digits, a comma for thousands, no exponents."""

from __future__ import annotations

import math

LONG = 1e15  # numbers from here on are written as powers of ten


def number(value: float, digits: int = 4) -> str:
    """With so many significant digits; nothing for what is not known.

    >>> number(0.123456), number(0.0000155, 3), number(14752.3), number(-8498.0), number(-1e100), number(2.5e20)
    ('0.1235', '0.0000155', '14,750', '-8,498', '-10^100', '2.5·10^20')
    """
    if math.isnan(value):
        return ""
    if not math.isfinite(value):
        return f"{value}"
    text = f"{value:.{digits}g}"
    if "e" not in text and abs(float(text)) < 1000:
        return text  # as most numbers, which need no more
    from decimal import Decimal

    if abs(value) < LONG:
        return f"{Decimal(text):,f}"
    factor, power = f"{Decimal(f'{value:.{digits - 1}e}').normalize():e}".split("e+")
    return f"{factor}·10^{power}".replace("1·10^", "10^") if abs(float(factor)) == 1 else f"{factor}·10^{power}"


def amount(value: float) -> str:
    """Money and other given numbers as they are, without what rounding has left of them.

    >>> amount(1234567.5), amount(0.1 + 0.2), amount(12.0), amount(0.00001)
    ('1,234,567.5', '0.3', '12', '0.00001')
    """
    return number(value, 12)


def size(count: float) -> str:
    """A number of cells, which may be very large.

    >>> size(4096), size(2.0**100), size(math.inf)
    ('4,096', '10^30', 'more than 10^300')
    """
    if count < 1e12:
        return f"{count:,.0f}"
    return f"10^{math.log10(count):.0f}" if count < 1e300 else "more than 10^300"


def interval(low: float, high: float, digits: int = 4) -> str:
    """Its two ends; nothing while they are not known."""
    return "" if math.isnan(low) else f"{number(low, digits)} to {number(high, digits)}"


def percent(share: float, short: bool = False) -> str:
    """A share in words that do not claim more than it says; `short` for the cells of a table."""
    if 0.01 <= share <= 0.99:
        return f"{share:.0%}"
    above, below = (">", "<") if short else ("more than ", "less than ")
    return f"{above}99%" if share > 0.99 else f"{below}1%"
