"""What the policy of a study remembers, worked out where no event says it: in studies of earlier versions, and after
corrections.

Then the policy decides again on everything that was asked, with the corrected outcomes. This begins at the last
snapshot that no correction has changed, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dobandit.policies import Choice, Info
from dobandit.study import facts
from dobandit.study.books import Books
from dobandit.study.corrections import corrections
from dobandit.study.damage import making_sense_of
from dobandit.study.decisions import (
    Memory,
    at_start,
    choose,
    keeps_doubts,
    memory_after,
    memory_of,
    phase_of,
    remembers,
)
from dobandit.study.events import Event
from dobandit.study.opening import saved
from dobandit.study.stores import LAST, Access


def remember(books: Books, access: Access, last: int = LAST) -> None:
    """Make the memory known, by running the policy over the events up to the last one in the totals if need be."""
    if not remembers(books) and not _has_nothing_to_remember(books):
        with making_sense_of(access.name):
            books.state, books.memory = None, _replayed(access, last)


def remember_doubts(books: Books, access: Access, last: int = LAST) -> None:
    """Make known what the policy doubts."""
    if keeps_doubts(books):
        remember(books, access, last)


def _has_nothing_to_remember(books: Books) -> bool:
    """Whether the policy has neither a state nor phases; then the totals say it all, and the memory is made of them."""
    memory = at_start(books)
    if memory.state or books.policy.has_phases:
        return False
    books.memory = memory._replace(phase_arms=books.done + books.pending > 0)
    return True


def _replayed(access: Access, last: int) -> Memory:
    """The memory of a history in which every outcome was told as it was corrected later. The arms are those that were
    asked; they were affordable, for they were pulled."""
    later = access.corrections(0, last)
    books = next((books for books in saved(access, last) if _can_begin_at(books, later)), None)
    if books is None:
        (created,) = access.events(0, 1)
        books = Books.opened(created)
    books.reckon_with(corrections(later, books.number))
    return _Replay(books).over(access.events(books.number, last, books.head))


def _can_begin_at(books: Books, later: Sequence[Event]) -> bool:
    """Whether the memory at this moment is known, and is what it would be with the corrections. The phase in which an
    open pull was begun is not known there, and matters if the pull is withdrawn later."""
    news = list(corrections(later, books.number))
    withdrawn = (fact.pull for fact in news if isinstance(fact, facts.Withdrawn))
    return books.can_reckon_with(news) and all(pull > books.last for pull in withdrawn) and remembers(books)


class _Replay:
    """Decides again on what was asked, one event after the other."""

    def __init__(self, books: Books) -> None:
        self._books, self._memory = books, memory_of(books) or at_start(books)
        self._begun = dict[int, tuple[int, int]]()  # arms and phases of pulls that are withdrawn later

    def over(self, events: Iterable[Event]) -> Memory:
        for event in events:
            fact = event.fact
            if isinstance(fact, facts.Asked) and fact.is_decision:
                self._memory = memory_after(self._books, self._memory, self._decided_again(fact.arm), fact.arm)
            if isinstance(fact, facts.Begun) and fact.pull in self._books.withdrawn:
                self._begun[fact.pull] = fact.arm, phase_of(self._books, self._memory.state)
            if isinstance(fact, facts.Withdrawn) and fact.pull in self._begun:
                arm, phase = self._begun.pop(fact.pull)
                self._memory.gone[0, arm] += phase != phase_of(self._books, self._memory.state)
            self._books.apply(event)
        return self._memory

    def _decided_again(self, arm: int) -> Choice[Any]:
        books, memory = self._books, self._memory
        if not memory.state or self._is_unchanged(memory.state):
            return Choice(np.array([arm]), None, memory.state, Info(np.zeros(1, dtype=np.intp)))
        affordable = books.affordable()
        affordable[0, arm] = True
        return choose(books, memory, affordable)

    def _is_unchanged(self, state: Any) -> bool:
        """Whether a decision does not change what is remembered."""
        time, outcomes = self._books.leader.compiled.next_change(state)
        return self._books.time < time and self._books.outcomes < outcomes
