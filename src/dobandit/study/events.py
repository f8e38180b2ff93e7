"""The log of a study: small facts, one after the other, never changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from dobandit.errors import DobanditError, StudyError
from dobandit.study.damage import damaged, in_words
from dobandit.study.facts import KINDS, Fact, is_moment, is_text

F = TypeVar("F", bound=Fact)


class _Columns(NamedTuple):
    number: int
    time: float
    kind: str
    pull: int | None
    content: Mapping[str, Any]


class Event(_Columns):
    """One fact: its place in the log, when it was written (seconds since 1970), what it is about."""

    @classmethod
    def of(cls, number: int, time: float, fact: Fact) -> Event:
        return cls(number, time, fact.kind(), getattr(fact, "pull", None), fact.content())

    @cached_property
    def fact(self) -> Fact:
        """What it says, checked; a ValueError says what is wrong with its form."""
        if not (is_text(self.kind) and is_moment(self.time) and isinstance(self.content, Mapping)):
            raise ValueError("its kind, its time or its content is missing")
        if self.kind not in KINDS:
            raise StudyError(f"this study has an event {self.kind!r}, which only a newer version of dobandit knows")
        return KINDS[self.kind].read(self.pull, self.content)


def said(events: Iterable[Event], kind: type[F]) -> Iterator[F]:
    """What the events of this kind say."""
    return (event.fact for event in events if isinstance(event.fact, kind))


def to_row(event: Event) -> tuple[int, float, str, int | None, str]:
    """An event as the columns of a table."""
    try:
        _ = event.fact  # which checks it
    except ValueError as error:
        raise DobanditError(f"this cannot be written down in a study: {error}") from None
    return *event[:4], json.dumps(event.content, separators=(",", ":"))


def from_row(name: str, number: int, time: float, kind: str, pull: int | None, text: str) -> Event:
    """The event in this row of the study of this name."""
    try:
        event = Event(number, time, kind, pull, json.loads(text))
        _ = event.fact
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged(name, f"event {number} makes no sense: {in_words(error)}") from None
    return event
