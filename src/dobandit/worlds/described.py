"""The world that the table `[world]` of a problem file describes.

| model | keys |
|---|---|
| xor | `seed` |
| random | `seed`, `concentration` |
| parallel | `n`, `p`, `epsilon` |
| bif | `path`, `hide` |
| tables | `file`, or `tables` and `hidden` in place |

`seed` and `redraw` may stand beside any model; where nothing is drawn they change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dobandit.errors import WorldError, listing
from dobandit.problem import BINARY, Faults, Problem, is_number
from dobandit.worlds.families import parallel, random, xor
from dobandit.worlds.model import World
from dobandit.worlds.networks import from_bif
from dobandit.worlds.tabulated import from_mapping, read_tables

Keys = Mapping[str, Any]


def of(problem: Problem, seed: int | None = None) -> World:
    """The world that the problem describes in `[world]`, its values in the problem's order.

    Parameters
    ----------
    problem
        The problem.
    seed
        In place of the one in the file: with `redraw`, every trial has its own.

    >>> problem = Problem("X -> Y", "Y", budget=9, world={"model": "xor", "seed": 1})
    >>> of(problem).means(problem).round(3)
    array([0.712, 0.2  , 0.8  ])
    """
    if problem.world is None:
        raise WorldError('the problem describes no world: add [world] with model = "xor" or another one')
    problem.require_values()
    keys = dict(problem.world)
    faults = Faults()
    model = keys.pop("model", None)
    if not isinstance(model, str) or model not in _MODELS:
        wrong = "is missing: name the model of the world" if model is None else f"there is no model {model}"
        faults.unknown(("world", "model"), wrong, str(model), _MODELS)
        faults.raise_any()
    make, known = _MODELS[str(model)]
    for key, value in keys.items():
        place = ("world", str(key))
        if key not in (kinds := {**_COMMON, **known}):
            faults.unknown(place, f"unknown key of the model {model}", str(key), kinds)
        elif not kinds[key][1](value):
            faults.add(place, f"expected {kinds[key][0]}, not {value!r}")
    faults.raise_any()
    stated = int(keys.pop("seed", 0))
    keys.pop("redraw", None)
    return make(problem, keys, stated if seed is None else seed).fit(problem)


def _xor(problem: Problem, keys: Keys, seed: int) -> World:
    return _labelled(xor(problem.full_graph, seed), problem)


def _parallel(problem: Problem, keys: Keys, seed: int) -> World:
    return _labelled(parallel(**{"n": len(problem.full_graph.variables) - 1, **keys}), problem)


def _random(problem: Problem, keys: Keys, seed: int) -> World:
    return random(problem.full_graph, seed, problem.known_values, **keys)


def _bif(problem: Problem, keys: Keys, seed: int) -> World:
    return from_bif(_file(problem, keys, "path"), hide=keys.get("hide", ()))


def _tables(problem: Problem, keys: Keys, seed: int) -> World:
    if "tables" in keys and "file" not in keys:
        return from_mapping(keys, problem.full_graph, problem.known_values)
    return read_tables(_file(problem, keys, "file"), problem.full_graph, problem.known_values)


def _file(problem: Problem, keys: Keys, key: str) -> Path:
    if key not in keys:
        raise WorldError(f'world.{key}: is missing: name the file, such as {key} = "model.bif"')
    return (problem.folder or Path()) / str(keys[key])


def _labelled(world: World, problem: Problem) -> World:
    """A world of zeros and ones with the problem's names for them."""
    names = {v: _names_of_binary(problem, v) for v in problem.domains if v in world.domains}
    return replace(world, domains={**world.domains, **names})


def _names_of_binary(problem: Problem, variable: str) -> tuple[str, ...]:
    """What 0 and 1 are called: the values in their order, the reward's by their worth."""
    values = problem.known_values[variable]
    if len(values) != 2:
        raise WorldError(
            f"world.model: the variables of this model have two values, but {variable} has {listing(values)}"
        )
    if set(values) == set(BINARY):
        return BINARY
    if variable != problem.reward:
        return values
    worth = dict(zip(values, problem.reward_values, strict=True))
    return tuple(sorted(values, key=worth.__getitem__))


def _is_list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list | tuple) and all(map(check, value))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


Check = Callable[[object], bool]
Kind = tuple[str, Check]  # what a key expects, in words and as a check

TEXT: Kind = ("a text", lambda value: isinstance(value, str))
TABLE: Kind = ("a table", lambda value: isinstance(value, Mapping))
WHOLE: Kind = ("a whole number", _is_whole)
NUMBER: Kind = ("a number", is_number)
_COMMON: Mapping[str, Kind] = {"seed": WHOLE, "redraw": ("true or false", lambda value: isinstance(value, bool))}
_MODELS: Mapping[str, tuple[Callable[[Problem, Keys, int], World], Mapping[str, Kind]]] = {
    "xor": (_xor, {}),
    "parallel": (_parallel, {"n": WHOLE, "p": ("a list of numbers", _is_list_of(is_number)), "epsilon": NUMBER}),
    "random": (_random, {"concentration": NUMBER}),
    "bif": (_bif, {"path": TEXT, "hide": ("a list of variables", _is_list_of(TEXT[1]))}),
    "tables": (_tables, {"file": TEXT, "tables": TABLE, "hidden": TABLE}),
}
