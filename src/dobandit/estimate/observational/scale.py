"""The values of the variables, and what those of the reward are worth: as a problem states them, or as the data have
them."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dobandit.errors import DataError, listing
from dobandit.evidence import Source, domains_of, measured_ends
from dobandit.numerals import amount
from dobandit.problem import LARGEST, Domain, Problem, is_numeral, label

ROUNDED = 1e-3  # probabilities that sum to one up to this were rounded on their way here
MANY_VALUES = 20  # a variable with more different numbers than this is a measurement, not a set of values
MOST_NAMED = 5  # rewards in an error


@dataclass(frozen=True)
class Scale:
    """The values of every variable, and what the values of the reward are worth."""

    domains: Mapping[str, tuple[str, ...]]  # a variable that is a number has none
    worth: tuple[float, ...]
    between: Mapping[str, tuple[float, float]]  # the reward, if it is a number, and the ends of its range
    numbers: frozenset[str] = frozenset()  # other variables that are numbers


def infer_scale(source: Source, variables: Sequence[str], reward: str, covariates: Collection[str] = ()) -> Scale:
    """Domains as the data have them; a reward that takes many numbers lies between the least and the most, and a
    covariate that takes many has no domain."""
    found = domains_of(source, variables)
    numbers = frozenset(v for v in covariates if len(found[v]) > MANY_VALUES and all(map(is_numeral, found[v])))
    domains = {v: () if v in numbers else domain for v, domain in found.items()}
    try:
        worth = tuple(float(value) for value in domains[reward])
    except ValueError:
        raise DataError(
            f"{source.name}: the reward {reward} has the values {listing(domains[reward])}, which are not numbers; "
            "say what each is worth in a problem file ([reward] values = {...})"
        ) from None
    largest = LARGEST if len(worth) > MANY_VALUES else sys.float_info.max  # only measurements are added up in cubes
    if strange := [text for text, number in zip(domains[reward], worth, strict=True) if not abs(number) <= largest]:
        raise DataError(
            f"{source.name}: column {reward} has the reward {listing(strange, most=MOST_NAMED)}; "
            f"rewards are numbers from {amount(-LARGEST)} to {amount(LARGEST)}"
        )
    if len(worth) > MANY_VALUES:
        ends = (min(worth), max(worth))
        return Scale({**domains, reward: (label(ends[0]), label(ends[1]))}, ends, {reward: ends}, numbers)
    if worth in ((0.0,), (1.0,)):  # a reward of which only one value was seen yet
        return Scale({**domains, reward: ("0", "1")}, (0.0, 1.0), {}, numbers)
    return Scale(domains, worth, {}, numbers)


def problem_scale(problem: Problem, source: Source, declared: bool = False) -> Scale:
    """The values of a problem; a reward that is a measurement lies between the least and the most that the data have,
    which must be in its range. Or between the ends of the `declared` range, for what depends on how large the reward
    could be."""
    if not problem.reward_is_continuous:
        return Scale(problem.domains, problem.reward_values, {}, problem.numbers)
    reward, (low, high) = problem.reward, problem.measured_ends
    ends = measured_ends(source, reward, low, high) if reward in source.columns else (0.0, 1.0)
    ends = (low, high) if declared and problem.has_range else ends
    return Scale({**problem.domains, reward: Domain(map(label, ends))}, ends, {reward: ends}, problem.numbers)


def is_distribution(source: Source, total: float) -> bool:
    """Whether the weights of the rows are probabilities."""
    return source.probabilities and math.isclose(total, 1.0, abs_tol=ROUNDED)
