"""The next pull: the policy's choice, made exactly as in a simulation with a batch of one row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import PolicyError
from dobandit.policies import STOP, Choice, State, spec_of
from dobandit.study.books import Books
from dobandit.study.plain import array_to_plain

BUDGET, WAITING, FINISHED = "budget", "waiting for results", "finished"  # why there is no pull to give


class Decision(NamedTuple):
    """An arm, and how often it is wanted (0: this carries out the last decision)."""

    arm: int
    repeats: int
    source: str = "policy"
    state: State | None = None  # what the policy remembers
    why: dict[str, Any] | None = None  # the numbers that it was made by


def decide(books: Books) -> Decision | str:
    """What to pull next, or the reason why nothing."""
    affordable = books.affordable()
    if books.again and affordable[0, books.arm]:
        return Decision(books.arm, 0)
    if not affordable.any():
        return BUDGET
    view = books.view(affordable)
    view.notes = {}
    choice = books.policy.choose(view, books.state, books.chance)
    arm = int(choice.arms[0])
    if arm == STOP and (more := _extension(books)):
        return more
    if books.open and looks_back(books.state, choice.state):
        return WAITING
    if arm == STOP:
        return FINISHED
    if not affordable[0, arm]:
        raise PolicyError(f"{spec_of(books.policy)} chose an arm that it cannot pay; this is a bug in the policy")
    return Decision(arm, _repeats(choice), state=choice.state, why=_why(view.notes, choice.state))


def looks_back(before: State, after: State) -> bool:
    """Whether a decision begins a phase after the first, whose plan is made of the results of the one before."""
    return hasattr(before, "phase") and 0 < before.phase[0] < after.phase[0]


def _repeats(choice: Choice) -> int:
    return 1 if choice.repeats is None else int(choice.repeats[0])


def _why(notes: dict[str, Array], state: State) -> dict[str, Any]:
    """What a decision was made by, as plain data: the index of every arm, or the phase of a plan; and whether the arm's
    turn came in a sweep, whatever the index says."""
    if "index" in notes:
        index = {"index": array_to_plain(notes["index"][0])}
        return {**index, "sweep": True} if notes.get("sweep", [False])[0] else index
    return {"phase": int(state.phase[0])} if hasattr(state, "phase") else {}


def _extension(books: Books) -> Decision | None:
    """After the plan is carried out, money that was added later goes to the arms of its last phase, in turn."""
    if books.total <= books.problem.budget:
        return None
    able = books.affordable() & books.phase_arms
    if not able.any():
        return None
    pulls = np.where(able, books.done + books.pending, np.inf)
    return Decision(int(pulls.argmin()), 1, "extension")
