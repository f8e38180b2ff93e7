"""A problem as the TOML text that describes it, to send it to a service."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dobandit.graph import quoted
from dobandit.problem import Problem
from dobandit.study.plain import problem_to_plain


def problem_to_toml(problem: Problem) -> str:
    """Everything about a problem but the world that a simulation would need.

    >>> from dobandit.problem import parse_problem
    >>> p = Problem("X -> Y; X <-> Y", reward="Y", budget=100, default_cost=2)
    >>> parse_problem(problem_to_toml(p)) == p
    True
    """
    plain = problem_to_plain(problem)
    variables, observed = plain.pop("variables"), plain.pop("observed")
    arrows = [f"{quoted(a)} -> {quoted(b)}" for a, b in plain.pop("directed")]
    hidden = [f"{quoted(a)} <-> {quoted(b)}" for a, b in plain.pop("bidirected")]
    plain["graph"] = {"edges": "; ".join([*map(quoted, variables), *arrows, *hidden])}
    if set(observed) != set(variables):
        plain["observed"] = observed
    if "arms" in plain:  # they tell what can be set
        del plain["intervenable"]
    if "missing" in plain:
        plain["data"] = {"missing": plain.pop("missing")}
    if "stop" in plain:
        plain["stop"] = {key: value for key, value in plain["stop"].items() if value is not None}
    return "".join(f"{_text(key)} = {_toml(value)}\n" for key, value in plain.items())


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(key)} = {_toml(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
