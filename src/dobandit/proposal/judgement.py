"""Which columns can be variables of a problem, and why others cannot."""

from __future__ import annotations

import re

from dobandit.errors import GraphError, counted
from dobandit.evidence import has_decimal_comma
from dobandit.graph import check_name
from dobandit.problem import is_numeral
from dobandit.proposal.profile import Profile

FEW_NUMBERS = 10  # a column with at most so many different numbers has values, one with more has bins
MANY_TEXTS = 20  # different texts that a variable may have as its values
NEARLY_UNIQUE = 0.5  # share of rows with a value of their own from which a column of texts may be an identifier
_ID = re.compile(r"(^|[^a-z])(id|key|nr|number|index|uuid|guid)$", re.IGNORECASE)
_UNIT = r"(?:[$€£¥₹%]|[A-Z]{3})?"
_AMOUNT = re.compile(rf"[(+-]?{_UNIT}\s*[+-]?\d[\d.,' ]*{_UNIT}\)?")  # $1,234.50, 12 %, EUR 3.5
_CAMEL_ID = re.compile(r"[a-z]I[Dd]$")


def reason_against(found: Profile) -> str | None:
    """Why a column is no variable; None if it can be one."""
    different = len(found.counts)
    try:
        check_name(found.column)
    except GraphError as error:
        return str(error)
    if different == 0:
        return "no row has a value"
    if different == 1 and (empty := found.missing.total()) and found.rows > 1:
        value = next(iter(found.counts))
        return f"{value} or nothing ({counted(empty, 'row')}); if nothing means no, write 0 there to use it"
    if different == 1:
        return f"always the same value, {next(iter(found.counts))}"
    return _numeric_reason(found) if found.is_numeric else _text_reason(found)


def has_bins(found: Profile) -> bool:
    """Whether a variable is a number that needs bins."""
    return found.is_numeric and len(found.counts) > FEW_NUMBERS


def _numeric_reason(found: Profile) -> str | None:
    numbers, _ = found.numbers
    is_unique = len(numbers) == found.rows > FEW_NUMBERS
    if has_bins(found) and found.is_whole and (is_unique or _is_id(found.column)):
        dense = numbers[-1] - numbers[0] < 2 * len(numbers)
        if _is_id(found.column) or dense:
            return f"an identifier, with {len(numbers):,} different numbers in {found.rows:,} rows"
    return None


def _text_reason(found: Profile) -> str | None:
    different, rows = len(found.counts), found.rows
    if different <= FEW_NUMBERS:
        return None
    if found.are_dates:
        return f"dates or times ({different:,} different ones); if they matter, make a column of a few values from it"
    strange = [text for text in found.counts if not is_numeral(text)]
    if all(map(has_decimal_comma, strange)):
        return f"numbers with a decimal comma, such as {strange[0]!r}; write decimals with a point to use it"
    if all(map(_AMOUNT.fullmatch, strange)):
        return (
            f"amounts such as {strange[0]!r}; write plain numbers (1234.50), without signs of a currency or thousands"
        )
    if sum(found.counts[text] for text in strange) < 0.1 * rows:
        named = ", ".join(f"{text!r} ({found.counts[text]:,} rows)" for text in strange[:3])
        return f"numbers, but also {named}{' and others' if len(strange) > 3 else ''}; correct these to use it"
    if different == rows:
        return "an identifier, with a different text in every row"
    if different > NEARLY_UNIQUE * rows or (_is_id(found.column) and different > MANY_TEXTS):
        return f"an identifier, with {different:,} different texts in {rows:,} rows"
    if different > MANY_TEXTS:
        return f"{different:,} different texts; if they matter, make a column of a few values from it"
    return None


def _is_id(name: str) -> bool:
    return bool(_ID.search(name) or _CAMEL_ID.search(name))
