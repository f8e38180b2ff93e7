"""Pulls as they are handed out, and how long they may take."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from numbers import Integral
from typing import TYPE_CHECKING, Literal, NamedTuple

from dobandit.errors import DobanditError, NoSuchPull
from dobandit.evidence import NONE_MISSING, MissingRows
from dobandit.problem import Arm, is_number, is_positive

if TYPE_CHECKING:
    from dobandit.certainty import Standing

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
TimeToLive = float | timedelta | str | None
LONGEST = 18  # digits of a number
_LONGEST = 100 * 366 * 86400  # a hundred years


class Pull(NamedTuple):
    """What to carry out: observe, or `set` a variable to a value. `expires` is when it may go to another worker."""

    id: int
    arm: Arm
    set: dict[str, str]
    cost: float
    expires: datetime | None


class OpenPull(NamedTuple):
    """A pull that is carried out: by whom, since when, and until when it is theirs."""

    id: int
    arm: str
    worker: str
    begun: datetime
    expires: datetime | None
    state: Literal["open", "expired"]


class Receipt(NamedTuple):
    """The pull whose outcome was recorded, and what is spent and free after it."""

    id: int
    spent: float
    free: float


class Pulls(tuple[Pull, ...]):
    """The pulls that were handed out, and the `reason` if there are fewer than were asked for; where it is "sure
    enough", `stop` says how the stopping rule stands."""

    reason: str | None
    stop: Standing | None

    def __new__(cls, pulls: Iterable[Pull], reason: str | None = None, stop: Standing | None = None) -> Pulls:
        made = super().__new__(cls, tuple(pulls))
        made.reason, made.stop = reason, stop
        return made


class Batch(int):
    """The number of logged rows that count; `new` is whether they were not part of the evidence before, and `missing`
    how many rows were dropped because values are missing, or have these as a value."""

    new: bool
    missing: MissingRows

    def __new__(cls, rows: int, new: bool, missing: MissingRows = NONE_MISSING) -> Batch:
        made = super().__new__(cls, rows)
        made.new, made.missing = new, missing
        return made


class Withdrawal(int):
    """The number of a withdrawn pull; whether its money came back, and whether this is `new`."""

    refund: bool
    new: bool

    def __new__(cls, pull: int, refund: bool, new: bool) -> Withdrawal:
        made = super().__new__(cls, pull)
        made.refund, made.new = refund, new
        return made


def is_whole(text: str) -> bool:
    """Whether a text is a whole number, such as that of a pull; Python does not read one of thousands of digits."""
    return text.isdecimal() and len(text) < LONGEST


def is_integer(value: object) -> bool:
    """Whether a value is a whole number, of Python or NumPy."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def how_many(n: int) -> int:
    """The number of pulls that are asked for."""
    if not is_integer(n) or n < 1:
        raise DobanditError(f"ask for one pull or more, not {n!r}")
    return int(n)


def numbered(pull: int, last: int) -> int:
    """The number of a pull that there is."""
    if not is_integer(pull):
        raise DobanditError(f"a pull is named by its number, such as 1, not by {pull!r}")
    if abs(pull) >= 10**LONGEST:
        raise DobanditError(f"a pull is named by its number, such as 1, not by one with more than {LONGEST} digits")
    if not 1 <= int(pull) <= last:
        raise NoSuchPull(pull, last)
    return int(pull)


def named(name: str, what: str) -> str:
    """A name that the user chose."""
    if not isinstance(name, str) or not name.strip():
        raise DobanditError(f"the name of {what} is a text that is not empty, not {name!r}")
    return name


def person(by: str | None) -> str | None:
    """Who did something, for the log, if that is said."""
    return None if by is None else named(by, "a person")


def more_money(amount: float) -> float:
    """What a budget is extended by."""
    if not is_positive(amount):
        raise DobanditError(f"a study is extended by a positive amount, not {amount!r}")
    return float(amount)


def seconds(ttl: TimeToLive) -> float | None:
    """A time to live: seconds, a timedelta, or a text such as 90s, 15m, 8h, 2d or 1w.

    >>> seconds("2d"), seconds(30), seconds(None)
    (172800.0, 30.0, None)
    """
    if ttl is None:
        return None
    if isinstance(ttl, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", ttl)
        number = float(found[1]) * _SECONDS[found[2]] if found else None
    elif isinstance(ttl, timedelta):
        number = ttl.total_seconds()
    else:
        number = float(ttl) if is_number(ttl) else None
    if number is None or not 0 < number <= _LONGEST:
        raise DobanditError(f"a time to live is a number with a unit, such as 90s, 15m, 8h or 2d, not {ttl!r}")
    return number


def as_datetime(time: float) -> datetime:
    return datetime.fromtimestamp(time, UTC)


def end_of(expires: float | None) -> datetime | None:
    """When a lease ends, if it does."""
    return None if expires is None else as_datetime(expires)
