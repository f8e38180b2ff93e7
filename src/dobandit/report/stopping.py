"""What is said of stopping: the rule, how it stands, what an answer may lose, and ties."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dobandit.errors import counted, listing
from dobandit.numerals import amount, number
from dobandit.problem import Problem, Stop
from dobandit.report.numbers import chances, little

if TYPE_CHECKING:
    from dobandit.certainty import Standing
    from dobandit.study import Best


def lost(loss: float, problem: Problem) -> str:
    """What an answer is expected to lose against the best option, in words."""
    if math.isnan(loss):
        return "what it may lose is not known yet"
    unit = "per unit of budget" if problem.objective == "cumulative" else "per use"
    much = number(loss, 3) if loss else "next to nothing"
    return f"it is expected to lose {much} of {problem.reward} {unit}"


def rule_in_words(rule: Stop | None) -> str:
    """A stopping rule as the end of a sentence.

    >>> rule_in_words(Stop(probability=0.95, loss=0.01))
    'stop at a probability of 0.95 or an expected loss of 0.01, with 10 outcomes of the answer'
    """
    if rule is None:
        return "no stopping rule"
    parts = []
    if rule.probability is not None:
        parts.append(f"a probability of {amount(rule.probability)}")
    if rule.loss is not None:
        parts.append(f"an expected loss of {amount(rule.loss)}")
    if rule.pulls_ahead is not None:
        parts.append(f"a pull that {amount(rule.pulls_ahead)} uses do not pay for")
    return f"stop at {' or '.join(parts)}, with {counted(rule.min_pulls, 'outcome')} of the answer"


def held(found: Standing, problem: Problem) -> str:
    """Which parts of a stopping rule hold, with their numbers."""
    rule, said = found.rule, []
    if "probability" in found.holds and rule.probability is not None:
        said.append(
            f"{found.arm} is the best with probability {chances(found.probability)} (rule: {amount(rule.probability)})."
        )
    if "loss" in found.holds and rule.loss is not None:
        said.append(f"{found.arm}: {lost(found.loss, problem)} (rule: {amount(rule.loss)}).")
    if "gain_per_cost" in found.holds and found.earned_back is not None and rule.pulls_ahead is not None:
        back = f"1 spent is expected to earn back {little(found.earned_back)}"
        said.append(f"The next pulls do not pay: {back} over {amount(rule.pulls_ahead)} uses.")
    return " ".join(said)


def stop_in_words(found: Standing, problem: Problem) -> str:
    """How a stopping rule stands."""
    rule = f"stopping rule: {rule_in_words(found.rule).removeprefix('stop at ')}"
    if found.holds:
        return f"{rule}. It holds: {held(found, problem)}"
    if found.rows < found.rule.min_pulls:
        return f"{rule}. It does not hold: {found.arm} has {counted(found.rows, 'outcome')}."
    now = [_probability(found)] if found.rule.probability is not None else []
    now += [f"the expected loss is {number(found.loss, 3)}"] if found.rule.loss is not None else []
    now += [f"1 spent is expected to earn back {little(found.earned_back)}"] if found.earned_back is not None else []
    return f"{rule}. It does not hold: {listing(now)}."


def _probability(found: Standing) -> str:
    """What is wrong with the probability: that it is too low, or that too few outcomes are good or bad."""
    said, least = f"the probability is {chances(found.probability)}", found.rule.min_of_a_kind
    if found.probability < (found.rule.probability or 0.0) or found.has_both_kinds:
        return said
    if found.good < least:
        return f"{said}, but {found.arm} has {counted(found.good, 'good outcome')} and needs {least}"
    return f"{said}, but all options together have {counted(found.bad, 'bad outcome')} and need {least}"


def tied(found: Best, problem: Problem) -> list[str]:
    """Which options are as good as the best one but for the loss that is accepted, with their costs; nothing unless
    there are several."""
    if len(found.alternatives) < 2:
        return []
    rows = [f"  {o.arm}: cost {amount(o.cost)}, {lost(o.expected_loss, problem)}" for o in found.alternatives]
    return ["Within the loss that you accept, the cheapest first:", *rows]


AT_ALL_TIMES = (
    "95% at all times: contains the mean of every option at every moment, with a chance of 95% for all of them "
    "together. It comes from the outcomes of an option's own pulls alone; logged rows are not part of it."
)
NO_RANGE = (
    "Intervals that hold at all times need a reward with a known range: state it as range in [reward] when you make "
    "the study."
)
