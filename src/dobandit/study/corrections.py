"""What corrections come to: the outcomes that stand, and the pulls that do not count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dobandit.study.events import Event


def amended(events: Sequence[Event]) -> dict[int, Mapping[str, str]]:
    """The outcomes that stand instead of those that were told, by pull."""
    return {e.pull: e.content["outcome"] for e in events if e.kind == "amended" and e.pull is not None}


def withdrawn(events: Sequence[Event]) -> dict[int, bool]:
    """The pulls that do not count, and whether they cost nothing: the last word on their refund holds, and a pull that
    was handed on because its time was over has no money of its own any more, unless its outcome came late."""
    handed_on = {e.content["source"] for e in events if e.kind == "asked"}
    told = {e.pull for e in events if e.kind == "told"}
    free = handed_on - told
    return {
        e.pull: e.content["refund"] or e.pull in free for e in events if e.kind == "withdrawn" and e.pull is not None
    }
