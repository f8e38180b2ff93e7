"""Any discrete model, from tables in Python or in a JSON or TOML file.

A file has a table `tables` with an entry for every variable of the graph, and where there are hidden
causes a table `hidden`. `inputs` lists observed and hidden parents in the order of the axes of
`table`, whose innermost lists are the distributions of the variable:

    {"hidden": {"U": {"prior": [0.4, 0.6], "children": ["X", "Y"]}},
     "tables": {"X": {"inputs": ["U"], "table": [[0.9, 0.1], [0.2, 0.8]]},
                "Y": {"inputs": ["X", "U"], "table": [[[0.7, 0.3], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9]]]}}}

The same in TOML: `[hidden.U]` with `prior` and `children`, `[tables.X]` with `inputs` and `table`; in a
problem file, `[world.hidden.U]` and `[world.tables.X]`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import WorldError, listing
from dobandit.files import read_text, unique_keys
from dobandit.graph import Graph, GraphLike, as_graph, normal
from dobandit.problem import Value
from dobandit.worlds.model import World
from dobandit.worlds.tables import Node, normalised, read_domains

Tables = Mapping[str, tuple[Iterable[str], Any]]
Hidden = Mapping[str, tuple[Any, Iterable[str]]]
Causes = Mapping[str, tuple[Array, tuple[str, ...]]]


def from_tables(
    graph: GraphLike,
    tables: Tables,
    hidden: Hidden | None = None,
    domains: Mapping[str, Iterable[Value]] | None = None,
) -> World:
    """The world with these tables.

    Parameters
    ----------
    graph
        The observed variables; `<->` stands for a hidden cause.
    tables
        For every variable its inputs, observed and hidden parents in the order of the array's axes, and the array,
        whose last axis is the variable itself.
    hidden
        For every hidden cause its prior and its observed children.
    domains
        Names of the values in the order of the axes; default: 0, 1, ...

    >>> world = from_tables(
    ...     "X -> Y; X <-> Y",
    ...     {
    ...         "X": (["U"], [[0.9, 0.1], [0.2, 0.8]]),
    ...         "Y": (["X", "U"], [[[0.7, 0.3], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9]]]),
    ...     },
    ...     {"U": ([0.4, 0.6], ["X", "Y"])},
    ... )
    >>> world.distribution(["Y"], "do(X=1)")
    array([0.22, 0.78])
    """
    graph = as_graph(graph)
    causes, read = _read(graph, {normal(v): entry for v, entry in tables.items()}, hidden or {})
    arrays = {name: _numbers(f"the table of {name}", table) for name, (_, table) in read.items()}
    labels = {name: tuple(map(str, range(array.shape[-1]))) for name, array in arrays.items()}
    labels |= read_domains(domains or {}, graph)
    cards = {name: len(prior) for name, (prior, _) in causes.items()} | {v: len(labels[v]) for v in labels}
    nodes = [Node(name, (), prior[np.newaxis]) for name, (prior, _) in causes.items()]
    for name, (inputs, _) in read.items():
        _check_shape(name, inputs, arrays[name], cards)
        nodes.append(Node(name, inputs, normalised(arrays[name][np.newaxis], name, inputs, labels)))
    return World(graph, tuple(nodes), labels)


def _read(graph: Graph, tables: Tables, hidden: Hidden) -> tuple[Causes, dict[str, tuple[tuple[str, ...], Any]]]:
    """The prior and the children of every hidden cause, the inputs and the table of every variable; they agree."""
    for name in [*graph.variables, *tables]:
        if name not in tables:
            raise WorldError(f"there is no table for {name}")
        if name not in graph:
            raise WorldError(f"there is a table for {name}, which is not a variable of the graph")
    causes = {name: _cause(name, entry, graph) for name, entry in hidden.items()}
    pairs = {name: _pair(f"the table of {name}", "inputs, array", tables[name]) for name in graph.variables}
    read = {name: (_names(f"the inputs of {name}", inputs), table) for name, (inputs, table) in pairs.items()}
    _check_inputs({name: inputs for name, (inputs, _) in read.items()}, causes, graph)
    return causes, read


def read_tables(path: Path, graph: Graph, domains: Mapping[str, Iterable[Value]]) -> World:
    """The world that a JSON or TOML file describes."""
    try:
        return from_mapping(_content(path), graph, domains)
    except WorldError as error:
        raise error if str(error).startswith(path.name) else WorldError(f"{path.name}: {error}") from None


def from_mapping(content: Mapping[str, Any], graph: Graph, domains: Mapping[str, Iterable[Value]]) -> World:
    """The world that the keys `tables` and `hidden` describe, as a file or a `[world]` has them."""
    for key in content.keys() - {"hidden", "tables"}:
        raise WorldError(f"unknown key {key}; the known keys are hidden and tables")
    hidden = _entries(content.get("hidden", {}), "hidden", ("prior", "children"))
    tables = _entries(content.get("tables", {}), "tables", ("inputs", "table"))
    return from_tables(graph, tables, hidden, domains)


def _content(path: Path) -> dict[str, Any]:
    text = read_text(path)
    try:
        parsed = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        place = f"{path.name}, line {error.lineno}, column {error.colno}"
        raise WorldError(f"{place}: this is not JSON: {error.msg.lower()}") from None
    except (ValueError, RecursionError) as error:
        raise WorldError(f"{path.name}: this cannot be read: {error}") from None
    if not isinstance(parsed, dict):
        raise WorldError(f"{path.name}: expected a table with the keys hidden and tables")
    return parsed


def _entries(table: Any, place: str, keys: tuple[str, str]) -> dict[str, tuple[Any, Any]]:
    if not isinstance(table, dict):
        raise WorldError(f"{place}: expected a table of names, not {table!r}")
    for name, entry in table.items():
        if not isinstance(entry, dict) or set(entry) != set(keys):
            raise WorldError(f"{place}.{name}: expected the two keys {listing(keys)}")
    return {name: (entry[keys[0]], entry[keys[1]]) for name, entry in table.items()}


def _pair(what: str, parts: str, entry: Any) -> tuple[Any, Any]:
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        raise WorldError(f"{what} is a pair ({parts}), not {entry!r}")
    return entry[0], entry[1]


def _cause(name: str, entry: Any, graph: Graph) -> tuple[Array, tuple[str, ...]]:
    """The prior and the children of a hidden cause."""
    given, children = _pair(f"the hidden cause {name}", "prior, children", entry)
    if name in graph:
        raise WorldError(f"{name} is a variable of the graph; a hidden cause needs another name")
    prior = _numbers(f"the prior of {name}", given)
    if prior.ndim != 1:
        raise WorldError(f"the prior of {name} is one row of numbers, not {prior.ndim} axes")
    return normalised(prior[np.newaxis], name, (), {})[0], _names(f"the children of {name}", children)


def _names(what: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise WorldError(f"{what}: expected a list of names, not {given!r}")
    names = tuple(normal(name) if isinstance(name, str) else name for name in given)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise WorldError(f"{what}: expected different names, not {list(names)!r}")
    return names


def _check_inputs(read: Mapping[str, tuple[str, ...]], causes: Causes, graph: Graph) -> None:
    """What the tables read is what the graph and the lists of children say."""
    for name, inputs in read.items():
        for v in inputs:
            if v in graph and v not in graph.parents(name):
                raise WorldError(f"the table of {name} reads {v}, but the graph has no edge {v} -> {name}")
            if v not in graph and v not in causes:
                raise WorldError(f"the table of {name} reads {v}, which is neither in the graph nor hidden")
    for cause, (_, children) in causes.items():
        reading = {name for name, inputs in read.items() if cause in inputs}
        if reading != set(children):
            raise WorldError(f"{cause} has the children {listing(children)}, but {listing(sorted(reading))} read it")
        for a, b in combinations(children, 2):
            if b not in graph.siblings(a):
                raise WorldError(f"{cause} acts on {a} and {b}, but the graph has no edge {a} <-> {b}")


def _check_shape(name: str, inputs: tuple[str, ...], table: Array, cards: Mapping[str, int]) -> None:
    expected = tuple(cards[v] for v in (*inputs, name))
    if table.shape != expected:
        axes = listing([*inputs, name])
        raise WorldError(f"the table of {name} has the shape {table.shape}, but its axes {axes} need {expected}")


def _numbers(what: str, given: Any) -> Array:
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError):
        array = np.asarray("ragged")
    if array.dtype.kind not in "iuf" or array.ndim == 0 or array.size == 0:
        raise WorldError(f"{what}: expected numbers in lists of equal lengths")
    return array.astype(float)
