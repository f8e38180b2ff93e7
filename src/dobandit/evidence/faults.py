"""What is wrong with rows, all of it at once: columns, values, how many rows have them and where the first one is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dobandit.errors import DataError, counted, listing
from dobandit.evidence.grouped import by_value
from dobandit.evidence.source import Occurrence, Source
from dobandit.numerals import amount
from dobandit.problem import Problem, is_missing, is_numeral, label, value_in

MOST_VALUES = 5  # of a column, in an error
MOST_LINES = 10  # of an error
FILL = 'fill missing values in, or say in the problem what to do: [data] missing = "drop" or "category"'

BINS = "; if it is a number, give its cut points in [bins]"


class Fault(NamedTuple):
    """What is wrong, and what to do about it or what would be right."""

    what: str
    remedy: str = ""


def refusal(name: str, faults: Sequence[Fault]) -> DataError:
    """One error for all faults; what several of them need is said once, at the end."""
    needed = Counter(fault.remedy for fault in faults if fault.remedy)
    shared = [remedy for remedy, times in needed.items() if times > 1]
    lines = [what if not remedy or remedy in shared else f"{what}; {remedy}" for what, remedy in faults]
    if len(lines) == 1:
        return DataError(f"{name}: {lines[0]}")
    more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return DataError("\n  ".join([f"{name}: {len(lines)} faults", *lines[:MOST_LINES], *more, *shared]))


def variable_faults(source: Source, variable: str, column: str, problem: Problem) -> list[Fault]:
    """What is wrong with the values of a variable, which is read from this column."""
    domain = problem.domains[variable]
    missing, strange = list[Occurrence](), dict[str, list[Occurrence]]()
    for found in source.values(variable):
        if is_missing(found.value, domain):
            missing.append(found)
        elif not _fits(found.value, variable, problem):
            strange.setdefault(label(found.value), []).append(found)
    named = f"column {column}"
    faults = [missing_fault(source, named, missing, FILL)] if missing and problem.missing == "refuse" else []
    if strange:
        rows = counted(sum(map(_rows, strange.values())), "row")
        bins = BINS if len(strange) > MOST_VALUES and all(map(is_numeral, strange)) else ""
        allowed = _allowed(variable, problem) + bins
        faults.append(Fault(f"{named} has {rows} with the {_values(source, strange)}", allowed))
    return faults


def missing_fault(source: Source, named: str, missing: Sequence[Occurrence], remedy: str) -> Fault:
    """Rows without a value."""
    rows, where = counted(_rows(missing), "row"), _place(source, missing)
    return Fault(f"{named} has {rows} without a value{f' ({where})' if where else ''}", remedy)


def rows_told(source: Source, found: Sequence[Occurrence]) -> str:
    """`3 rows, first in line 7`; only their number where rows have no order."""
    return ", ".join(filter(None, (counted(_rows(found), "row"), _place(source, found))))


def _rows(found: Iterable[Occurrence]) -> int:
    return sum(each.rows for each in found)


def _place(source: Source, found: Sequence[Occurrence]) -> str:
    first = min((each.first for each in found if each.first is not None), default=None)
    return "" if first is None else f"{'' if _rows(found) == 1 else 'first in '}{source.where(first)}"


def _values(source: Source, strange: dict[str, list[Occurrence]]) -> str:
    """The values in words, the most frequent ones first."""
    if len(strange) == 1:
        (text, found), *_ = strange.items()
        where = _place(source, found)
        return f"value {text!r}" + (f" ({where})" if where else "")
    ordered = sorted(strange.items(), key=lambda item: (-_rows(item[1]), by_value(item[0])))
    return "values " + listing((f"{text!r} ({rows_told(source, found)})" for text, found in ordered), most=MOST_VALUES)


def _fits(value: object, variable: str, problem: Problem) -> bool:
    if variable == problem.reward and problem.reward_is_continuous:
        text, (low, high) = label(value), problem.measured_ends  # type: ignore[arg-type]
        return is_numeral(text) and low <= float(text) <= high
    if variable in problem.numbers:
        return is_numeral(label(value))  # type: ignore[arg-type]
    return value_in(problem.domains[variable], value) in problem.domains[variable]  # type: ignore[arg-type]


def _allowed(variable: str, problem: Problem) -> str:
    if variable == problem.reward and problem.reward_is_continuous:
        return "{} is a number from {} to {}".format(variable, *map(amount, problem.measured_ends))
    if variable in problem.numbers:
        return f"{variable} is a number"
    values = listing(problem.domains[variable])
    numbers = "numbers, or " if problem.domains[variable].cuts else ""
    return f"the values of {variable} are {numbers}{values}"
