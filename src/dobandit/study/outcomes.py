"""Outcomes: what was seen when a pull was carried out, checked before anything is changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.errors import DobanditError, OutcomeError, did_you_mean, listing
from dobandit.graph import in_quotes, normal, quoted
from dobandit.numerals import amount
from dobandit.problem import Arm, Domain, Problem, Value, is_missing, is_numeral, label

Given = Mapping[str, "Value | None"]  # an outcome as people and programs give it
Values = dict[str, str]  # every observed variable and its value, as texts that compare
UNKNOWN = ""  # the text of a value that is missing, where the problem allows that
_WHAT_TO_DO = 'withdraw the pull, or make the study of a problem that has missing = "drop" in [data]'


class OutcomeRow(NamedTuple):
    """The outcome of a pull in a file, and its place there in words."""

    pull: int
    values: dict[str, Value]
    place: str
    last: str  # where the last row of the same pull is, if that is known


def checked(problem: Problem, arm: Arm, outcome: Mapping[str, Value | None], before: Values | None = None) -> Values:
    """The outcome in the words of the problem; whatever is wrong with it is said at once, with what to send.

    Parameters
    ----------
    problem, arm
        What was carried out.
    outcome
        The variables and their values; those that the arm sets may be left out or empty.
    before
        An outcome that this one changes, if it does: what is left out stays as it was.
    """
    if type(outcome) is not dict and not isinstance(outcome, Mapping):  # the usual case, quickly
        raise OutcomeError(
            [f"an outcome maps every variable to its value, and this is {outcome!r}"], _expected(problem, arm)
        )
    outcome, faults = _by_variable(problem, outcome)
    variables, domains, is_set = problem.graph.variables, problem.domains, dict(arm.settings)
    given = {**is_set, **(before or {}), **outcome}
    found = {v: domains[v].meant(given[v]) for v in variables if v in given}
    faults += [_unknown(name, problem) for name in outcome if name not in found]
    if missing := [v for v in variables if v not in found]:
        faults.append(f"{listing(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    measured = problem.reward if problem.reward_is_continuous else None
    for v in [v for v, text in found.items() if v == measured or text not in domains[v] or text != is_set.get(v, text)]:
        if not is_missing(given[v], domains[v]):
            faults += _faults(problem, arm, v, found[v])
        elif v in is_set or problem.missing != "refuse":
            found[v] = is_set.get(v, UNKNOWN)
        else:
            faults.append(f"{v} has no value: if it is unknown, {_WHAT_TO_DO}")
    if faults:
        raise OutcomeError(faults, _expected(problem, arm))
    if measured and found[measured] != UNKNOWN:  # 1e-3 is the same outcome as 0.001
        found[measured] = label(float(found[measured]))
    return found


def _by_variable(problem: Problem, outcome: Mapping[str, Value | None]) -> tuple[dict[str, Value | None], list[str]]:
    """The outcome by the names of variables, where it may have those of their columns; and what is given twice."""
    if not problem.columns and outcome.keys() <= problem.domains.keys():
        return dict(outcome), []  # the usual case, quickly
    variable_of = {normal(column): v for v, column in problem.columns.items()}
    variable_of |= {v: v for v in problem.graph.variables}
    found: dict[str, Value | None] = {}
    faults: list[str] = []
    for given, value in outcome.items():
        name = normal(given) if isinstance(given, str) else given
        variable = variable_of.get(name, name)
        if variable in found:
            faults.append(f"{variable} is given twice (also as {name})")
        found[variable] = value
    return found, faults


def as_pairs(
    outcomes: Iterable[tuple[int, Mapping[str, Value | None]]],
) -> list[tuple[int, Mapping[str, Value | None]]]:
    """Outcomes with the numbers of their pulls, as a list."""
    try:
        return [(pull, outcome) for pull, outcome in outcomes]
    except (TypeError, ValueError):
        raise DobanditError("many outcomes are pairs, each of the number of a pull and its outcome") from None


def is_complete(values: Mapping[str, str]) -> bool:
    """Whether all values are known. Otherwise the outcome is paid for, and not part of the evidence."""
    return UNKNOWN not in values.values()


class AsNumbers:
    """Reads outcomes of a problem, all of whose values are known: the place of every variable's value in its domain,
    axes (outcome, variable), and the rewards from 0 to 1."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._places = [(v, _places(problem.domains[v])) for v in problem.graph.variables]
        self._worth: dict[str, float] = {}
        if problem.reward_is_continuous:
            self._places = [(v, _Measured() if v == problem.reward else places) for v, places in self._places]
        else:
            values = problem.domains[problem.reward]
            self._worth = dict(zip(values, utilities(problem, values).tolist(), strict=True))

    def __call__(self, outcomes: Sequence[Mapping[str, str]]) -> tuple[Indices, Array]:
        codes = [[places[values[v]] for v, places in self._places] for values in outcomes]
        rewards = [values[self._problem.reward] for values in outcomes]
        worth = np.array([self._worth[r] for r in rewards]) if self._worth else utilities(self._problem, rewards)
        return np.array(codes, dtype=np.intp), worth


class _Measured(dict[str, int]):
    """The places of numbers, which are not in a domain: all are 0."""

    def __missing__(self, value: str) -> int:
        return 0


def utilities(problem: Problem, values: Sequence[str]) -> Array:
    """What these values of the reward are worth, from 0 to 1."""
    if problem.reward_is_continuous:
        worth = [float(value) for value in values]
    else:
        places = _places(problem.domains[problem.reward])
        worth = [problem.reward_values[places[value]] for value in values]
    return problem.utility(np.array(worth))


def _places(domain: Domain) -> dict[str, int]:
    """The places of the values of a domain."""
    return {value: place for place, value in enumerate(domain)}


def written(values: Mapping[str, str]) -> str:
    """An outcome as people type it: `X=1 Y=0`."""
    return " ".join(f"{quoted(v)}={_written(value)}" for v, value in values.items())


def _written(value: str) -> str:
    return in_quotes(value) if re.search(r'[\s"|]|^$', value) else value


def _faults(problem: Problem, arm: Arm, variable: str, text: str) -> list[str]:
    if variable == problem.reward and problem.reward_is_continuous:
        low, high = problem.measured_ends
        if is_numeral(text) and low <= float(text) <= high:
            return []
        return [f"{variable} is {text}, and not a number from {amount(low)} to {amount(high)}"]
    if text not in problem.domains[variable]:
        return [f"{variable} is {text}, and not one of {listing(problem.domains[variable])}"]
    return [f"{variable} is {text}, but the pull was {arm}: if it was set to {text}, record that experiment instead"]


def _unknown(name: str, problem: Problem) -> str:
    near = did_you_mean(str(name), problem.graph.variables)
    return f"there is no variable {name}" + (f" ({near})" if near else "")


def _expected(problem: Problem, arm: Arm) -> str:
    """A pattern of what fits, such as `X=1 Z=0|1 Y=0|1`."""
    parts, is_set = [], dict(arm.settings)
    for v in problem.graph.variables:
        if v in is_set:
            parts.append(f"{quoted(v)}={_written(is_set[v])}")
        elif v == problem.reward and problem.reward_is_continuous:
            ends = "{}..{}".format(*map(amount, problem.measured_ends)) if problem.has_range else "<number>"
            parts.append(f"{quoted(v)}={ends}")
        else:
            parts.append(f"{quoted(v)}={'|'.join(map(_written, problem.domains[v]))}")
    return " ".join(parts)
