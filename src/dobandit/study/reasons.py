"""Why a pull was made, in sentences for people who do not know the policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dobandit.arrays import Array
from dobandit.certainty import Beliefs
from dobandit.numerals import amount, number
from dobandit.policies import OBSERVE, Reason
from dobandit.problem import Arm
from dobandit.study import facts
from dobandit.study.books import Books

REASONS = {
    Reason.TIE: "Chosen at random: it is one of several options that are equally good by what the policy compares.",
    Reason.SWEEP: "Chosen because it has not been tried: every option is tried once before results decide.",
    Reason.OBSERVATION_DUE: "Chosen because there are too few observations: {best} would be next, but the policy "
    "observes first.",
    Reason.OBSERVATION_TEACHES: "Chosen instead of {best}: an observation teaches as much about it, and costs less.",
    Reason.PLAN: "Chosen by the plan of {policy}: phase {phase}{purpose}.",
    Reason.NOTHING_TEACHES: "Chosen because it is the cheapest: no option is expected to change the answer any more.",
    Reason.OWN: "{policy} chose it; the policy gives no numbers for its choices.",
}
UNKNOWN = "{best} has the highest index, but another rule of the policy took precedence."
EXTENSION = "The plan is carried out. Money that was added later goes to the options of its last phase, in turn."
UNASKED = "It was not asked for: the experiment was recorded after it had been carried out."


def reason_of(books: Books, asked: facts.Asked, index: Array | None, known: Beliefs) -> str:
    """Why the policy decided so, with what was believed of the options then."""
    why = asked.why or {}
    if asked.source == "extension":
        return EXTENSION
    affordable = books.affordable()[0]
    top = [] if index is None else np.flatnonzero(affordable & (index == index[affordable].max())).tolist()
    reason = Reason[why["reason"].upper()] if "reason" in why else _reason_of_old(books, asked, top)
    policy, phase = books.policy, why.get("phase")
    best = name_of(books.problem.arms[top[0]]) if top else ""
    said = {"best": best, "policy": policy.name, "phase": phase, "purpose": ""}
    if phase and policy.purposes:
        said["purpose"] = f", to {policy.purposes[min(phase, len(policy.purposes)) - 1]}"
    if reason is not Reason.INDEX or index is None:
        return (UNKNOWN if reason is None else REASONS[reason]).format(**said)
    gain = float(policy.index_in_units(index, books.costs[0], known.scale)[asked.arm]) / 100
    cost = float(books.costs[0, asked.arm])
    said |= {"contest": _contest(books, asked.arm, known), "cost": amount(cost), "gain": _small(gain * cost)}
    return policy.because.format(**said)


def _contest(books: Books, arm: int, known: Beliefs) -> str:
    """Between which options the pull helps to decide."""
    arms, means = books.problem.arms, known.above
    leader = int(means.argmax())
    wins = (known.draws >= known.draws.max(axis=1, keepdims=True)).mean(axis=0)
    wins[leader] = -1.0
    rival = int(wins.argmax()) if arm in (leader, OBSERVE) or wins[arm] <= 0 else arm
    if arm == leader:
        return f"{name_of(arms[leader])} is really better than {name_of(arms[rival])}"
    contest = f"{name_of(arms[rival])} beats {name_of(arms[leader])}"
    return contest if arm == rival else f"{contest} (through the graph it informs about both)"


def name_of(arm: Arm) -> str:
    """An option as people say it.

    >>> name_of(Arm.parse("do(X=1, Z=0)")), name_of(Arm())
    ('X=1, Z=0', 'no intervention')
    """
    return str(arm)[3:-1] or "no intervention"


def _small(gain: float) -> str:
    return "less than 0.0001" if gain < 0.0001 else number(gain, 2)


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
