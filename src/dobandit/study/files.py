"""Outcomes from files and into files.

A column is named after the variable whose values it holds. Beside the variables there are columns of ours; where a
variable has the name of one of them, ours is called `pull id`, `pull cost` and so on, which no variable can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from dobandit.errors import DataError, DobanditError
from dobandit.evidence import INTERVENTION, Source, check_form, write_columns
from dobandit.files import new_file
from dobandit.problem import Problem, Value, label
from dobandit.study import facts
from dobandit.study.corrections import withdrawn
from dobandit.study.events import Event, said

Row = dict[str, Any]
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


def read_outcomes(source: Source, problem: Problem) -> list[tuple[int, dict[str, Value]]]:
    """The rows of a file: the column `id` says which pull, one column for every observed variable.

    Other columns are for people, and not read. The outcomes come in the order of their pulls, because what is asked
    next depends on it, and the order in which many threads read a file is chance.
    """
    variables, id_column = problem.graph.variables, columns(problem)["id"]
    found = source.group((id_column, *(problem.columns.get(v, v) for v in variables)))
    place = f"{source.name}: column {id_column}"
    rows = [(_id(pull, place), values) for pull, *values in zip(*found.columns, strict=True)]
    rows.sort(key=lambda row: (row[0], [*map(label, row[1])]))
    if not rows:
        raise DataError(f"{source.name}: there are no outcomes in this file")
    return [(pull, dict(zip(variables, values, strict=True))) for pull, values in rows]


def _id(value: Value, place: str) -> int:
    text = label(value)
    if not text.isdecimal():
        raise DataError(f"{place} has {text or 'an empty cell'}, and not the number of a pull")
    return int(text)


def outcome_rows(events: Sequence[Event], problem: Problem) -> list[Row]:
    """Every outcome that counts, one row each, in the order of the pulls. What was done is in the column
    `intervention`, so that another study can `observe` the file."""
    name, gone, rows = columns(problem), withdrawn(events), dict[int, Row]()
    for event in events:
        fact = event.fact
        if not isinstance(fact, facts.AboutPull) or fact.pull in gone:
            continue
        if isinstance(fact, facts.Begun):
            worker = fact.worker if isinstance(fact, facts.Asked) else ""
            ours = (fact.pull, str(problem.arms[fact.arm]), problem.costs[fact.arm], worker, _written(event.time))
            rows[fact.pull] = dict(zip(name.values(), ours, strict=False))
        if isinstance(fact, facts.Result):
            rows[fact.pull] |= {name["told"]: _written(event.time), **fact.outcome}
    return [row for row in rows.values() if name["told"] in row]


def spending(events: Sequence[Event], problem: Problem) -> list[tuple[float, float]]:
    """When money was spent, and how much by then: with the outcome of a pull, or when it was withdrawn without one.
    What came back was never spent."""
    arms, costs = {fact.pull: fact.arm for fact in said(events, facts.Begun)}, np.array(problem.costs, dtype=float)
    settled = {pull for pull, costs_nothing in withdrawn(events).items() if costs_nothing}
    spent, found = 0.0, []
    for event in events:
        fact = event.fact
        if isinstance(fact, facts.Told | facts.Recorded | facts.Withdrawn) and fact.pull not in settled:
            settled.add(fact.pull)
            spent += float(costs[arms[fact.pull]])
            found.append((event.time, spent))
    return found


def write_rows(path: Path, rows: Sequence[Row], problem: Problem) -> None:
    """A CSV, JSON or Parquet file, by the ending of its name; an existing one is not touched."""
    kinds = _kinds(problem)
    check_form(path, kinds)
    with new_file(path) as draft:
        write_columns(draft, {name: np.array([row[name] for row in rows], kind) for name, kind in kinds.items()})


def _kinds(problem: Problem) -> dict[str, type]:
    """The columns of a file and what they hold: values are texts, but a reward may be a number."""
    ours = columns(problem)
    kinds: dict[str, type] = dict.fromkeys([*ours.values(), *problem.graph.variables], object)
    kinds |= {ours["id"]: np.int64, ours["cost"]: float}
    return kinds | ({problem.reward: float} if problem.reward_is_continuous else {})


def _written(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
