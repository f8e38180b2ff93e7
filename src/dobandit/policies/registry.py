"""Finding policies by name: every `Policy` of this package that has a name, and plug-ins."""

from __future__ import annotations

import math
import re
from dataclasses import Field, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any

import dobandit.policies
from dobandit.errors import MissingPolicy, PolicyError, did_you_mean, listing
from dobandit.policies.plug_ins import Kind, checked, imported, is_place, loaded, offered, place_of
from dobandit.policies.protocol import Policy
from dobandit.policies.scalar import Chooses, ScalarPolicy
from dobandit.problem import Objective, Problem

_SPEC = re.compile(r"\s*([^\[\]]+?)\s*(?:\[(.*)\])?\s*")
PolicyLike = str | Policy | type[Policy] | Chooses
RECOMMENDED: dict[Objective, str] = {"cumulative": "causal-thompson", "simple": "causal-explore"}
ORDER = (  # the rest follows by name
    *("causal-thompson", "paper-cumulative", "crm", "crm-nb", "f-kube", "ucb", "thompson"),
    *("causal-explore", "paper-simple", "srm", "gamma-nb", "parallel-bandit", "successive-rejects", "sh-rr", "uniform"),
)


@cache
def registered() -> dict[str, type[Policy]]:
    """All policies of this package by name, ours first."""
    from pkgutil import iter_modules

    found: dict[str, type[Policy]] = {}
    for module in iter_modules(dobandit.policies.__path__, "dobandit.policies."):
        found |= _policies_of(module.name)
    return {name: found[name] for name in (*ORDER, *sorted(found.keys() - set(ORDER)))}


def _policies_of(module: str) -> dict[str, type[Policy]]:
    kinds = [kind for kind in vars(import_module(module)).values() if isinstance(kind, type)]
    return {kind.name: kind for kind in kinds if issubclass(kind, Policy) and vars(kind).get("name")}


def _ours(name: str) -> type[Policy] | None:
    """The policy of this package with this name. One that is in `ORDER` is in the module that is called like it, so
    that the others need not be imported."""
    if name in ORDER:
        return _policies_of(f"dobandit.policies.{name.replace('-', '_')}")[name]
    return registered().get(name)


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


def policy(spec: PolicyLike) -> Policy:
    """The policy that is meant.

    Parameters
    ----------
    spec
        A text such as `f-kube[as_published=true]`, or `module:Class` for one from elsewhere; a policy or a class of
        policies; or a function `choose(counts, rewards, costs)`.
    """
    if not isinstance(spec, str):
        return _made(checked(spec, repr(spec)), repr(spec), "")
    parsed = _SPEC.fullmatch(spec)
    kind = _kind(parsed[1] if parsed else spec)
    return _made(kind, spec, (parsed and parsed[2]) or "")


def _kind(name: str) -> Kind:
    """What a name stands for: a class of this package, of an installed one, or of a module that is named with it."""
    if is_place(name):
        return checked(imported(name), name)
    if ours := _ours(_plain(name)):
        return ours
    known = {_plain(n): kind for n, kind in registered().items()}
    if _plain(name) in known:
        return known[_plain(name)]
    plug_ins = {_plain(n): entry for n, entry in offered().items()}
    if _plain(name) in plug_ins:
        return checked(loaded(plug_ins[_plain(name)]), name)
    hint = (
        did_you_mean(_plain(name), [*known, *plug_ins], most=3) or f"there are {listing([*registered(), *offered()])}"
    )
    raise MissingPolicy(name, f"there is no policy {name!r}; {hint}")


def _made(kind: Kind, spec: str, options: str) -> Policy:
    """A policy with these options; one from elsewhere has a name of its own."""
    if isinstance(kind, type):
        made: Policy = kind(**_options(spec, kind, options))
    elif isinstance(kind, Policy):
        made = kind
    else:
        made = ScalarPolicy(kind, **_options(spec, ScalarPolicy, options))
    ours = _ours(made.name)
    if ours is not None and type(made) is not ours:
        raise PolicyError(f"{spec} has the name of another policy, {made.name}: give it a name of its own")
    return made


def spec_of(made: Policy) -> str:
    """The name of a policy with the options that differ from the usual ones."""
    return made.name if isinstance(made, ScalarPolicy) else made.name + _written_options(made)


def name_of(made: Policy) -> str:
    """The text that makes this very policy once more, for those who keep it by its name."""
    spec = _home(made) + _written_options(made)
    try:
        again = policy(spec)
    except PolicyError:
        again = None
    if type(again) is not type(made) or vars(again) != vars(made):
        raise PolicyError(
            f"{made!r} cannot be written as a text such as {made.name}[...], which a study is reopened by"
        )
    return spec


def _home(made: Policy) -> str:
    """Where a policy is found: its name here or in an installed package, or the module that it is in."""
    if registered().get(made.name) is type(made):
        return made.name
    entry = offered().get(made.name)
    return made.name if entry is not None and loaded(entry) is type(made) else place_of(made)


def _written_options(made: Policy) -> str:
    usual = {f.name: f.default for f in _fields(type(made))}
    if isinstance(made, ScalarPolicy):
        usual["name"] = ScalarPolicy(made.function).name
    options = [f"{k}={_written(value)}" for k, default in usual.items() if (value := getattr(made, k)) != default]
    return f"[{','.join(options)}]" if options else ""


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
    if isinstance(option.default, str):
        return text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise PolicyError(f"{spec!r}: {option.name} is a number, at least 0, not {text!r}")
    return int(number) if isinstance(option.default, int) and number == int(number) else number


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fields(kind: type[Any]) -> tuple[Field[Any], ...]:
    return tuple(f for f in fields(kind) if f.metadata.get("option", True)) if is_dataclass(kind) else ()


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")
