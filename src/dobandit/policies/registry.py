"""Finding policies by name: every `Policy` of this package that has a name."""

from __future__ import annotations

import math
import re
from dataclasses import Field, fields, is_dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import dobandit.policies
from dobandit.errors import PolicyError, did_you_mean, listing
from dobandit.policies.protocol import Policy
from dobandit.problem import Objective, Problem

_SPEC = re.compile(r"\s*([^\[\]]+?)\s*(?:\[(.*)\])?\s*")
RECOMMENDED: dict[Objective, str] = {"cumulative": "causal-thompson", "simple": "causal-explore"}
ORDER = (  # the rest follows by name
    *("causal-thompson", "paper-cumulative", "crm", "crm-nb", "f-kube", "ucb", "thompson"),
    *("causal-explore", "paper-simple", "srm", "gamma-nb", "parallel-bandit", "successive-rejects", "sh-rr", "uniform"),
)


@cache
def registered() -> dict[str, type[Policy]]:
    """All policies by name, the paper's first."""
    found: dict[str, type[Policy]] = {}
    for module in iter_modules(dobandit.policies.__path__, "dobandit.policies."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Policy) and "name" in vars(value):
                found[value.name] = value
    return {name: found[name] for name in (*ORDER, *sorted(found.keys() - set(ORDER)))}


def policies_for(objective: str, problem: Problem | None = None) -> list[str]:
    """The policies for an objective; with a problem, those that can play its arms and learn from its reward."""
    fitting = [kind for kind in registered().values() if kind.objective == objective]
    return [kind.name for kind in fitting if problem is None or not _obstacle(kind, problem)]


def left_out(objective: str, problem: Problem) -> list[str]:
    """Why which policies for an objective do not fit a problem, as sentences."""
    found: dict[str, list[str]] = {}
    for kind in registered().values():
        if kind.objective == objective and (obstacle := _obstacle(kind, problem)):
            found.setdefault(obstacle, []).append(kind.name)
    return [f"left out, because the policy {obstacle}: {', '.join(names)}" for obstacle, names in found.items()]


def check_fits(made: Policy, problem: Problem) -> None:
    """Refuse a policy that is not defined for the arms of a problem, or for its reward."""
    if obstacle := _obstacle(type(made), problem):
        able = listing(policies_for(made.objective, problem))
        raise PolicyError(f"{made.name} {obstacle}, which this problem lacks; {able} can play it")


def _obstacle(kind: type[Policy], problem: Problem) -> str | None:
    """What a policy needs that a problem does not have."""
    has_missing = any(problem.domains[v].has_missing for v in problem.intervenable)  # a value that no arm sets
    if kind.single_variables_only and (has_missing or not problem.sets_single_variables):
        return "is defined for arms that set a single variable, with an arm for each of its values"
    if kind.needs_range and not problem.has_range:
        return "needs rewards between two known ends ([reward] range = [0, 500])"
    return None


def policy(spec: str | Policy) -> Policy:
    """The policy that a text such as `f-kube[as_published=true]` names, or the policy itself."""
    if isinstance(spec, Policy):
        return spec
    if not isinstance(spec, str):
        raise PolicyError(
            f"a policy is a name such as 'f-kube' or an object of a class derived from dobandit.policies.Policy, "
            f"not {spec!r}"
        )
    parsed = _SPEC.fullmatch(spec)
    name = _plain(parsed[1] if parsed else spec)
    known = {_plain(n): kind for n, kind in registered().items()}
    if parsed is None or name not in known:
        hint = did_you_mean(name, known, most=3) or f"there are {listing(registered())}"
        raise PolicyError(f"there is no policy {spec!r}; {hint}")
    kind = known[name]
    return kind(**_options(spec, kind, parsed[2] or ""))


def spec_of(made: Policy) -> str:
    """The name of a policy with the options that differ from the usual ones."""
    options = [
        f"{f.name}={_written(getattr(made, f.name))}" for f in _fields(type(made)) if getattr(made, f.name) != f.default
    ]
    return made.name + (f"[{','.join(options)}]" if options else "")


def name_of(made: Policy) -> str:
    """The text that makes this very policy once more, for those who keep it by its name."""
    if registered().get(made.name) is not type(made):
        raise PolicyError(
            f"a policy of your own ({made.name}) runs in simulate, but a study is reopened by the name of its policy; "
            f"name one of {listing(policies_for(made.objective))}"
        )
    spec = spec_of(made)
    try:
        same = policy(spec) == made
    except PolicyError:
        same = False
    if not same:
        raise PolicyError(
            f"{made!r} cannot be written as a text such as {made.name}[...], which a study is reopened by"
        )
    return spec


def _options(spec: str, kind: type[Policy], text: str) -> dict[str, Any]:
    known = {f.name: f for f in _fields(kind)}
    options: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        key, equals, value = part.partition("=")
        key = key.strip().replace("-", "_").lower()
        if not equals or key not in known:
            raise PolicyError(f"{spec!r}: unknown option {key!r}; {kind.name} has {listing(known)}")
        options[key] = _read(spec, known[key], value.strip())
    return options


def _read(spec: str, option: Field[Any], text: str) -> object:
    """The value of an option, by the kind of its default; its choices are in the field's metadata."""
    choices = option.metadata.get("choices")
    if choices is not None:
        if text not in choices:
            raise PolicyError(f"{spec!r}: {option.name} is {' or '.join(choices)}, not {text!r}")
        return text
    if isinstance(option.default, bool):
        if text.lower() not in ("true", "false"):
            raise PolicyError(f"{spec!r}: {option.name} is true or false, not {text!r}")
        return text.lower() == "true"
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise PolicyError(f"{spec!r}: {option.name} is a number, at least 0, not {text!r}")
    return number


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fields(kind: type[Any]) -> tuple[Field[Any], ...]:
    return fields(kind) if is_dataclass(kind) else ()


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")
