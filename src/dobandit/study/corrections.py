"""What corrections come to: the outcomes that count, and the pulls that do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dobandit.study import facts
from dobandit.study.events import Event, said


def amended(events: Sequence[Event]) -> dict[int, Mapping[str, str]]:
    """The outcomes that count instead of those that were told, by pull."""
    return {fact.pull: fact.outcome for fact in said(events, facts.Amended)}


def withdrawn(events: Sequence[Event]) -> dict[int, bool]:
    """The pulls that do not count, and whether they cost nothing. The last decision on their refund holds. The money of
    a pull that expired moved to the pull that it was reassigned to, so it costs something only if it was told late."""
    reassigned = {fact.source for fact in said(events, facts.Asked)}
    free = reassigned - {fact.pull for fact in said(events, facts.Told)}
    return {fact.pull: fact.refund or fact.pull in free for fact in said(events, facts.Withdrawn)}
