"""The policy of a study: what it chooses, recommends and remembers. All that a study asks of a policy is in this file.

A decision is made exactly as in a simulation with a batch of one row. What the policy remembers of it is written down
in the event of the decision, so that it is known without running the policy again. It is not known in a study of an
earlier version, nor after a correction; then dobandit.study.remembering works it out when it is needed.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.errors import PolicyError
from dobandit.policies import STOP, Choice, Reason, View, spec_of
from dobandit.study.books import Books
from dobandit.study.plain import array_from_plain, array_to_plain

_REASONS = {int(reason): reason.name.lower() for reason in Reason}
BUDGET, WAITING, FINISHED = "budget", "waiting for results", "finished"  # why there is no pull to give
SURE = "sure enough"


class Decision(NamedTuple):
    """An arm, and how often it is wanted (0: this carries out the last decision, or replaces an expired pull)."""

    arm: int
    repeats: int
    source: int | str = "policy"  # as in `facts.Asked`
    why: dict[str, Any] | None = None  # the numbers that it was made by
    state: Mapping[str, Any] | None = None  # the parts of the memory that are new, as plain data
    memory: Memory | None = None  # all of it


class Memory(NamedTuple):
    """What is remembered of the decisions so far."""

    state: Any  # of the policy
    phase_arms: Flags  # what was pulled in the running phase of a plan
    gone: Array  # pulls that were withdrawn after their phase, by arm: a plan does not make up for them

    @property
    def parts(self) -> dict[str, Any]:
        """The fields of the state, and ours with a `_` before their names, which no field of a state has."""
        return {**self.state._asdict(), "_phase_arms": self.phase_arms, "_gone": self.gone}

    @property
    def checksum(self) -> int:
        return zlib.crc32(b"".join(part.dtype.char.encode() + part.tobytes() for part in self.parts.values()))

    def news(self, before: Memory | None) -> dict[str, Any]:
        """What has changed, as plain data; all of it if it is not known what there was before."""
        if self is before:
            return {}
        old = {} if before is None else before.parts
        changed = {name: part for name, part in self.parts.items() if not _same(part, old.get(name))}
        news: dict[str, Any] = {name: array_to_plain(part) for name, part in changed.items()}
        return {**news, "_checksum": self.checksum} if news else news

    def filled(self, plain: Mapping[str, Any]) -> Memory | None:
        """A memory of the same form with these numbers, unless they do not fit: another version may have written them,
        or they are damaged."""
        try:
            *state, phase_arms, gone = (array_from_plain(plain[name]) for name in self.parts)
            found = Memory(type(self.state)(*state), phase_arms, gone)
            is_sound = found.checksum == plain["_checksum"]
        except Exception:  # a study may come from a stranger and hold anything
            return None
        return found if is_sound and found._shapes() == self._shapes() else None

    def _shapes(self) -> list[tuple[int, ...]]:
        return [part.shape for part in self.parts.values()]


def _same(part: Array, before: Array | None) -> bool:
    """Whether the bits are the same: what comes back must have the checksum that was written."""
    return part is before or (before is not None and part.tobytes() == before.tobytes())


def doubts_graph(books: Books) -> bool:
    """Whether answers doubt the graph where the data contradict it: always, unless the policy was told to trust it."""
    return books.policy.guards_graph is not False


def keeps_doubts(books: Books) -> bool:
    """Whether the state of the policy says which parts of the graph it doubts."""
    return books.policy.guards_graph is not None


def phase_of(books: Books, state: Any) -> int:
    """The phase that the policy is in; 0 if it has none."""
    return int(state.phase[0]) if books.policy.has_phases else 0


# -- deciding ------------------------------------------------------------------------------------------


def decide(books: Books) -> Decision | str:
    """What to pull next, or the reason why nothing. The memory must be known (`remember`)."""
    affordable = books.affordable()
    if books.again and affordable[0, books.arm]:
        return Decision(books.arm, 0)
    if not affordable.any():
        return BUDGET
    memory = _known(books)
    choice = choose(books, memory, affordable)
    arm = int(choice.arm[0])
    if arm == STOP and (more := _extension(books, memory)):
        return more
    if books.open and _looks_back(books, memory.state, choice.state):
        return WAITING
    if arm == STOP:
        return FINISHED
    if not affordable[0, arm]:
        raise PolicyError(f"{spec_of(books.policy)} chose an arm that it cannot pay; this is a bug in the policy")
    repeats = 1 if choice.repeats is None else int(choice.repeats[0])
    after = memory_after(books, memory, choice, arm)
    news = after.news(None if books.state is None else memory)  # all of it, if no event says what was remembered
    return Decision(arm, repeats, "policy", _why(books, choice), news, after)


def recommend(books: Books) -> int:
    """The arm that the policy recommends, after a last look at the results if it has made its last pull."""
    memory, affordable = _known(books), books.affordable()
    state = memory.state
    if affordable.any() and not (books.open or books.again):
        choice = choose(books, memory, affordable)
        state = choice.state if choice.arm[0] == STOP or _looks_back(books, state, choice.state) else state
    return int(books.leader.compiled.recommend(_view(books, memory, np.zeros_like(affordable)), state)[0])


def remembered(books: Books) -> Any:
    """The state of the policy (`remember_doubts` first); nothing where it says nothing about the graph."""
    return _known(books).state if keeps_doubts(books) else None


def memory_after(books: Books, memory: Memory, choice: Choice[Any], arm: int) -> Memory:
    """The memory after a decision for this arm; the same object if nothing has changed."""
    phase_arms = memory.phase_arms
    if choice.state is memory.state and phase_arms[0, arm]:
        return memory
    is_new_phase = phase_of(books, memory.state) != phase_of(books, choice.state)
    if is_new_phase or not phase_arms[0, arm]:
        phase_arms = np.zeros_like(phase_arms) if is_new_phase else phase_arms.copy()
        phase_arms[0, arm] = True
    return memory._replace(state=choice.state, phase_arms=phase_arms)


def choose(books: Books, memory: Memory, affordable: Flags) -> Choice[Any]:
    return books.leader.compiled.choose(_view(books, memory, affordable), memory.state, books.chance)


def _view(books: Books, memory: Memory, affordable: Flags) -> View:
    """What a policy may know: a batch of one row. A plan that depends on the budget keeps that of its creation."""
    seen = books.seen.evidence
    budget = books.problem.budget if books.policy.depends_on_budget else books.total
    return View(
        problem=books.problem,
        evidence=seen.with_own_rewards(),
        trials=np.zeros(1, dtype=np.intp),
        times=np.array([books.time]),
        costs=books.costs,
        budget=np.array([budget]),
        left=np.array([budget - books.bound]),
        affordable=affordable,
        pulls=seen.told + books.pending + memory.gone,
    )


def _looks_back(books: Books, before: Any, after: Any) -> bool:
    """Whether a decision begins a phase after the first, whose plan is made of the results of the one before."""
    return 0 < phase_of(books, before) < phase_of(books, after)


def _why(books: Books, choice: Choice[Any]) -> dict[str, Any]:
    """The policy's reason as plain data, with the index of every arm, or the phase of a plan."""
    index, reason = choice.info.index, _REASONS[int(choice.info.reason[0])]
    numbers = {"phase": phase_of(books, choice.state)} if index is None else {"index": array_to_plain(index[0])}
    return {"reason": reason, **numbers}


def _extension(books: Books, memory: Memory) -> Decision | None:
    """After the plan is carried out, money that was added later goes to the arms of its last phase, in turn."""
    able = books.affordable() & memory.phase_arms
    if books.total <= books.problem.budget or not able.any():
        return None
    pulls = np.where(able, books.done + books.pending, np.inf)
    return Decision(int(pulls.argmin()), 1, "extension")


# -- remembering ---------------------------------------------------------------------------------------


def remembers(books: Books) -> bool:
    """Whether the memory is known without running the policy."""
    return memory_of(books) is not None


def _known(books: Books) -> Memory:
    memory = memory_of(books)
    assert memory is not None, "the memory is needed before it was made known"
    return memory


def memory_of(books: Books) -> Memory | None:
    """The memory if it is known."""
    if books.memory is None and books.state is not None:
        found = at_start(books).filled(books.state)
        books.memory = found if found is not None and phase_of(books, found.state) >= 0 else None
    known: Memory | None = books.memory
    return known


def at_start(books: Books) -> Memory:
    arms = books.costs.shape
    return Memory(books.leader.compiled.start(1), np.zeros(arms, dtype=bool), np.zeros(arms))
