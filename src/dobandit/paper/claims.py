"""What the paper says about a panel, as checks that are computed: from our trials, or from the published points.

A check compares numbers that are linear in the regret: averages over stretches of the grid, and differences of them.
What differs from zero by less than three standard errors is a tie. "Constant" and "zero" have a margin of a tenth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.plots import Curve
from dobandit.simulation import standard_error

YES, NO, TIE = "yes", "no", "tie"
SIGNIFICANT = 3.0  # standard errors
CONSTANT = 0.1  # what grows by less than this share of itself, late on the grid, counts as constant
NEARLY_ZERO = 0.1  # of the regret at the start
CRITERIA = (
    f"A claim holds if all its comparisons hold by more than {SIGNIFICANT:g} standard errors; anything less clear is "
    "a tie. Regret counts as constant if its growth from the fourth fifth of the grid to the last is less than "
    f"{CONSTANT:.0%} of its value there, and as growing otherwise. It has converged to zero if in the last fifth it is "
    f"less than {NEARLY_ZERO:.0%} of what it was in the first. An algorithm fails if it has more regret than each of "
    "the others and has not converged to zero."
)


class Number(NamedTuple):
    """A value and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.{3 if abs(self.value) < 2 else 0}f}"

    @property
    def sign(self) -> int:
        """1, -1, or 0 within the noise."""
        if math.isnan(self.error) or abs(self.value) <= SIGNIFICANT * self.error:
            return 0
        return 1 if self.value > 0 else -1


class Side(NamedTuple):
    """One side of the comparison: the paper's points, or a run of ours."""

    names: tuple[str, ...]  # what the paper compares
    places: int  # of the grid
    number: Callable[[Mapping[str, Array]], Number]  # the sum of regret times weight over policies and places


def of_trials(regret: Mapping[str, Array]) -> Side:
    """Trials of ours. All policies meet the same worlds and luck, so sums are formed within trials."""

    def number(weights: Mapping[str, Array]) -> Number:
        sums = sum((regret[name] @ weight for name, weight in weights.items()), np.zeros(1))
        return Number(float(sums.mean()), standard_error(sums))

    return Side(tuple(regret), int(next(iter(regret.values())).shape[1]), number)


def of_points(curves: Mapping[str, Curve]) -> Side:
    """Published points, each taken as an experiment of its own."""

    def number(weights: Mapping[str, Array]) -> Number:
        value = sum(float(np.dot(curves[name].mean, weight)) for name, weight in weights.items())
        errors = [np.asarray(curves[name].se) * weight for name, weight in weights.items()]
        return Number(value, float(np.sqrt(np.square(errors).sum())))

    return Side(tuple(curves), len(next(iter(curves.values())).x), number)


class Verdict(NamedTuple):
    """Whether a claim holds, and the numbers that say so."""

    answer: str  # yes, no, or tie: within the noise
    what: str  # of which the numbers are
    numbers: tuple[Number, ...]


class Claim(NamedTuple):
    """A sentence of the paper, and how it is checked: by a function of a side and of these policies."""

    text: str
    check: Callable[..., Verdict]
    of: tuple[str, ...] = ()
    also: tuple[str, ...] = ()  # policies that it is about, although the figure leaves them out


def average(places: int, start: float, stop: float) -> Array:
    """The weights of an average over a stretch of the grid, from 0 (its start) to 1 (its end)."""
    first = min(round(start * places), places - 1)
    last = max(round(stop * places), first + 1)
    weights = np.zeros(places)
    weights[first:last] = 1 / (last - first)
    return weights


def growth(places: int) -> Array:
    """From the first third of the grid to the last."""
    return average(places, 2 / 3, 1) - average(places, 0, 1 / 3)


def late_growth(places: int) -> Array:
    """From the last but one fifth of the grid to the last."""
    return average(places, 0.8, 1) - average(places, 0.6, 0.8)


# -- checks ------------------------------------------------------------------------------------------


def below(side: Side, policy: str) -> Verdict:
    """One policy has less regret than each of the others, averaged over the grid."""
    return _least(policy, side, average(side.places, 0, 1), "average")


def below_in_the_upper_half(side: Side, policy: str) -> Verdict:
    """The same, averaged over the upper half of the grid."""
    return _least(policy, side, average(side.places, 0.5, 1), "average of the upper half")


def grows_slower(side: Side, policy: str) -> Verdict:
    """The regret of one policy grows less along the grid than that of each of the others."""
    return _least(policy, side, growth(side.places), "growth")


def grows(side: Side) -> Verdict:
    """The regret of all policies grows along the grid."""
    weights = growth(side.places)
    return _verdict(side, [{name: weights} for name in side.names], "growth", side.names, weights)


def keeps_growing(side: Side, *policies: str) -> Verdict:
    """The regret of these policies still grows, from the last but one fifth of the grid to the last."""
    late = late_growth(side.places)
    beyond = late - CONSTANT * average(side.places, 0.8, 1)  # what would still count as constant
    return _verdict(side, [{name: beyond} for name in policies], "late growth", policies, late)


def flattens(side: Side, policy: str) -> Verdict:
    """The regret of one policy is nearly constant, from the last but one fifth of the grid to the last."""
    late = late_growth(side.places)
    within = CONSTANT * average(side.places, 0.8, 1) - late
    return _verdict(side, [{policy: within}], "late growth", [policy], late)


def vanishes(side: Side, *policies: str) -> Verdict:
    """In the last fifth of the grid the regret of these policies (or of all) is a tenth of what it was in the first."""
    names = policies or side.names
    first, last = average(side.places, 0, 0.2), average(side.places, 0.8, 1)
    return _verdict(side, [{name: NEARLY_ZERO * first - last} for name in names], "last fifth", names, last)


def fails(side: Side, policy: str) -> Verdict:
    """One policy has more regret than each of the others, averaged over the grid, and in the last fifth of the grid
    more than a tenth of what it was in the first."""
    whole, first, last = (average(side.places, *part) for part in ((0, 1), (0, 0.2), (0.8, 1)))
    behind = [{policy: whole, name: -whole} for name in side.names if name != policy]
    remaining = {policy: last - NEARLY_ZERO * first}
    found = _verdict(side, [*behind, remaining], "average", side.names, whole)
    what = f"{found.what}, {_of('last fifth', [policy])}"
    return Verdict(found.answer, what, (*found.numbers, side.number({policy: last})))


def _least(policy: str, side: Side, weights: Array, what: str) -> Verdict:
    ahead = [{name: weights, policy: -weights} for name in side.names if name != policy]
    return _verdict(side, ahead, what, side.names, weights)


def _verdict(
    side: Side, positive: Iterable[Mapping[str, Array]], what: str, names: Sequence[str], weights: Array
) -> Verdict:
    """Whether all these sums are positive; shown is the regret of these policies with these weights."""
    shown = tuple(side.number({name: weights}) for name in names)
    lowest = min(side.number(sums).sign for sums in positive)
    return Verdict(YES if lowest > 0 else TIE if lowest == 0 else NO, _of(what, names), shown)


def _of(what: str, names: Sequence[str]) -> str:
    return f"{what} of {', '.join(f'`{name}`' for name in names)}"
