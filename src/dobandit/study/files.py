"""Outcomes from files and into files.

A column is named after the variable whose values it holds. Beside the variables there are columns of ours; where a
variable has the name of one of them, ours is called `pull id`, `pull cost` and so on, which no variable can be.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import DataError, DobanditError
from dobandit.evidence import INTERVENTION, Source, check_form, write_columns
from dobandit.files import new_file
from dobandit.printable import shortened
from dobandit.problem import MISSING, Domain, Problem, Value, is_missing, is_numeral, label
from dobandit.study import facts
from dobandit.study.outcomes import UNKNOWN, OutcomeRow, written
from dobandit.study.pulls import is_whole

OURS = ("id", INTERVENTION, "cost", "worker", "begun", "told")


def columns(problem: Problem) -> dict[str, str]:
    """What our columns are called beside the variables of this problem; Parquet files do not know X from x."""
    taken = {variable.lower() for variable in problem.graph.variables}
    return {name: f"pull {name}" if name in taken else name for name in OURS}


def check_columns(problem: Problem) -> None:
    """No study has a variable that logs could not have: the column of this name says what was done in a row."""
    for variable in problem.graph.variables:
        if variable.lower() == INTERVENTION:
            raise DobanditError(
                f"a variable of a study cannot be called {variable}: in logs and exports, the column {INTERVENTION} "
                "says what was done; give it another name"
            )


def read_outcomes(source: Source, problem: Problem) -> tuple[list[OutcomeRow], list[str]]:
    """The rows of a file: the column `id` says which pull, one column for every observed variable; and what is wrong
    with the column `id`. A pull that is there twice with the same outcome is a warning. A variable that pulls set needs
    no column where they do.

    Other columns are for people, and not read. The outcomes come in the order of their pulls, because what is asked
    next depends on it, and the order in which many threads read a file is chance.
    """
    id_column, column_of = columns(problem)["id"], _columns_of(source, problem)
    found = source.group((id_column, *column_of.values()))
    places, last = dict[str, str](), dict[str, str]()
    for occurrence in source.values(id_column):
        pull, first, end = label(occurrence.value), occurrence.first, occurrence.last
        places.setdefault(pull, source.name + ("" if first is None else f", {source.where(first)}"))
        last[pull] = "" if end is None else f" (again in {source.where(end)})"
    by_pull, faults = dict[int, list[OutcomeRow]](), list[str]()
    for (pull, *values), number in zip(zip(*found.columns, strict=True), found.weights, strict=True):
        if is_whole(text := label(pull)):
            row = OutcomeRow(int(text), dict(zip(column_of, values, strict=True)), places[text], last[text])
            by_pull.setdefault(row.pull, []).extend([row] * int(number))
        else:
            faults.append(f"{places[text]}: column {id_column} has {_shown(pull)}, and not the number of a pull")
    if not (by_pull or faults):
        raise DataError(f"{source.name}: there are no outcomes in this file")
    rows = [_only_row(by_pull[pull], problem, faults) for pull in sorted(by_pull)]
    return rows, faults


def _columns_of(source: Source, problem: Problem) -> dict[str, str]:
    """The column of every variable; what is set by pulls may have none."""
    settable = {v for arm in problem.arms for v in arm.variables}
    named = {v: [problem.columns.get(v, v), v] for v in problem.graph.variables}
    found = {v: next((name for name in names if name in source.columns), None) for v, names in named.items()}
    return {v: found[v] or named[v][0] for v in named if found[v] or v not in settable}


def _only_row(rows: Sequence[OutcomeRow], problem: Problem, faults: list[str]) -> OutcomeRow:
    """The row of a pull. If there are several, that is said, and it is a fault if they differ."""
    texts = {written({v: problem.domains[v].meant(value) for v, value in row.values.items()}): row for row in rows}
    if len(texts) > 1:
        ways = " and with ".join(sorted(texts))
        twice = f"{rows[0].place}: pull {rows[0].pull} is in this file twice{rows[0].last}"
        faults.append(f"{twice}, with {ways}; keep the right one")
    elif len(rows) > 1:
        warnings.warn(
            f"{rows[0].place}: pull {rows[0].pull} is in this file {len(rows)} times, with the same outcome; it counts "
            "once; if you meant another pull, correct its id",
            stacklevel=4,
        )
    return texts[min(texts)]


def _shown(value: Value | None) -> str:
    text = "an empty cell" if is_missing(value) else label(value)
    return shortened(text)


class Shown(NamedTuple):
    """What an export shows of a fact: the arm and the worker of a new pull, and the values of an outcome."""

    arm: int | None
    worker: str
    values: tuple[str, ...] | None


def shown(problem: Problem, fact: facts.Fact) -> Shown:
    outcome = fact.outcome if isinstance(fact, facts.Result) else None
    return Shown(
        fact.arm if isinstance(fact, facts.Begun) else None,
        fact.worker if isinstance(fact, facts.Asked) else "",
        None if outcome is None else tuple(outcome[v] for v in problem.graph.variables),
    )


def outcome_columns(
    said: Iterable[tuple[int, float, Shown]], gone: Collection[int], problem: Problem
) -> dict[str, list[Any]]:
    """Every outcome that counts, in the order of the pulls, as columns; pulls that were withdrawn are `gone`. What was
    done is in the column `intervention`, so that another study can `observe` the file."""
    variables, arms = problem.graph.variables, [str(arm) for arm in problem.arms]
    done, workers, begun, told = dict[int, int](), dict[int, str](), dict[int, float](), dict[int, float]()
    outcomes = dict[int, tuple[str, ...]]()
    for pull, time, (arm, worker, values) in said:
        if arm is not None:
            done[pull], workers[pull], begun[pull] = arm, worker, time
        if values is not None and pull not in gone:
            told[pull], outcomes[pull] = time, values
    pulls = sorted(told)
    ours: tuple[list[Any], ...] = (
        pulls,
        [arms[done[pull]] for pull in pulls],
        [problem.costs[done[pull]] for pull in pulls],
        [workers[pull] for pull in pulls],
        _written([begun[pull] for pull in pulls]),
        _written([told[pull] for pull in pulls]),
    )
    theirs = {v: [outcomes[pull][k] for pull in pulls] for k, v in enumerate(variables)}
    return dict(zip(columns(problem).values(), ours, strict=True)) | theirs


def write_outcomes(path: Path, found: Mapping[str, Sequence[Any]], problem: Problem, origin: Mapping[str, str]) -> None:
    """A CSV, JSON or Parquet file, by the ending of its name; an existing one is not touched. `origin` says which study
    this is, the same in all rows."""
    kinds, domains = _kinds(problem), {v: problem.domains[v] for v in problem.graph.variables}
    last = {_free(name, kinds): value for name, value in origin.items()}
    check_form(path, {**kinds, **last})
    number = len(next(iter(found.values())))
    with new_file(path) as draft:
        made = {name: _column(found[name], kind, domains.get(name)) for name, kind in kinds.items()}
        write_columns(draft, made | {name: np.full(number, value, dtype=object) for name, value in last.items()})


def _free(name: str, taken: Iterable[str]) -> str:
    return f"pull {name}" if name in {other.lower() for other in taken} else name


def _column(values: Sequence[Any], kind: type, domain: Domain | None) -> NDArray[Any]:
    """Values of one kind; where the value of a variable is missing, the column has None in its place."""
    if domain is None:
        return np.array(values, dtype=object if kind is str else kind)
    blanks = (UNKNOWN, MISSING) if domain.has_missing else (UNKNOWN,)
    known = {value: None if value in blanks else kind(value) for value in set(values)}
    made = [known[value] for value in values]
    return np.array(made, dtype=object if kind is str or None in known.values() else kind)


def _kinds(problem: Problem) -> dict[str, type]:
    """The columns of a file and what they hold. What is a number for the problem is a number in the file."""
    ours = columns(problem)
    kinds: dict[str, type] = dict.fromkeys(ours.values(), str) | {ours["id"]: int, ours["cost"]: float}
    kinds |= {v: _kind(problem.domains[v].known) for v in problem.graph.variables}
    return kinds | ({problem.reward: float} if problem.reward_is_continuous else {})


def _kind(domain: Sequence[str]) -> type:
    """What all values of a domain are: whole numbers, numbers or texts."""
    if not all(map(is_numeral, domain)):
        return str
    return int if all(is_whole(value.removeprefix("-")) for value in domain) else float


def _written(times: Sequence[float]) -> list[str]:
    """Seconds since 1970 as ISO 8601 with milliseconds."""
    moments = (np.array(times) * 1000).astype("datetime64[ms]")
    return [f"{text}+00:00" for text in np.datetime_as_string(moments).tolist()]
