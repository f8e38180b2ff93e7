"""Whether an answer is sure enough to stop before the budget is spent.

A rule has up to three parts, and any of them is enough: the chance that the answer is the best option, the loss that is
expected of it, and whether the next pull is expected to earn its cost back. All of them are looked at only once there
are some outcomes of the answer, so that no study stops on a prior. For the first part some of these must be good, and
some outcomes of any options bad, so that no study stops on two lucky sales. (The others are in units of the reward: if
no customer of thousands buys, little can be lost.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.certainty.beliefs import Beliefs, Doubted
from dobandit.certainty.verdict import Verdict
from dobandit.estimate.pooled import RepairedGraphs
from dobandit.evidence import Evidence
from dobandit.policies import View, log_gains
from dobandit.problem import Problem, Stop


class Standing(NamedTuple):
    """How a stopping rule stands. `holds` names the parts that hold now; the rule says to stop if there is one."""

    rule: Stop
    holds: tuple[str, ...]
    arm: str  # the answer
    probability: float  # that it is the best option
    loss: float  # that is expected of it
    earned_back: float | None  # by the uses ahead, per unit of budget that is spent next; None: not part of the rule
    rows: int  # outcomes of the answer; observations count as such where they tell its mean
    good: int  # of them, the good ones
    bad: int  # outcomes of all options that are bad
    saved: float  # the budget that is free

    @property
    def has_both_kinds(self) -> bool:
        """Whether there are enough good and bad outcomes to believe in the probability."""
        return min(self.good, self.bad) >= self.rule.min_of_a_kind


class Case(NamedTuple):
    """What a rule is applied to: the evidence of one row, what is held against its graph, and its money."""

    problem: Problem
    rule: Stop
    graphs: RepairedGraphs | None  # None: their tables would be too large
    evidence: Evidence
    doubts: Doubted
    costs: Array
    spent: float
    free: float


def standing(case: Case, known: Beliefs, answer: Verdict) -> Standing:
    """How a rule stands after what is believed of the options, and the verdict on them."""
    rule = case.rule
    earned = _earned_back(case, known, answer) if rule.gain_per_cost else None
    found = Standing(
        rule=rule,
        holds=(),
        arm=str(case.problem.arms[answer.arm]),
        probability=answer.probability,
        loss=answer.loss,
        earned_back=earned,
        rows=int(known.rows[answer.arm]),
        good=_whole(known.good[answer.arm]),
        bad=_whole(known.bad),
        saved=case.free,
    )
    is_sure = rule.probability is not None and answer.probability >= rule.probability
    parts = {
        "probability": is_sure and found.has_both_kinds,
        "loss": rule.loss is not None and answer.loss <= rule.loss,
        "gain_per_cost": earned is not None and earned < 1,
    }
    holds = tuple(part for part, is_enough in parts.items() if is_enough)
    return found._replace(holds=holds) if found.rows >= rule.min_pulls else found


def _whole(number: float) -> int:
    """A number that was worked out and may be a little less than whole."""
    return int(number + 1e-6)


def _earned_back(case: Case, known: Beliefs, answer: Verdict) -> float:
    """What the next unit of budget is expected to earn back over the uses ahead, spent on the option that teaches most.

    One unit of the reward is taken to be worth one unit of the budget. Where the tables of the graph would be too
    large, what all of the truth is worth, divided by the cheapest cost, stands for it, which is more.
    """
    uses, able = case.rule.pulls_ahead or 0.0, case.costs <= case.free
    if not able.any():
        return 0.0
    if case.graphs is None:
        return uses * answer.loss / float(case.costs[able].min())
    gains = _gains_per_cost(case.graphs, case.evidence, case.doubts, case.costs, case.spent)
    return uses * known.scale * float(gains[able].max())


def _gains_per_cost(graphs: RepairedGraphs, evidence: Evidence, doubts: Doubted, costs: Array, spent: float) -> Array:
    """By how much the mean of the recommended option is expected to grow per unit of money spent on each option, in the
    unit of estimates."""
    ((_, pooled, seen),) = graphs.by_graph(evidence, doubts.added)
    tables = pooled.tables_after(seen)
    view = View(
        problem=graphs.problem,
        evidence=seen,
        trials=np.zeros(1, dtype=np.intp),
        times=seen.told.sum(axis=1).astype(np.intp),
        costs=costs[np.newaxis],
        budget=np.array([spent]),
        left=np.zeros(1),
        affordable=np.ones((1, len(costs)), dtype=bool),
        pulls=seen.told,
    )
    return np.asarray(np.exp(log_gains(pooled, view, tables, pooled.known(tables), doubts.refuted)[0]))
