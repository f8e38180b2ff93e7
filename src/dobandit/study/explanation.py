"""Why a pull was handed out: the numbers that its arm won by, as they were at that moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.policies import Reason
from dobandit.study import facts
from dobandit.study.assessment import judged_arms
from dobandit.study.books import Books
from dobandit.study.decisions import remember_doubts
from dobandit.study.events import Event
from dobandit.study.plain import array_from_plain

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


class Explanation(NamedTuple):
    """Why a pull was made, with `warnings` about the graph if there was reason for any at the time."""

    id: int
    arm: str
    reason: str
    arms: tuple[ArmNumbers, ...]
    warnings: tuple[str, ...]


def explained(name: str, events: Sequence[Event], pull: int) -> Explanation:
    """Add up the history to the decision that led to this pull, and read what it was made by."""
    history = [event.fact for event in events]
    begun = {fact.pull: (place, fact.arm) for place, fact in enumerate(history) if isinstance(fact, facts.Begun)}
    place, note = _decision(history, begun, pull)
    books, fact = Books.folded(events[:place]), history[place]
    remember_doubts(books, name, lambda: events[:place])
    why = (fact.why if isinstance(fact, facts.Asked) else None) or {}
    index = array_from_plain(why["index"]) if "index" in why else None
    reason = _reason(books, fact, index) if isinstance(fact, facts.Asked) else UNASKED
    known, arms = judged_arms(books), books.problem.arms
    indices = [None] * len(arms) if index is None else index.tolist()
    numbers = tuple(
        ArmNumbers(
            str(arm), float(books.costs[0, k]), **known.beliefs.of_arm(k), index=indices[k], warning=known.warning(k)
        )
        for k, arm in enumerate(arms)
    )
    return Explanation(pull, str(arms[begun[pull][1]]), note + reason, numbers, known.warnings)


def _decision(history: Sequence[facts.Fact], begun: Mapping[int, tuple[int, int]], pull: int) -> tuple[int, str]:
    """The place of the event in which the arm was decided on, and what is to be said of the way from there."""
    note, (place, _) = "", begun[pull]
    while isinstance(fact := history[place], facts.Asked) and isinstance(fact.source, int):
        note, (place, _) = INSTEAD_OF.format(pull=fact.source), begun[fact.source]
    if not isinstance(fact, facts.Asked) or fact.source != "policy":
        return place, note
    first = place
    while not (isinstance(made := history[first], facts.Asked) and made.is_decision):
        first -= 1
    if made.repeats > 1:
        which = (
            {"place": "the first", "since": ""}
            if first == place
            else {"place": "one", "since": f" with pull {made.pull}"}
        )
        note += TOGETHER.format(number=made.repeats, **which)
    return first, note


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
