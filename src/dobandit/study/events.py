"""The log of a study: small facts, one after the other, never changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from dobandit.errors import DobanditError, StudyError
from dobandit.study.damage import damaged, in_words
from dobandit.study.facts import KINDS, AboutPull, Fact, is_moment

F = TypeVar("F", bound=Fact)
T = TypeVar("T")
_as_text = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().raw_decode
_SHORT = 128  # characters; events of such length often say what others have said
_KEPT = 1024  # texts whose meaning is kept
_LEFT_OUT = ',"expires":'  # from here on in what is written of a pull that is handed out


class Event(NamedTuple):
    """One fact: its place in the log, when it was written (seconds since 1970), what it says."""

    number: int
    time: float
    fact: Fact
    hash: str = ""  # as in dobandit.study.chain, if it is known

    @property
    def kind(self) -> str:
        return self.fact.kind

    @property
    def pull(self) -> int | None:
        """The pull that it is about, if it is about one."""
        return self.fact.pull if isinstance(self.fact, AboutPull) else None

    @property
    def content(self) -> dict[str, Any]:
        """What it says, as plain data."""
        return self.fact.content()


class Row(NamedTuple):
    """An event as the columns of a table; one that was written before there were hashes has none."""

    number: int
    time: float
    kind: str
    pull: int | None
    content: str
    hash: str | None = None


def said(events: Iterable[Event], kind: type[F]) -> Iterator[F]:
    """What the events of this kind say."""
    return (event.fact for event in events if isinstance(event.fact, kind))


def to_row(event: Event) -> Row:
    """An event as the columns of a table, without its hash. What could not be read again is refused."""
    number, time, fact, _ = event
    try:
        if not is_moment(time):
            raise ValueError(f"its time is {time!r}")
        return Row(int(number), float(time), fact.kind, event.pull, _as_text(fact.content()))
    except ValueError as error:
        raise DobanditError(f"this cannot be written down in a study: {error}") from None


def from_row(name: str, row: Row) -> Event:
    """The event in this row of the study of this name."""
    number, time, kind, pull, text, hash = row
    try:
        if not (type(kind) is str and type(text) is str and is_moment(time)):
            raise ValueError("its kind, its time or its content is missing")
        if kind not in KINDS:
            raise StudyError(f"this study has an event {kind!r}, which only a newer version of dobandit knows")
        said = _said_often(kind, text) if len(text) < _SHORT else _said(kind, text)
        return Event(number, time, KINDS[kind].made(pull, said), hash or "")
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged(name, f"event {number} makes no sense: {in_words(error)}") from None


def in_brief(name: str, rows: Iterable[Row], read: Callable[[Fact], T]) -> Iterator[tuple[int, float, T]]:
    """What these rows say about pulls: the pull, the time, and what `read` makes of the fact. Most rows differ only in
    the pull, its time to live, its reason and its state, which `read` must not use; so only a few are parsed."""
    known = dict[tuple[str, str], T]()
    for row in rows:
        _, time, kind, pull, text, _ = row
        if pull is None:
            continue
        end = text.find(_LEFT_OUT)
        key = kind, text if end < 0 else text[:end]
        if (found := known.get(key)) is None:
            if len(known) >= _KEPT:
                known.clear()
            found = known[key] = read(from_row(name, row).fact)
        yield pull, time, found


def _said(kind: str, text: str) -> dict[str, Any]:
    """What an event of this kind says. This is `json.loads` in less time: what we write has no spaces around it."""
    content, end = _decode(text)
    if end != len(text) or type(content) is not dict:
        raise ValueError("its content is not JSON")
    return KINDS[kind].checked(content)


_said_often = lru_cache(maxsize=_KEPT)(_said)
