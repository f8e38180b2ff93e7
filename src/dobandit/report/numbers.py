"""Chances and small numbers in words that do not claim more than they say."""

from __future__ import annotations

import math

from dobandit.numerals import number


def chances(share: float) -> str:
    """A chance that is compared with a rule: with more digits near 100%.

    >>> chances(0.9533), chances(0.9)
    ('95.3%', '90.0%')
    """
    return "more than 99.9%" if share > 0.999 else f"{share:.1%}"


def little(value: float) -> str:
    """A number of which only large values matter.

    >>> little(0.01234), little(1e-45), little(0.0)
    ('0.0123', 'less than 0.0001', 'less than 0.0001')
    """
    return "less than 0.0001" if value < 0.0001 else number(value, 3)


def measure(value: float) -> str:
    """What a policy compared, for the cell of a table.

    >>> measure(0.012345), measure(3e-9), measure(0.0), measure(-math.inf)
    ('0.01235', '<0.0001', '0', 'none')
    """
    if 0 < value < 0.0001:
        return "<0.0001"
    return "none" if value == -math.inf else number(value)
