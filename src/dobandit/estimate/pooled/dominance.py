"""Which arms have the same mean as another one, and which can never be the best, whatever the model of the graph is.

Arms have the same mean if they agree on what still matters when all their variables are set. A set T *dominates* a set
S if, where T is known, the same is left to change the reward whether S or T was set: then E[Y | do(s)] is an average of
E[Y | do(t)] over the values t that T takes under do(s), so that one of these is at least as good. If all sets are
offered, the sets that none dominates are the possibly-optimal minimal intervention sets (POMIS) of Lee and Bareinboim
(NeurIPS 2018, AAAI 2019); the rule works for any offer.

Where money is earned on the way, an arm that costs less may earn more per cost than arms with larger means. Then it is
dominated only if all those other arms cost no more.

>>> problem = Problem("Z -> X -> Y; X <-> Y", reward="Y", budget=10, objective="simple")
>>> [str(arm) for arm, found in zip(problem.arms, standings(problem)) if not found.never_best]
['do(Z=0)', 'do(Z=1)', 'do(X=0)', 'do(X=1)']
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from dobandit.estimate.pooled.formulas import Do
from dobandit.estimate.pooled.invariance import same_effect_as
from dobandit.problem import Arm, Problem


class Standing(NamedTuple):
    """What the graph says about the mean of an arm beside those of the others."""

    alias_of: int | None  # the first arm that has the same mean, if that is another one
    dominated_by: tuple[Do, ...]  # sets of which some arm is at least as good

    @property
    def never_best(self) -> bool:
        return bool(self.dominated_by)


def standings(problem: Problem) -> list[Standing]:
    """The standing of every arm of a problem."""
    first = first_alike(problem)
    offered = _by_set(problem)
    able = _dominating(problem, offered)
    found: list[Standing] = []
    for k, (arm, same) in enumerate(zip(problem.arms, first, strict=True)):
        by = (
            found[same].dominated_by if same < k else _worse_than(problem, k, arm, able.get(arm.variables, ()), offered)
        )
        found.append(Standing(same if same < k else None, by))
    return found


def first_alike(problem: Problem) -> list[int]:
    """For every arm the first one that has the same mean: they agree on what still matters."""
    acts = {s: problem.graph.acting(problem.reward, s) for s in dict.fromkeys(a.variables for a in problem.arms)}
    first: dict[frozenset[tuple[str, str]], int] = {}
    kept = (frozenset(s for s in arm.settings if s[0] in acts[arm.variables]) for arm in problem.arms)
    return [first.setdefault(settings, k) for k, settings in enumerate(kept)]


def _by_set(problem: Problem) -> dict[Do, list[int]]:
    found: dict[Do, list[int]] = {}
    for k, arm in enumerate(problem.arms):
        found.setdefault(arm.variables, []).append(k)
    return found


def _dominating(problem: Problem, sets: Iterable[Do]) -> dict[Do, list[Do]]:
    """For every set in which each variable matters the others that dominate it."""
    graph, reward = problem.graph, problem.reward
    minimal = [s for s in sets if len(graph.acting(reward, s)) == len(s)]
    found: dict[Do, list[Do]] = {s: [] for s in minimal}
    by_members = {frozenset(s): s for s in minimal}
    for t in minimal:
        for alike in same_effect_as(graph, t, reward, t, by_members):
            if (s := by_members[alike]) != t:
                found[s].append(t)
    # Of sets that dominate each other the first one remains.
    place = {s: i for i, s in enumerate(minimal)}
    return {s: [t for t in by if place[t] < place[s] or s not in found[t]] for s, by in found.items()}


def _worse_than(problem: Problem, k: int, arm: Arm, sets: Iterable[Do], offered: dict[Do, list[int]]) -> tuple[Do, ...]:
    """Of these sets those with an arm for all values that agree with what this arm sets, none of them dearer where
    money is earned on the way."""
    own, found = dict(arm.settings), []
    for t in sets:
        others = [j for j in offered[t] if all(own.get(v, x) == x for v, x in problem.arms[j].settings)]
        is_complete = len(others) == math.prod(len(problem.domains[v]) for v in t if v not in own)
        if is_complete and (problem.objective == "simple" or all(_costs_no_more(problem, j, k) for j in others)):
            found.append(t)
    return tuple(found)


def _costs_no_more(problem: Problem, j: int, k: int) -> bool:
    """Whether arm j never costs more than arm k; of costs that are drawn nothing is known."""
    a, b = problem.costs[j], problem.costs[k]
    return isinstance(a, float) and isinstance(b, float) and a <= b
