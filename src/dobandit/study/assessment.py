"""What a study believes of its arms, and its verdict on them; always the same after the same events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.certainty import (
    Beliefs,
    Case,
    Doubted,
    Standing,
    Verdict,
    believed,
    best_per_cost,
    doubted,
    judged,
    standing,
)
from dobandit.chance import generator
from dobandit.errors import listing
from dobandit.estimate.pooled import Added, RepairedGraphs
from dobandit.evidence import Evidence
from dobandit.policies import contradiction_told, violation_told
from dobandit.study.books import Books
from dobandit.study.decisions import recommend, remembered
from dobandit.study.ranges import Ranged, ranged


class Judged(NamedTuple):
    """What is believed of the arms; `warnings` say what observations have against the graph."""

    beliefs: Beliefs
    warnings: tuple[str, ...]
    ranges: tuple[Ranged, ...]  # what observations say of options that they do not identify
    doubts: Doubted

    def warning(self, arm: int) -> str | None:
        """What is said of an arm whose own rewards contradict the graph."""
        z = float(self.beliefs.refuted[arm])
        return contradiction_told(z) if z > 0 else None


def judged_arms(books: Books) -> Judged:
    """What is believed after all that was told and logged, worked out once. What the policy doubts must be known
    (`remember_doubts`)."""
    if books.assessed is None:
        books.assessed = _judged_arms(books)
    found: Judged = books.assessed
    return found


def _judged_arms(books: Books) -> Judged:
    evidence, graphs = books.judged.evidence, books.leader.graphs
    rng = generator(books.seed, f"study:{books.number}")
    doubts = doubted(books.policy, remembered(books), graphs, evidence)
    known = believed(books.problem, graphs, evidence, doubts, rng)
    if graphs is None:
        return Judged(known, (), (Ranged(),) * len(books.problem.arms), doubts)
    ranges = ranged(books.problem, graphs, evidence, doubts.added, books.costs)
    return Judged(known, _warnings(graphs, evidence, doubts.added), ranges, doubts)


def verdict(books: Books, known: Judged) -> Verdict:
    """Which option is the answer, and how sure that is. The memory must be known (`remember`)."""
    if books.problem.objective == "simple":
        arm = recommend(books)
    else:
        can_be_best = np.array([option.ruled_out is None for option in known.ranges])
        arm = best_per_cost(known.beliefs, books.costs[0], can_be_best)
    return judged(books.problem, known.beliefs, books.costs[0], arm, None if books.stop is None else books.stop.loss)


def how_sure(books: Books, known: Judged, answer: Verdict) -> Standing | None:
    """How the stopping rule stands, if there is one."""
    if books.stop is None:
        return None
    money = books.money
    case = Case(
        problem=books.problem,
        rule=books.stop,
        graphs=books.leader.graphs,
        evidence=books.judged.evidence,
        doubts=known.doubts,
        costs=books.costs[0],
        spent=money.spent + money.reserved,
        free=money.free,
    )
    return standing(case, known.beliefs, answer)


def is_sure_enough(books: Books) -> Standing | None:
    """How the stopping rule stands, if it says to stop and there is anything that could be pulled. The memory must be
    known (`remember`)."""
    if books.stop is None or not books.affordable().any():
        return None
    known = judged_arms(books)
    found = how_sure(books, known, verdict(books, known))
    return found if found and found.holds else None


def _warnings(graphs: RepairedGraphs, evidence: Evidence, added: Added) -> tuple[str, ...]:
    """What the outcomes say against the graph, and what is made of it."""
    off = zip(graphs.given.implied.independencies, graphs.given.violations(evidence)[0].tolist(), strict=True)
    told = [violation_told(independence, z) for independence, z in off if z > 0]
    causes = [f"{a} <-> {b}" for (a, b), is_added in zip(graphs.pairs, added[0], strict=True) if is_added]
    return (*told, *([f"estimates allow for a hidden cause: {listing(causes)}"] if causes else []))
