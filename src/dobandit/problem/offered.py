"""Which arms a problem offers: do(), all values of single variables, and of sets of variables that are set together.

Sets are named (`together`), or all are taken up to a size (`most_at_once`) in which every variable still matters: where
other members of the set stand between a variable and the reward, the set has the same effects as a smaller one. Or the
arms are listed one by one (`arms`). The order is always the same: do(), single variables in graph order, sets by size.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from dobandit.errors import ArmError, listing
from dobandit.graph import Graph
from dobandit.problem.arms import Arm
from dobandit.problem.faults import Faults, is_positive
from dobandit.problem.variables import Variables

MOST_ARMS = 1000  # where variables are set together
MOST_SINGLE_ARMS = 10_000
ENOUGH = 5000  # sets after which counting ends: they are too many anyway
Set = tuple[str, ...]  # of variables, in graph order
Values = Mapping[str, tuple[str, ...]]  # that variables can be set to


class Offer(NamedTuple):
    """What is said about the arms."""

    intervenable: Iterable[str] | None
    together: Iterable[Iterable[str]] | None
    most_at_once: int | None
    arms: Iterable[Arm | str] | None


def read_arms(offer: Offer, known: Variables, faults: Faults) -> tuple[Set, tuple[Arm, ...]]:
    """The variables that may be set, and the arms."""
    if offer.arms is not None:
        return _listed(offer, known, faults)
    graph, values, settable = known.graph, known.settings, _settable(offer.intervenable, known, faults)
    named = _named_sets(offer.together, known.full_graph, settable, faults)
    sizes, singles = {v: len(values[v]) for v in settable}, [(v,) for v in settable]
    if (number := sum(sizes.values())) > MOST_SINGLE_ARMS:
        faults.add(
            ("intervenable",),
            f"{number:,} values can be set; at most {MOST_SINGLE_ARMS:,} are possible: name the variables that matter",
        )
        faults.raise_any()
    small = _small_sets(offer.most_at_once, graph, known.reward, sizes, faults)
    sets = sorted({*named, *small}, key=lambda s: (len(s), [graph.variables.index(v) for v in s]))
    too_many = bool(sets) and _are_too_many(1 + _number([*singles, *sets], sizes), len(small) > ENOUGH, offer, faults)
    joint = () if too_many else (arm for s in sets for arm in _arms_of(s, values))
    return settable, (*single_arms(settable, values), *joint)


def _settable(stated: Iterable[str] | None, known: Variables, faults: Faults) -> Set:
    """The variables that may be set, in graph order: by default all that have values, but for the reward."""
    graph, reward, place = known.full_graph, known.reward, ("intervenable",)
    if stated is None:
        wanted = set(graph.origin.exposures or graph.variables)
    else:
        wanted = set(faults.names(stated, place, graph.variables))
        if reward in wanted:
            faults.add(place, f"the reward {reward} cannot be set")
        for name in sorted(wanted.difference(known.graph.variables)):
            faults.add(place, f"{name} is not observed, so it cannot be set")
        for name in sorted(wanted & known.numbers):
            faults.add(place, f"{name} is a number, which has no values to set; give it cut points in [bins]")
    return tuple(v for v in graph.in_order(wanted - {reward} - known.numbers) if v in known.graph)


def single_arms(settable: Iterable[str], values: Values) -> tuple[Arm, ...]:
    """do(), and all values of each variable."""
    return (Arm(), *(arm for v in settable for arm in _arms_of((v,), values)))


def _arms_of(variables: Set, values: Values) -> Iterator[Arm]:
    """The arms that set these variables, in the order of their values."""
    for chosen in product(*(values[v] for v in variables)):
        yield Arm(tuple(zip(variables, chosen, strict=True)))


def _number(sets: Iterable[Set], sizes: Mapping[str, int]) -> int:
    return sum(math.prod(sizes[v] for v in s) for s in sets)


def _are_too_many(number: int, is_least: bool, offer: Offer, faults: Faults) -> bool:
    if number > MOST_ARMS:
        key = "together" if offer.most_at_once is None else "most_at_once"
        what = "together" if offer.most_at_once is None else f"most_at_once = {offer.most_at_once}"
        instead = "name fewer sets" if offer.most_at_once is None else "name sets in together"
        faults.add(
            (key,),
            f"{what} makes {'more than ' * is_least}{number:,} arms; at most {MOST_ARMS:,} are possible: "
            f"{instead}, or arms in arms",
        )
    return number > MOST_ARMS


def _named_sets(stated: object, graph: Graph, settable: Collection[str], faults: Faults) -> list[Set]:
    place, found = ("together",), list[Set]()
    if stated is None:
        return found
    if isinstance(stated, str) or not isinstance(stated, Iterable):
        faults.add(place, f"expected a list of sets of variables, not {stated!r}")
        return found
    for members in stated:
        before = len(faults.found)
        names = graph.in_order(faults.names(members, place, graph.variables))
        if len(faults.found) > before:
            continue
        if missing := [v for v in names if v not in settable]:
            faults.add(place, f"{listing(missing)} cannot be set (not intervenable)")
        elif len(names) < 2:
            faults.add(place, "a set has at least two variables; every single one can be set anyway")
        else:
            found.append(names)
    return found


def _small_sets(most: int | None, graph: Graph, reward: str, sizes: Mapping[str, int], faults: Faults) -> list[Set]:
    """The sets of two or more variables, up to so many, in which each still matters to the reward."""
    if most is None:
        return []
    if not is_positive(most) or most != int(most):
        faults.add(("most_at_once",), f"expected a whole number of variables, at least 1, not {most!r}")
        return []
    if reward not in graph:
        return []
    acting = graph.in_order(graph.ancestors(reward) & sizes.keys())
    todo: list[Set] = [(v,) for v in acting]
    found: list[Set] = []
    for s in todo:  # a part of such a set is one itself, so that each grows from a smaller one
        for v in acting[acting.index(s[-1]) + 1 :] if len(s) < most else ():
            if every_one_matters(graph, reward, (*s, v)):
                todo.append((*s, v))
                found.append((*s, v))
        if len(found) > ENOUGH:
            break
    return found


def every_one_matters(graph: Graph, reward: str, variables: Iterable[str]) -> bool:
    """Whether each of the variables acts on the reward by a path without the others.

    >>> every_one_matters(Graph("X -> M -> Y; X -> Y"), "Y", ["X", "M"])
    True
    >>> every_one_matters(Graph("X -> M -> Y"), "Y", ["X", "M"])
    False
    """
    together = set(variables)
    return len(graph.acting(reward, together)) == len(together)


def _listed(offer: Offer, known: Variables, faults: Faults) -> tuple[Set, tuple[Arm, ...]]:
    """The arms that are listed one by one, and do()."""
    place, domains = ("arms",), {v: known.domains[v] for v in known.graph.variables}
    for key in ("intervenable", "together", "most_at_once"):
        if getattr(offer, key) is not None:
            faults.add((key,), "arms lists everything that can be done: remove this line, or arms")
    listed = offer.arms
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        faults.add(place, f'expected a list of arms such as "do(X=1)", not {listed!r}')
        return (), (Arm(),)
    order: dict[Arm, tuple[int, list[int], list[int]]] = {}  # the number of variables, these, and their values
    for given in listed:
        try:
            arm = (given if isinstance(given, Arm) else Arm.parse(given)).within(domains)
            if known.reward in arm.variables:
                raise ArmError(f"{arm}: the reward {known.reward} cannot be set")
            codes = arm.codes(known.settings)
        except ArmError as error:
            faults.add(place, str(error))
            continue
        if arm in order:
            faults.add(place, f"{arm} is listed twice")
        order[arm] = len(codes), [known.graph.variables.index(v) for v in codes], list(codes.values())
    arms = sorted(order, key=order.__getitem__)
    if len(arms) > MOST_ARMS:
        faults.add(place, f"{len(arms):,} arms are listed; at most {MOST_ARMS:,} are possible")
    settable = known.graph.in_order({v for arm in arms for v in arm.variables})
    return settable, (Arm(), *(arm for arm in arms if not arm.observes))
