"""What is said of a study, on the command line and on its pages alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dobandit.errors import counted, listing
from dobandit.numerals import amount, percent
from dobandit.problem import Stop
from dobandit.report.stopping import held, rule_in_words
from dobandit.study import Pulls, Study, as_datetime, written

if TYPE_CHECKING:
    from dobandit.study import Best


def event_in_words(content: Mapping[str, Any], arms: Sequence[str]) -> str:
    """What is written in an event, in the words of a person."""
    words: dict[str, Callable[[Any], str]] = {
        "arm": lambda arm: arms[arm],
        "outcome": written,
        "policy": lambda policy: f"with the policy {policy}",
        "seed": lambda seed: f"seed {seed}",
        "source": lambda source: f"in place of pull {source}" if isinstance(source, int) else "",
        "worker": lambda worker: f"worker {worker}",
        "expires": lambda time: "" if time is None else f"until {moment(time)}",
        "amount": lambda money: f"by {amount(money)}",
        "rows": lambda rows: counted(rows, "row"),
        "name": lambda name: f"named {name}",
        "rule": lambda rule: rule_in_words(rule and Stop(**rule)),
        "refund": lambda refund: "refunded" if refund else "not refunded",
        "reason": str,
        "by": lambda name: f"by {name}",
    }
    return ", ".join(filter(None, (say_it(content[part]) for part, say_it in words.items() if part in content)))


def moment(time: float) -> str:
    return f"{as_datetime(time):%Y-%m-%d %H:%M:%S}"


def why_nothing(study: Study, pulls: Pulls) -> str:
    """Why there is no pull to give."""
    reason = pulls.reason
    if pulls.stop is not None:
        saved = f"{amount(pulls.stop.saved)} of the budget is saved"
        return f"{reason}. {held(pulls.stop, study.problem)} {saved}; ask --anyway goes on"
    if reason == "budget":
        found = study.status()
        free, cheapest = amount(found.budget.free), amount(min(arm.cost for arm in found.arms))
        return f"the remaining budget ({free}) is less than the cheapest option ({cheapest})"
    if reason == "waiting for results":
        return "the policy plans its next phase when the open pulls have outcomes or are withdrawn"
    return "the policy has carried out its plan; see: dobandit study best"


def nothing_known(found: Best, arms: int) -> str:
    """Which options no data tell about, in words; nothing if there are none."""
    if len(found.unknown) == arms:
        return "Nothing is known yet: there is no outcome and no log, so any option may be best."
    if not found.unknown:
        return ""
    one = len(found.unknown) == 1
    verb, may = ("has", "it") if one else ("have", "either" if len(found.unknown) == 2 else "any of them")
    return (
        f"{listing(found.unknown)} {verb} not been tried, and the other data say nothing about "
        f"{'it' if one else 'them'}; {may} may be best."
    )


def sources(observational: float) -> str:
    """Where the evidence comes from: the share of plain observations, in words."""
    if observational == 1:
        return "All evidence so far comes from observations; there is no outcome of an experiment yet."
    if observational == 0:
        return "No evidence comes from observations."
    share = percent(observational)
    return f"Of the evidence, {share} comes from observations, the rest from experiments."
