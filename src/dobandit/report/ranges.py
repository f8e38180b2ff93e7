"""What is said of options that observations do not identify, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dobandit.numerals import interval, percent
from dobandit.problem import Goal

if TYPE_CHECKING:
    from dobandit.study import ArmNumbers, ArmStatus, Best


def said_of_ranges(arms: Iterable[ArmStatus | ArmNumbers], goal: Goal) -> Iterator[str]:
    """The bounds of each such option, how far its mean follows the log, and why it cannot be the best."""
    for arm in arms:
        if arm.ruled_out is not None:
            yield f"{arm.ruled_out.told(arm.arm, goal)}."
        elif arm.bounds is not None:
            ends = interval(arm.bounds.low, arm.bounds.high)
            yield f"{arm.arm}: observations do not identify its mean; {ends} agrees with them.{_followed(arm.from_log)}"


def said_of_best(found: Best) -> str:
    """How far the mean of the answer follows the log; nothing if it is identifiable."""
    if found.bounds is None:
        return ""
    ends = interval(found.bounds.low, found.bounds.high)
    return f"Observations alone do not identify it; {ends} agrees with them.{_followed(found.from_log)}"


def _followed(share: float | None) -> str:
    return "" if share is None else f" {percent(share).capitalize()} of the mean comes from the log."
