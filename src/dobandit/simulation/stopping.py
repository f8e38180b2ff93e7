"""A stopping rule in simulations: when rows look at it, and what a study in their place would answer.

A study looks at its rule whenever it is asked. A row looks after every pull at first, then whenever its pulls have
grown by an eighth, because a look takes longer than a pull. A look begins with few draws; if these say clearly that the
rule does not hold, that is it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dobandit.arrays import Flags, Indices
from dobandit.certainty import (
    DRAWS,
    Case,
    Doubted,
    Standing,
    Verdict,
    believed,
    best_per_cost,
    doubted,
    judged,
    judging_graphs,
    standing,
)
from dobandit.chance import generator
from dobandit.estimate.pooled import OwnRewards
from dobandit.evidence import CountTable, Evidence, Layout
from dobandit.policies import OBSERVE, Compiled, Policy, rows_of
from dobandit.problem import Problem, Stop
from dobandit.simulation.rows import UNANSWERED, Rows

AGAIN = 8  # rows look again when their pulls have grown by an eighth
FEW = 250  # draws of a first look


class Watch:
    """A rule, and what it takes to look at it beside a policy. `tables` are the counts that only this needs."""

    def __init__(self, rule: Stop, problem: Problem, policy: Policy, compiled: Compiled[Any], seed: int) -> None:
        self.rule, self._problem, self._policy, self._seed = rule, problem, policy, seed
        self._graphs = judging_graphs(compiled)
        own = OwnRewards(problem).tables if self._graphs is None else self._graphs.given.tables
        self.tables: tuple[CountTable, ...] = () if compiled.graphs is not None else tuple(own)
        self._layout = Layout(problem, own)

    def due(self, rows: Rows) -> Indices:
        """The rows that look now: those whose answer may have enough outcomes."""
        return np.flatnonzero((rows.look <= rows.time) & (rows.evidence.told.max(axis=1) >= self.rule.min_pulls))

    def stops(self, rows: Rows, number: int, trial: int, recommended: int) -> int:
        """The answer of a row if the rule says to stop."""
        for draws in (FEW, DRAWS):
            found, answer = self._look(rows, number, trial, recommended, draws)
            if self._is_far(found):
                return UNANSWERED
        return answer.arm if found.holds else UNANSWERED

    def answer(self, rows: Rows, number: int, trial: int, recommended: int) -> int:
        """The answer of a row that has ended."""
        return self._look(rows, number, trial, recommended, DRAWS)[1].arm

    def _look(self, rows: Rows, number: int, trial: int, recommended: int, draws: int) -> tuple[Standing, Verdict]:
        """How the rule stands for one row, and the verdict on its options."""
        one = np.array([number])
        evidence, costs = self._seen(rows.evidence.take(one)), rows.costs[number]
        doubts = doubted(self._policy, rows_of(rows.state, one), self._graphs, evidence)
        rng = generator(self._seed, f"stop:{trial}:{rows.time[number]}:{draws}")
        known = believed(self._problem, self._graphs, evidence, doubts, rng, draws)
        if self._problem.objective == "cumulative":
            recommended = best_per_cost(known, costs, self._can_be_best(evidence, doubts, rows.costs[one]))
        answer = judged(self._problem, known, costs, recommended, self.rule.loss)
        spent = float(rows.spent[number])
        case = Case(
            problem=self._problem,
            rule=self.rule,
            graphs=self._graphs,
            evidence=evidence,
            doubts=doubts,
            costs=costs,
            spent=spent,
            free=float(rows.budget[number]) - spent,
        )
        return standing(case, known, answer), answer

    def _seen(self, evidence: Evidence) -> Evidence:
        """The part of the evidence that options are judged by; the policy has the rest."""
        if not self.tables:
            return evidence
        return replace(evidence, layout=self._layout, counts=evidence.counts[:, -self._layout.size :])

    def _can_be_best(self, evidence: Evidence, doubts: Doubted, costs: Any) -> Flags:
        every = np.ones(costs.shape[1], dtype=bool)
        if self._graphs is None or not evidence.told[0, OBSERVE]:
            return every
        ((_, pooled, seen),) = self._graphs.by_graph(evidence, doubts.added)
        found = pooled.ruled_out(seen, pooled.stated(seen), costs)
        return every if found is None else ~found.out[0]

    def _is_far(self, found: Standing) -> bool:
        """Whether few draws say that the rule does not hold, whatever more of them would show."""
        if found.holds or found.rows < self.rule.min_pulls:
            return not found.holds
        chance, loss = self.rule.probability if found.has_both_kinds else None, self.rule.loss
        margin = 3 * math.sqrt(0.25 / FEW)
        return (chance is None or found.probability + margin < chance) and (loss is None or found.loss > 2 * loss)


def next_look(times: Indices) -> Indices:
    return np.asarray(times + 1 + times // AGAIN)
