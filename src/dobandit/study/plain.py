"""Problems and arrays as plain data, so that a study opens without its TOML file and without running code from it."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import DobanditError, StudyError
from dobandit.graph import Graph
from dobandit.problem import NUMBER, Problem

STATED = ("bins", "columns", "missing", "stop")  # of a problem, written down where they are stated
KINDS = ("<f8", "<i8", "|b1")  # of numbers that arrays may have


def problem_to_plain(problem: Problem) -> dict[str, Any]:
    """Everything about a problem but the world that a simulation would need.

    >>> p = Problem("X -> Y", reward="Y", budget=100, default_cost=2)
    >>> problem_from_plain(problem_to_plain(p)) == p
    True
    """
    if problem.costs_are_drawn:
        raise DobanditError("a study needs the costs as numbers, and some are rules to draw them by: state every cost")
    full, worth = problem.full_graph, problem.reward_values
    how = (
        {"range": list(worth) if problem.has_range else "any"}
        if problem.reward_is_continuous
        else {"values": dict(zip(problem.domains[problem.reward], worth, strict=True))}
    )
    return {
        "variables": list(full.variables),
        "directed": sorted(map(list, full.directed)),
        "bidirected": sorted(map(list, full.bidirected)),
        "observed": list(problem.graph.variables),
        "reward": {"variable": problem.reward, **how},
        "budget": problem.budget,
        "objective": problem.objective,
        "goal": problem.goal,
        "domains": {v: list(values) or NUMBER for v, values in problem.domains.items()},
        "intervenable": list(problem.intervenable),
        "costs": {str(arm): cost for arm, cost in zip(problem.arms, problem.costs, strict=True)},
        **({} if problem.sets_single_variables else {"arms": [str(arm) for arm in problem.arms]}),
        **{key: stated for key in STATED if (stated := _stated(problem, key))},
    }


def _stated(problem: Problem, key: str) -> Any:
    """What a problem says about data and when to stop; nothing where it says nothing, as studies were before it
    could."""
    match key:
        case "bins":
            return {v: list(cuts) for v, cuts in problem.bins.items()}
        case "columns":
            return dict(problem.columns)
        case "stop":
            return None if problem.stop is None else problem.stop.to_plain()
    return None if problem.missing == "refuse" else problem.missing


def problem_from_plain(plain: Mapping[str, Any]) -> Problem:
    graph = Graph.from_edges(
        directed=map(tuple, plain["directed"]),
        bidirected=map(tuple, plain["bidirected"]),
        variables=plain["variables"],
    )
    everything = set(plain["observed"]) == set(graph.variables)
    keys = ("reward", "budget", "objective", "goal", "domains", "intervenable", "costs")
    stated = {key: plain[key] for key in keys} | {key: plain[key] for key in STATED if key in plain}
    if "arms" in plain:  # they tell what can be set
        stated |= {"arms": plain["arms"], "intervenable": None}
    return Problem(graph, observed=None if everything else plain["observed"], **stated)


def array_to_plain(array: NDArray[Any]) -> dict[str, Any]:
    """The bytes of an array as text: short, quick, and the same bits when they come back.

    >>> array_from_plain(array_to_plain(np.array([[0.1, 2.0]])))
    array([[0.1, 2. ]])
    """
    array = np.asarray(array)
    kind = {"f": "<f8", "i": "<i8", "b": "|b1"}[array.dtype.kind]
    data = b2a_base64(array.astype(kind, copy=False).tobytes(), newline=False).decode("ascii")
    return {"kind": kind, "shape": list(array.shape), "data": data}


def array_from_plain(plain: Mapping[str, Any]) -> NDArray[Any]:
    if plain["kind"] not in KINDS:
        raise StudyError(f"an array of {plain['kind']!r} is not part of any study: the file is damaged")
    data = a2b_base64(plain["data"], strict_mode=True)
    return np.frombuffer(data, dtype=plain["kind"]).reshape(plain["shape"]).copy()
