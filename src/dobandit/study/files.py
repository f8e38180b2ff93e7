"""Outcomes from files and into files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from dobandit.errors import DataError, FileProblem, MissingExtra, StorageError
from dobandit.evidence.sources import open_file
from dobandit.problem import Problem, label
from dobandit.study.events import Event
from dobandit.study.tickets import as_datetime

Row = dict[str, Any]
FORMS = (".csv", ".json", ".parquet")


def read_outcomes(path: Path, problem: Problem) -> list[tuple[int, dict[str, object]]]:
    """The rows of a CSV or Parquet file: the column `id` says which pull, one column for every observed variable.

    Other columns are for people, and not read.
    """
    source, variables = open_file(path), problem.graph.variables
    found = source.group(("id", *variables))
    rows = list(zip(*found.columns, strict=True))
    if not rows:
        raise DataError(f"{path.name}: there are no outcomes in this file")
    return [(_id(row[0], path), dict(zip(variables, row[1:], strict=True))) for row in rows]


def _id(value: object, path: Path) -> int:
    text = label(value)
    if not text.isdecimal():
        raise DataError(f"{path.name}: column id has {text or 'an empty cell'}, and not the number of a pull")
    return int(text)


def outcome_rows(events: Sequence[Event], problem: Problem) -> list[Row]:
    """Every outcome that counts, one row each, in the order of the pulls. What was done is in the column
    `intervention`, so that another study can `observe` the file."""
    rows: dict[int, Row] = {}
    for event in events:
        pull, content = event.pull, event.content
        if event.kind in ("asked", "recorded") and pull is not None:
            arm = content["arm"]
            rows[pull] = {
                "id": pull,
                "intervention": str(problem.arms[arm]),
                "cost": problem.costs[arm],
                "worker": content.get("worker", ""),
                "begun": _written(event.time),
            }
        if "outcome" in content and pull is not None:
            rows[pull] |= {"told": _written(event.time), **content["outcome"]}
        if event.kind == "withdrawn" and pull is not None:
            del rows[pull]
    return [row for row in rows.values() if "told" in row]


def spending(events: Sequence[Event], problem: Problem) -> list[tuple[float, float]]:
    """When money was spent, and how much by then; refunds go back to the moment of the outcome."""
    refunded = {event.pull for event in events if event.kind == "withdrawn" and event.content["refund"]}
    lost = {event.pull for event in events if event.kind == "withdrawn"} - refunded
    arms = {event.pull: event.content["arm"] for event in events if event.kind in ("asked", "recorded")}
    told = {event.pull for event in events if event.kind in ("told", "recorded")}
    spent, found = 0.0, []
    for event in events:
        first = event.kind in ("told", "recorded") or (event.kind == "withdrawn" and event.pull in lost - told)
        if first and event.pull not in refunded:
            spent += float(problem.costs[arms[event.pull]])
            found.append((event.time, spent))
    return found


def write_rows(path: Path, rows: Sequence[Row], problem: Problem) -> None:
    """A CSV, JSON or Parquet file, by the ending of its name; an existing one is not touched."""
    names = ["id", "intervention", "cost", "worker", "begun", "told", *problem.graph.variables]
    form = path.suffix.lower()
    if form not in FORMS:
        raise FileProblem(f"{path}: the name of an export ends in .csv, .json or .parquet")
    if path.exists():
        raise FileProblem(f"{path} exists already; choose another name")
    try:
        if form == ".parquet":
            _write_parquet(path, names, rows)
        else:
            with path.open("x", encoding="utf-8", newline="") as out:
                _write_text(out, form, names, rows)
    except FileNotFoundError:
        raise FileProblem(f"{path}: its folder does not exist") from None
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def _write_text(out: TextIO, form: str, names: Sequence[str], rows: Sequence[Row]) -> None:
    if form == ".json":
        json.dump([{name: row[name] for name in names} for row in rows], out, indent=1)
        out.write("\n")
        return
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([row[name] for name in names] for row in rows)


def _write_parquet(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "data") from None
    kinds = {"id": "BIGINT", "cost": "DOUBLE"}
    columns = ", ".join(f'"{name}" {kinds.get(name, "VARCHAR")}' for name in names)
    try:
        with duckdb.connect() as base:
            base.execute(f"CREATE TABLE outcome ({columns})")
            if rows:
                marks = ", ".join("?" for _ in names)
                base.executemany(f"INSERT INTO outcome VALUES ({marks})", [[row[n] for n in names] for row in rows])
            base.execute("COPY outcome TO '{}' (FORMAT parquet)".format(str(path).replace("'", "''")))
    except duckdb.Error as error:
        raise StorageError(f"{path}: cannot be written: {str(error).splitlines()[0]}") from None


def _written(time: float) -> str:
    moment = as_datetime(time)
    return "" if moment is None else moment.isoformat(timespec="milliseconds")
