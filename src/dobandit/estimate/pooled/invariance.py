"""Which data may enter which table: the one rule on which all pooling rests.

A table P(V | Z) may hold the outcomes of an arm do(X=x) if setting X leaves P(V | Z) as it is. The graph says when:
draw a regime node F -> X that tells whether X is set or left alone. If F is m-separated from V given Z, then V given
Z is distributed the same in both regimes, so that the arm's outcomes are samples of the very row that observations
fill. Where the separation fails there are models in which the two differ, and the data stay apart: the arm gets a
private table, which is closed to observations. It holds the outcomes of the arm, and by the same rule those of other
arms that have the same effect on the table.

The same holds for arms that set several variables S: in the graph in which nothing points to S, the variables outside
of S that would still change P(V | Z) are what is left to change. Two arms have the same effect on the table if and only
if the same is left: then both make it what setting all the others would.

>>> from dobandit.graph import Graph
>>> g = Graph("X -> M -> Y; X <-> Y")
>>> sorted(changed_by(g, "M", ("X",)))  # M still responds to X; setting M itself tells nothing about P(M | X)
['M']
>>> sorted(changed_by(g, "Y", ("X", "M")))  # X tells of the hidden cause, but only if it was not set
['X', 'Y']
>>> together = same_effect_as(g, {"M"}, "Y", ("M",))  # M is confounded with Y through X alone: setting either ends that
>>> sorted(map(sorted, together))
[['M'], ['X']]
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from dobandit.evidence import CountTable
from dobandit.graph import Graph, reachable
from dobandit.problem import Problem

Set = frozenset[str]  # of variables that are set together
NOTHING: Set = frozenset()


def changed_by(graph: Graph, variable: str, given: tuple[str, ...]) -> Set:
    """The variables whose setting may change P(variable | given)."""
    return still_changed_by(graph, NOTHING, variable, given)


@lru_cache(maxsize=2**17)
def still_changed_by(graph: Graph, do: Set, variable: str, given: tuple[str, ...]) -> Set:
    """The other variables whose setting may change P(variable | given) where some are set already.

    It is the walk of m-separation from the variable, in the graph in which nothing points to what is set, which is
    constant and so among the conditions. A regime node F -> W is reached where the walk could go on to a parent of W.
    """
    bits = graph.bits
    cut = bits.of(do)
    _, found = reachable(bits, bits.of([variable]), bits.of(given) | cut, cut)
    return bits.names(found & ~cut) | {variable}


def same_effect_as(
    graph: Graph, do: Iterable[str], variable: str, given: tuple[str, ...], sets: Iterable[Set] | None = None
) -> frozenset[Set]:
    """Of these sets of variables (by default all single ones) those whose setting makes P(variable | given) what
    setting `do` makes it."""
    left = still_changed_by(graph, frozenset(do), variable, given)
    among = sets if sets is not None else (frozenset({v}) for v in graph.variables)
    bits, nothing_set = graph.bits, changed_by(graph, variable, given)
    start, conditions, wanted = bits.of([variable]), bits.of(given), bits.of(left)
    touched = bits.of(nothing_set) | bits.above(conditions)

    def is_alike(some: Set) -> bool:
        cut = bits.of(some)
        if not cut & touched:  # the walk cannot go on from there, and no collider is opened: all stays as it is
            return nothing_set == left
        _, found = reachable(bits, start, conditions | cut, cut, last=~(wanted | cut))
        return found & ~cut | start == wanted

    return frozenset(some for some in among if left.isdisjoint(some) and is_alike(some))  # what is set is not left


def pooled(problem: Problem, variable: str, given: Iterable[str]) -> CountTable:
    """The table P(variable | given) with the observations and every arm that leaves it unchanged."""
    given = tuple(given)
    changing = changed_by(problem.graph, variable, given)
    return CountTable(variable, given, arms=unchanged_by(problem, changing))


def unchanged_by(problem: Problem, changing: Set) -> tuple[int, ...]:
    """The arms that set none of these variables."""
    others = list(range(len(problem.arms)))
    for k in sorted({k for v in changing for k in problem.arms_setting.get(v, ())}, reverse=True):  # most arms stay
        del others[k]
    return tuple(others)


def private(problem: Problem, variable: str, given: Iterable[str], setting: frozenset[Set]) -> CountTable:
    """The table P(variable | given) of those who set one of these sets of variables."""
    able = {k for some in setting for v in some for k in problem.arms_setting.get(v, ())}
    if NOTHING in setting:
        able.add(0)
    arms = tuple(k for k in sorted(able) if frozenset(problem.arms[k].variables) in setting)
    return CountTable(variable, tuple(given), arms=arms)


def by_effect(problem: Problem, variable: str, given: Iterable[str], arms: Iterable[int]) -> CountTable:
    """The counts of P(variable | given) in the outcomes of some arms, apart where these change it in different ways."""
    left, given = dict[Set, int](), tuple(given)
    parts = [0] * len(problem.arms)
    able = [k for k in arms if variable not in problem.arms[k].variables]
    for k in able:
        still = still_changed_by(problem.graph, frozenset(problem.arms[k].variables), variable, given)
        parts[k] = left.setdefault(still, len(left))
    return CountTable(variable, given, arms=tuple(able), parts=tuple(parts))
