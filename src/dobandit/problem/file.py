"""Problems from TOML files: every key goes to the argument of `Problem` of the same meaning, and every
fault comes back with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dobandit.errors import DobanditError, Fault, GraphError, ProblemError
from dobandit.files import read_text
from dobandit.graph import Graph, in_quotes, normal, read_file
from dobandit.problem.definition import Problem
from dobandit.problem.faults import Faults
from dobandit.problem.places import Places

KEYS = tuple(
    "objective goal budget horizon reward intervenable observed graph domains costs world "
    "columns bins data together most_at_once arms stop".split()
)


def load(path: Path) -> Problem:
    return _read(read_text(path), path, path.parent)


def parse_problem(text: str, name: str = "problem") -> Problem:
    r"""The problem that a TOML text describes; without a folder, it has no other files beside it.

    >>> parse_problem('budget = 9\nreward = "Y"\ngraph.edges = "X -> Y"').budget
    9.0
    """
    return _read(text, Path(name), None)


def _read(text: str, path: Path, folder: Path | None) -> Problem:
    import tomllib  # a study has its problem in it, and reads none

    try:
        table = tomllib.loads(text + "\n")  # so that even the end of the text has a line
    except tomllib.TOMLDecodeError as error:
        raise ProblemError([], [f"{path}, {_toml_place(str(error))}"]) from None
    except RecursionError:
        raise ProblemError([], [f"{path}: the tables are nested too deeply"]) from None
    except ValueError as error:  # a number with thousands of digits
        raise ProblemError([], [f"{path}: this is not TOML: {str(error).partition(';')[0].lower()}"]) from None
    places = Places(normal(text))
    faults = Faults()
    problem = _build(table, folder, places, faults)
    if problem is None or faults.found:
        raise _with_places(faults.found, path, places)
    return problem


def located(error: ProblemError, path: Path) -> ProblemError:
    """The same faults with their lines in the file, for faults that are found when the file has long been read."""
    return _with_places(error.faults, path, Places(normal(read_text(path))))


def _with_places(faults: Sequence[Fault], path: Path, places: Places) -> ProblemError:
    found = sorted(faults, key=lambda fault: places.line(fault.place))
    return ProblemError(found, [f"{path}{places.of(f.place)}: {_key(f.place)}{f.message}" for f in found])


_FILE_NAMES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("default_cost",): ("costs", "default"),
    ("missing",): ("data", "missing"),
}
_NO_EDGES = (
    "no arrows are drawn yet, so nothing acts on anything: add lines such as Ad -> Sale (Ad acts on Sale) or "
    "Ad <-> Sale (a hidden cause acts on both), with the names of your variables"
)
_WITHOUT_A_GRAPH = ("objective", "goal", "budget", "horizon", "stop")  # what can be checked when the graph is broken


def _build(table: dict[str, Any], folder: Path | None, places: Places, faults: Faults) -> Problem | None:
    given = {key: value for key, value in faults.mapping(table, (), KEYS).items() if key in KEYS}
    graph = _graph(given.pop("graph", None), folder, places, faults)
    costs = dict(faults.mapping(given.pop("costs", None), ("costs",)))
    if "default" in costs:
        given["default_cost"] = costs.pop("default")
    data = faults.mapping(given.pop("data", None), ("data",), ("missing",))
    if "missing" in data:
        given["missing"] = data["missing"]
    try:
        return Problem(graph or Graph(), costs=costs, folder=folder, **given)
    except ProblemError as error:
        # A key that is broken in the file is not blamed a second time.
        judged = set(KEYS if graph else _WITHOUT_A_GRAPH) - {fault.place[0] for fault in faults.found}
        renamed = [Fault(_FILE_NAMES.get(f.place, f.place), f.message) for f in error.faults]
        faults.found += [f for f in renamed if f.place[0] in judged]
        return None


def _graph(stated: object, folder: Path | None, places: Places, faults: Faults) -> Graph | None:
    """The graph of `[graph]`, from its edges or from a file beside the problem."""
    table = faults.mapping(stated, ("graph",), ("edges", "file"))
    if ("edges" in table) == ("file" in table):
        faults.add(("graph",), 'give edges = "X -> Y", or file = "graph.dot"; one of them')
        return None
    key = "edges" if "edges" in table else "file"
    if not isinstance(table[key], str):
        faults.add(("graph", key), f"expected a text, not {table[key]!r}")
        return None
    if key == "file" and folder is None:
        faults.add(("graph", key), "files beside the problem are not read here: write the graph as edges")
        return None
    try:
        graph = Graph(table[key]) if folder is None or key == "edges" else read_file(folder / table[key])
        if len(graph.variables) > 1 and not graph.directed and not graph.bidirected:
            faults.add(("graph", key), _NO_EDGES)
            return None
        return graph
    except DobanditError as error:
        place = ("graph", key)
        if key == "edges" and isinstance(error, GraphError) and error.line and error.column:
            places.pin(place, error.line, error.column)
            faults.add(place, error.message)
        else:
            faults.add(place, str(error))
    return None


def _key(place: tuple[str, ...]) -> str:
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else in_quotes(part) for part in place) + ": "


def _toml_place(message: str) -> str:
    """`line 3, column 5: ...` from the parser's `... (at line 3, column 5)`."""
    found = re.fullmatch(r"(.*) \(at (line \d+, column \d+|end of document)\)", message, re.DOTALL)
    return f"{found[2]}: {found[1][0].lower()}{found[1][1:]}" if found else f"not TOML: {message}"
