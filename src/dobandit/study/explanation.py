"""Why a pull was handed out: the numbers that its arm won by, as they were at that moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.policies import OBSERVE
from dobandit.study.answers import believed, warning_of
from dobandit.study.books import Books
from dobandit.study.events import Event
from dobandit.study.plain import array_from_plain

LARGEST = "it has the largest index of the arms that could be paid"
TIED = "several arms had the largest index, and chance picked this one"
SWEEP = "every arm is pulled once before the index decides"
INSTEAD = "the largest index is that of {best}, but observing informs it as well for less, or was due"
UNASKED = "it was not asked for: the experiment was recorded after it had been carried out"
OWN_RULE = "the largest index is that of {best}, but a rule of the policy came before it"
EXTENSION = "the plan is carried out; money that was added later goes to the arms of its last phase, in turn"


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


def explain(events: Sequence[Event], pull: int) -> Explanation:
    """Fold the history up to the decision that led to this pull, and read what it was made by."""
    own = next(e for e in events if e.pull == pull and e.kind in ("asked", "recorded"))
    decision, note = _decision(events, own)
    books, arm = Books.folded(events[: decision.number - 1], remembers=False), own.content["arm"]
    why = decision.content.get("why") or {}
    index = array_from_plain(why["index"]) if "index" in why else None
    reason = _reason(books, decision, why, index)
    return Explanation(pull, str(books.problem.arms[arm]), note + reason, *_numbers(books, index))


def _decision(events: Sequence[Event], own: Event) -> tuple[Event, str]:
    """The event in which the arm was decided on, and a word about the way from there."""
    note, found = "", own
    while isinstance(source := found.content.get("source"), int):
        note = f"in place of pull {source}, whose time was over: "
        found = next(e for e in events if e.pull == source and e.kind == "asked")
    if found.content.get("source") != "policy":
        return found, note
    first = found
    if not found.content["repeats"]:
        earlier = (e for e in reversed(events[: found.number - 1]) if e.kind == "asked")
        first = next(e for e in earlier if e.content["source"] == "policy" and e.content["repeats"])
    if first.content["repeats"] > 1:
        place = "the first" if first is found else f"with pull {first.pull} one"
        note += f"{place} of {first.content['repeats']} pulls that were decided together: "
    return first, note


def _reason(books: Books, decision: Event, why: Mapping[str, Any], index: Array | None) -> str:
    content, arms = decision.content, books.problem.arms
    if decision.kind == "recorded":
        return UNASKED
    if content["source"] == "extension":
        return EXTENSION
    if index is None:
        return f"{books.policy.name} follows phase {why['phase']} of its plan"
    if why.get("sweep"):
        return SWEEP
    arm, affordable = content["arm"], books.affordable()[0]
    top = np.flatnonzero(affordable & (index == index[affordable].max()))
    if arm in top:
        return LARGEST if len(top) == 1 else TIED
    if (
        books.seen.evidence.told[0, arm] + books.pending[0, arm] == 0
    ):  # the first studies did not write down what was a sweep
        return SWEEP
    return INSTEAD.format(best=arms[top[0]]) if arm == OBSERVE else OWN_RULE.format(best=arms[top[0]])


def _numbers(books: Books, index: Array | None) -> tuple[tuple[ArmNumbers, ...], tuple[str, ...]]:
    known = believed(books)
    arms = tuple(
        ArmNumbers(
            str(arm),
            float(books.costs[0, k]),
            float(known.means[k]),
            float(known.low[k]),
            float(known.high[k]),
            None if index is None else float(index[k]),
            warning_of(float(known.refuted[k])),
        )
        for k, arm in enumerate(books.problem.arms)
    )
    return arms, known.warnings
