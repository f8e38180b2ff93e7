"""Why a pull was handed out: the numbers that its arm won by, as they were at that moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dobandit.estimate.observational import Bounds, RuledOut
from dobandit.study import facts
from dobandit.study.assessment import judged_arms
from dobandit.study.events import Event
from dobandit.study.opening import at
from dobandit.study.plain import array_from_plain
from dobandit.study.reasons import UNASKED, reason_of
from dobandit.study.remembering import remember_doubts
from dobandit.study.stores import Access

STEP = 100  # events that are read together on the way back
INSTEAD_OF = "It replaces pull {pull}, which expired. "
TOGETHER = "It is {place} of {number} pulls that were decided together{since}. "


@dataclass(frozen=True)
class ArmNumbers:
    """An arm at the moment of the decision; the policy's `index` is None where it goes by a plan instead."""

    arm: str
    cost: float
    mean: float
    low: float
    high: float
    index: float | None
    warning: str | None
    bounds: Bounds | None  # the means that agree with the observations, if these do not identify it
    ruled_out: RuledOut | None  # why it cannot be the best, whatever the hidden causes are
    from_log: float | None  # by which share its mean follows the observations of its value, if they do not identify it


class Explanation(NamedTuple):
    """Why a pull was made, in a sentence (`reason`), with `warnings` about the graph if there was reason for any at the
    time. What the policy compared is called `measure`, and `measured` says what that is; None where it has no index."""

    id: int
    arm: str
    reason: str
    arms: tuple[ArmNumbers, ...]
    warnings: tuple[str, ...]
    measure: str | None
    measured: str | None


def explained(access: Access, pull: int) -> Explanation:
    """Add up the history to the decision that led to this pull, and read what it was made by."""
    begun = _begun(access, pull)
    decision, note = _decision(access, begun)
    fact, before = decision.fact, decision.number - 1
    books = at(access, before)
    remember_doubts(books, access, before)
    why = (fact.why if isinstance(fact, facts.Asked) else None) or {}
    index = array_from_plain(why["index"]) if "index" in why else None
    known, arms = judged_arms(books), books.problem.arms
    reason = reason_of(books, fact, index, known.beliefs) if isinstance(fact, facts.Asked) else UNASKED
    indices: list[float | None] = [None] * len(arms)
    if index is not None:
        indices = books.policy.index_in_units(index, books.costs[0], known.beliefs.scale).tolist()
    numbers = tuple(
        ArmNumbers(
            str(arm),
            float(books.costs[0, k]),
            mean=float(known.beliefs.means[k]),
            low=float(known.beliefs.low[k]),
            high=float(known.beliefs.high[k]),
            index=indices[k],
            warning=known.warning(k),
            bounds=known.ranges[k].bounds,
            ruled_out=known.ranges[k].ruled_out,
            from_log=known.ranges[k].from_log,
        )
        for k, arm in enumerate(arms)
    )
    measures = (books.policy.measure, books.policy.measured) if index is not None else (None, None)
    return Explanation(pull, str(arms[_arm_of(begun)]), f"{reason} {note}".strip(), numbers, known.warnings, *measures)


def _begun(access: Access, pull: int) -> Event:
    return next(event for event in access.events_of(pull) if isinstance(event.fact, facts.Begun))


def _arm_of(begun: Event) -> int:
    assert isinstance(begun.fact, facts.Begun)
    return begun.fact.arm


def _decision(access: Access, begun: Event) -> tuple[Event, str]:
    """The event in which the arm was decided on, and what is to be said of the way from there to this pull."""
    note = ""
    while isinstance(fact := begun.fact, facts.Asked) and isinstance(fact.source, int):
        note, begun = INSTEAD_OF.format(pull=fact.source), _begun(access, fact.source)
    if not isinstance(fact, facts.Asked) or fact.source != "policy" or fact.repeats == 1:
        return begun, note
    first = begun if fact.is_decision else next(filter(_is_decision, _backwards(access, begun.number)))
    made = first.fact
    assert isinstance(made, facts.Asked)
    if made.repeats > 1:
        is_first = first.number == begun.number
        place, since = ("the first", "") if is_first else ("one", f" with pull {made.pull}")
        note += TOGETHER.format(number=made.repeats, place=place, since=since)
    return first, note


def _is_decision(event: Event) -> bool:
    return isinstance(event.fact, facts.Asked) and event.fact.is_decision


def _backwards(access: Access, number: int) -> Iterator[Event]:
    """The events before the one with this number, the last one first."""
    while number > 1:
        after = max(number - 1 - STEP, 0)
        yield from reversed(list(access.events(after, number - 1)))
        number = after + 1
