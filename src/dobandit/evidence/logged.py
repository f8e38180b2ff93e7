"""Logged rows as evidence before the first pull: observations, and interventions where a column says what was done.

Only counts are kept: the cells of the tables that a policy asked for, and what the rows of each arm earned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.errors import ArmError, DataError, counted, listing
from dobandit.evidence.count_tables import MOMENTS, Layout
from dobandit.evidence.counts import (
    INTERVENTION,
    LARGEST,
    cells,
    check_spelling,
    nothing_done,
    refuse_interventions,
    sums,
)
from dobandit.evidence.faults import Fault, refusal
from dobandit.evidence.fitted import fit
from dobandit.evidence.grouped import Grouped, Measured
from dobandit.evidence.source import Source
from dobandit.problem import Arm, Problem, Value


class Logged(NamedTuple):
    """What a log says, for one layout of tables; or the logs of many trials, with the trial as the first axis."""

    counts: Array  # by cell
    rows: Array  # by arm
    rewards: Array  # by arm, on the scale from 0 (worst) to 1 (best)
    reference: float | Array = math.nan  # what moments are taken about, on the same scale
    worst: float | Array = math.inf  # the least reward

    @classmethod
    def stack(cls, logs: Sequence[Logged]) -> Logged:
        """The logs of many trials."""
        return cls(*map(np.array, zip(*logs, strict=True)))

    def take(self, trials: Indices) -> Logged:
        """The logs of these trials; a single log is that of every trial."""
        return self if self.counts.ndim == 1 else Logged(*(np.asarray(field)[trials] for field in self))


class _Rows(NamedTuple):
    """Groups of equal rows: their arm, their codes, how many there are, what they earned together, and the sums of the
    powers of how far their rewards are above a reference."""

    arms: Indices
    codes: dict[str, Indices]
    number: Array
    earned: Array
    powers: Array  # axes: power, group
    reference: float
    worst: float


def read_log(problem: Problem, source: Source, layout: Layout) -> Logged:
    """Count a log; one without rows is a mistake, not a small log."""
    source = fit(source, problem)
    check_spelling(source, problem.graph.variables)
    others = {v: None for t in layout.tables for v in t.variables if v != problem.reward}
    whole = _rows(problem, source, others) if cells(others, problem.domains) <= LARGEST else None
    found = _counted(problem, layout, lambda group: _rows(problem, source, group) if whole is None else whole)
    if not found.rows.sum():
        raise DataError(f"{source.name}: there are no rows to observe")
    return found


class GroupedRows(NamedTuple):
    """Groups of equal rows: what was done in them (the place of the arm), the codes of the variables but the reward,
    the rewards in the user's units, and how many rows there are in each."""

    arms: Indices
    codes: dict[str, Indices]
    rewards: Array
    number: Array


def count_rows(problem: Problem, layout: Layout, given: GroupedRows) -> Logged:
    """The same as `read_log`, of rows that are known already."""
    present = given.number > 0
    arms, number, rewards = given.arms[present], given.number[present], given.rewards[present]
    codes = {v: column[present] for v, column in given.codes.items()}
    measured = Measured.of_numbers(rewards, number)
    whole = _rewarded(problem, arms, codes, number, measured, rewards * number)
    return _counted(problem, layout, lambda group: whole)


def _counted(problem: Problem, layout: Layout, rows_of: Callable[[Sequence[str]], _Rows]) -> Logged:
    """Count rows, which are grouped at least by the variables that are asked for."""
    counts = np.zeros(layout.size)
    for table, shape, at, parts in zip(layout.tables, layout.shapes, layout.slices, layout.parts, strict=True):
        group = [v for v in table.variables if v != problem.reward]
        rows = rows_of(group)
        index = [*([] if parts is None else [parts[rows.arms]]), *(rows.codes[v] for v in group)]
        counted = np.isin(rows.arms, table.arms)
        of_reward = table.variable == problem.reward
        counts[at] = (_moments if table.moments else _shares if of_reward else _numbers)(rows, index, shape, counted)
    arms = rows_of(())
    number, earned = (sums([arms.arms], each, (len(problem.arms),)) for each in (arms.number, arms.earned))
    return Logged(counts, number, earned, arms.reference, arms.worst)


def _numbers(rows: _Rows, index: Sequence[Indices], shape: tuple[int, ...], counted: Flags) -> Array:
    """The cells of a table of another variable than the reward."""
    return sums(index, rows.number * counted, shape).ravel()


def _shares(rows: _Rows, index: Sequence[Indices], shape: tuple[int, ...], counted: Flags) -> Array:
    """The two cells of every row of a table of the reward."""
    lost, won = (rows.number - rows.earned) * counted, rows.earned * counted
    return np.stack([sums(index, lost, shape[:-1]), sums(index, won, shape[:-1])], axis=-1).ravel()


def _moments(rows: _Rows, index: Sequence[Indices], shape: tuple[int, ...], counted: Flags) -> Array:
    """The number of outcomes and the sums of powers in every row of a table of the reward."""
    return np.stack([sums(index, each * counted, shape[:-1]) for each in (rows.number, *rows.powers)], axis=-1).ravel()


def _rows(problem: Problem, source: Source, variables: Iterable[str]) -> _Rows:
    """The log, grouped by these variables and what was done."""
    kept = tuple(variables)
    tells = INTERVENTION in source.columns and INTERVENTION not in problem.graph.variables
    measured = problem.reward if problem.reward_is_continuous else None
    set_too = _variables_set(problem, source) if tells else ()
    asked = dict.fromkeys((*kept, *set_too, *(() if measured else (problem.reward,))))
    found = source.group((*asked, *((INTERVENTION,) if tells else ())), measured)
    codes = {v: found.codes(v, problem.domains[v]) for v in asked}
    arms = _arms(problem, found, codes) if tells else np.zeros(len(found.weights), dtype=np.intp)
    if measured:
        rewards = found.measured_within(measured, *problem.measured_ends)
        return _rewarded(problem, arms, codes, found.weights, rewards, rewards.sums(found.weights))
    worth = np.array(problem.reward_values)[codes[problem.reward]]
    rewards = Measured.of_numbers(worth, found.weights)
    return _rewarded(problem, arms, codes, found.weights, rewards, worth * found.weights)


def _rewarded(
    problem: Problem, arms: Indices, codes: dict[str, Indices], number: Array, rewards: Measured, earned: Array
) -> _Rows:
    powers = rewards.powers * (problem.utility_slope ** np.arange(1, 1 + MOMENTS))[:, np.newaxis]
    reference, *ends = problem.utility(np.array([rewards.reference, rewards.least, rewards.most])).tolist()
    return _Rows(arms, codes, number, problem.utility(earned, number), powers, reference, min(ends))


def _variables_set(problem: Problem, source: Source) -> tuple[str, ...]:
    """The variables that were intervened on in the log: their values are checked."""
    refuse_interventions(source, lambda done: _fault(problem, done))
    done = set(source.group((INTERVENTION,)).columns[0])
    arms = [_arm(problem, value) for value in done]
    return tuple(dict.fromkeys(v for k in arms for v in problem.arms[k].variables))


def _arms(problem: Problem, found: Grouped, codes: dict[str, Indices]) -> Indices:
    place = {value: _arm(problem, value) for value in set(found.columns[-1])}
    arms = np.array([place[value] for value in found.columns[-1]], dtype=np.intp)
    faults = list[Fault]()
    for k in sorted(set(place.values()) - {0}):
        for variable, code in problem.arms[k].codes(problem.domains).items():
            rows = found.weights * (arms == k)
            other = np.bincount(codes[variable], rows, len(problem.domains[variable]))
            values = zip(problem.domains[variable], other, strict=True)
            seen = [f"{value} in {counted(n, 'row')}" for i, (value, n) in enumerate(values) if n and i != code]
            if seen:
                what = f"column {INTERVENTION}: {problem.arms[k]}, but {variable} is {listing(seen)}"
                faults.append(Fault(what, "correct the rows or what was done"))
    if faults:
        raise refusal(found.source, faults)
    return arms


def _arm(problem: Problem, done: Value | None) -> int:
    """The place of an arm that the log names."""
    arm = Arm() if nothing_done(done) else Arm.parse(str(done)).within(problem.domains)
    if arm not in problem.arms:
        raise ArmError(f"{arm} is not an arm of the problem; drop these rows or add the arm")
    return problem.arms.index(arm)


def _fault(problem: Problem, done: Value | None) -> str | None:
    try:
        _arm(problem, done)
    except ArmError as error:
        return str(error)
    return None
