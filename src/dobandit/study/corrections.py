"""What corrections come to: the outcomes that count, and the pulls that do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dobandit.study import facts
from dobandit.study.events import Event, said


def corrections(events: Iterable[Event], after: int = 0) -> Iterator[facts.Correction]:
    """What changes the meaning of events before it, in the events after the one with this number."""
    return (event.fact for event in events if event.number > after and isinstance(event.fact, facts.Correction))


def withdrawn(events: Sequence[Event]) -> dict[int, bool]:
    """The pulls that do not count, and whether they cost nothing. The last decision on their refund holds. The money of
    a pull that expired moved to the pull that it was reassigned to, so it costs something only if it was told late."""
    reassigned = {fact.source for fact in said(events, facts.Asked)}
    free = reassigned - {fact.pull for fact in said(events, facts.Told)}
    return {fact.pull: fact.refund or fact.pull in free for fact in said(events, facts.Withdrawn)}
