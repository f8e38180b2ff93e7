"""What a study believes of its arms, and its verdict on them; always the same after the same events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.certainty import Beliefs, Doubted, Verdict, believed, judged
from dobandit.chance import generator
from dobandit.errors import listing
from dobandit.estimate.pooled import Added, RepairedGraphs
from dobandit.evidence import Evidence
from dobandit.policies import contradiction_told, recommended, violation_told
from dobandit.study.books import Books
from dobandit.study.decisions import doubts, doubts_graph, recommend
from dobandit.study.ranges import Ranged, ranged


class Judged(NamedTuple):
    """What is believed of the arms; `warnings` say what observations have against the graph."""

    beliefs: Beliefs
    warnings: tuple[str, ...]
    ranges: tuple[Ranged, ...]  # what observations say of options that they do not identify

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
    if graphs is None:
        nothing = Doubted(np.zeros(evidence.told.shape), np.zeros((1, 0), dtype=bool), False)
        return Judged(believed(books.problem, None, evidence, nothing, rng), (), (Ranged(),) * len(books.problem.arms))
    refuted, added = _doubts(books, graphs)
    known = believed(books.problem, graphs, evidence, Doubted(refuted, added, doubts_graph(books)), rng)
    ranges = ranged(books.problem, graphs, evidence, added, books.costs)
    return Judged(known, _warnings(graphs, evidence, added), ranges)


def verdict(books: Books, known: Judged) -> Verdict:
    """Which option is the answer, and how sure that is. The memory must be known (`remember`)."""
    arm = _best_per_cost(books, known) if books.problem.objective == "cumulative" else recommend(books)
    return judged(books.problem, known.beliefs, books.costs[0], arm)


def _best_per_cost(books: Books, known: Judged) -> int:
    can_be_best = np.array([option.ruled_out is None for option in known.ranges])
    above = np.where(can_be_best, known.beliefs.above, -np.inf)
    return int(recommended(above[np.newaxis] / books.costs, books.costs)[0])


def _doubts(books: Books, graphs: RepairedGraphs) -> tuple[Array, Added]:
    """What the policy holds against the graph, and what it would find now."""
    refuted, added, _ = doubts(books)
    if not doubts_graph(books):
        return refuted, added
    return graphs.reconsidered(books.judged.evidence, refuted, added)


def _warnings(graphs: RepairedGraphs, evidence: Evidence, added: Added) -> tuple[str, ...]:
    """What the outcomes say against the graph, and what is made of it."""
    off = zip(graphs.given.implied.independencies, graphs.given.violations(evidence)[0].tolist(), strict=True)
    told = [violation_told(independence, z) for independence, z in off if z > 0]
    causes = [f"{a} <-> {b}" for (a, b), is_added in zip(graphs.pairs, added[0], strict=True) if is_added]
    return (*told, *([f"estimates allow for a hidden cause: {listing(causes)}"] if causes else []))
