"""Why a pull was handed out: the numbers that its arm won by, as they were at that moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.estimate.observational import Bounds, RuledOut
from dobandit.policies import Reason
from dobandit.study import facts
from dobandit.study.assessment import judged_arms
from dobandit.study.books import Books
from dobandit.study.decisions import remember_doubts
from dobandit.study.events import Event
from dobandit.study.opening import at
from dobandit.study.plain import array_from_plain
from dobandit.study.stores import Access

STEP = 100  # events that are read together on the way back
REASONS = {
    Reason.INDEX: "It has the highest index among the affordable options.",
    Reason.TIE: "Several options have the highest index, and this one was picked at random.",
    Reason.SWEEP: "Every option is tried once before the index decides.",
    Reason.OBSERVATION_DUE: "{best} has the highest index, but the policy observes first: too few observations so far.",
    Reason.OBSERVATION_TEACHES: "{best} has the highest index, but an observation informs about it as well for less.",
    Reason.PLAN: "{policy} follows phase {phase} of its plan.",
    Reason.OWN: "{policy} chose it; the policy gives no numbers for its choices.",
}
UNKNOWN = "{best} has the highest index, but another rule of the policy took precedence."
EXTENSION = "The plan is carried out. Money that was added later goes to the options of its last phase, in turn."
UNASKED = "It was not asked for: the experiment was recorded after it had been carried out."
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
    """Why a pull was made, with `warnings` about the graph if there was reason for any at the time."""

    id: int
    arm: str
    reason: str
    arms: tuple[ArmNumbers, ...]
    warnings: tuple[str, ...]


def explained(access: Access, pull: int) -> Explanation:
    """Add up the history to the decision that led to this pull, and read what it was made by."""
    begun = _begun(access, pull)
    decision, note = _decision(access, begun)
    fact, before = decision.fact, decision.number - 1
    books = at(access, before)
    remember_doubts(books, access.name, lambda: access.events(0, before))
    why = (fact.why if isinstance(fact, facts.Asked) else None) or {}
    index = array_from_plain(why["index"]) if "index" in why else None
    reason = _reason(books, fact, index) if isinstance(fact, facts.Asked) else UNASKED
    known, arms = judged_arms(books), books.problem.arms
    indices = [None] * len(arms) if index is None else index.tolist()
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
    return Explanation(pull, str(arms[_arm_of(begun)]), note + reason, numbers, known.warnings)


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


def _reason(books: Books, asked: facts.Asked, index: Array | None) -> str:
    why = asked.why or {}
    if asked.source == "extension":
        return EXTENSION
    affordable = books.affordable()[0]
    top = [] if index is None else np.flatnonzero(affordable & (index == index[affordable].max())).tolist()
    reason = Reason[why["reason"].upper()] if "reason" in why else _reason_of_old(books, asked, top)
    text = UNKNOWN if reason is None else REASONS[reason]
    best = books.problem.arms[top[0]] if top else None
    return text.format(best=best, policy=books.policy.name, phase=why.get("phase"))


def _reason_of_old(books: Books, asked: facts.Asked, top: Sequence[int]) -> Reason | None:
    """The reason of a decision that an earlier version wrote down without it."""
    if not top:
        return Reason.PLAN
    untried = books.seen.evidence.told[0] + books.pending[0] == 0
    if (asked.why or {}).get("sweep") or (asked.arm not in top and untried[asked.arm]):
        return Reason.SWEEP
    if asked.arm in top:
        return Reason.INDEX if len(top) == 1 else Reason.TIE
    return None
