"""Pulls as they are handed out, and how long they may take."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from dobandit.errors import DobanditError
from dobandit.problem import Arm

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LONGEST = 100 * 366 * 86400  # a hundred years


class Pull(NamedTuple):
    """What to carry out: observe, or `set` a variable to a value. `expires` is when it may go to somebody else."""

    id: int
    arm: Arm
    set: dict[str, str]
    cost: float
    expires: datetime | None


class Receipt(NamedTuple):
    """What an outcome was booked as, and how the money stands after it."""

    id: int
    spent: float
    free: float


class Pulls(tuple[Pull, ...]):
    """The pulls that were handed out, and the reason if there are fewer than were asked for."""

    reason: str | None

    def __new__(cls, pulls: Iterable[Pull], reason: str | None = None) -> Pulls:
        made = super().__new__(cls, tuple(pulls))
        made.reason = reason
        return made


def seconds(ttl: Any) -> float | None:
    """A time to live: seconds, a timedelta, or a text such as 90s, 15m, 8h, 2d or 1w.

    >>> seconds("2d"), seconds(30), seconds(None)
    (172800.0, 30.0, None)
    """
    if ttl is None:
        return None
    if isinstance(ttl, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", ttl)
        number = float(found[1]) * _SECONDS[found[2]] if found else None
    else:
        number = ttl.total_seconds() if isinstance(ttl, timedelta) else float(ttl)
    if number is None or not 0 < number <= _LONGEST:
        raise DobanditError(f"a time to live is a number with a unit, such as 90s, 15m, 8h or 2d, not {ttl!r}")
    return number


def as_datetime(time: float | None) -> datetime | None:
    return None if time is None else datetime.fromtimestamp(time, UTC)
