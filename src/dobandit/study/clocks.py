"""Clocks that disagree: a log whose last event is later than now was written by a clock that is ahead of ours."""

from __future__ import annotations

TOLERANCE = 60.0  # seconds that the clocks of several machines may be apart
_UNITS = {"day": 86400, "hour": 3600, "minute": 60}


def clock_told(behind: float) -> str | None:
    """What is said of a clock that is behind the last event by so many seconds; nothing if it may well be right.

    >>> clock_told(172_900)
    'the last event is 2 days later than now: this clock is behind, or another one was ahead'
    >>> clock_told(5) is None
    True
    """
    if behind <= TOLERANCE:
        return None
    unit, length = next((unit, length) for unit, length in _UNITS.items() if behind >= length)
    number = round(behind / length)
    span = f"{number} {unit}{'' if number == 1 else 's'}"
    return f"the last event is {span} later than now: this clock is behind, or another one was ahead"
