"""Policies from elsewhere: `module:Class`, `module:function`, and what installed packages offer.

A package offers policies under the entry-point group `dobandit.policies`:

    [project.entry-points."dobandit.policies"]
    greedy = "my_package.greedy:Greedy"

Then `greedy` is a name as good as that of any policy here.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dobandit.errors import MissingPolicy, PolicyError, listing
from dobandit.policies.protocol import Policy
from dobandit.policies.scalar import ScalarPolicy
from dobandit.problem import OBJECTIVES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "dobandit.policies"
Kind = type[Policy] | Policy | Any  # a class of policies, a policy, or a function that chooses for one trial
_HANDED: dict[str, Kind] = {}  # what this process handed in: a class in a function or a notebook cannot be imported


def offered() -> dict[str, EntryPoint]:
    """What installed packages offer, by name."""
    from importlib.metadata import entry_points  # takes as long to import as half of a study's command

    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}


def loaded(entry: EntryPoint) -> Kind:
    """The class of policies that a package offers."""
    try:
        found = entry.load()
    except Exception as error:
        raise PolicyError(f"the plug-in {entry.name} ({entry.value}) cannot be loaded: {_in_words(error)}") from error
    if isinstance(found, type) and issubclass(found, Policy) and getattr(found, "name", None) != entry.name:
        raise PolicyError(f"the plug-in {entry.name} ({entry.value}) calls itself {getattr(found, 'name', None)!r}")
    return found


def is_place(name: str) -> bool:
    """Whether a name says where to import a policy from."""
    return ":" in name


def imported(place: str) -> Kind:
    """What `module:Class` stands for. The module is looked for where Python looks, and in the current folder."""
    place = place.replace(" ", "")
    if place in _HANDED:
        return _HANDED[place]
    name, _, attribute = place.partition(":")
    found: Any = _module(name, place)
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            others = [k for k, v in vars(sys.modules[name]).items() if isinstance(v, type) and issubclass(v, Policy)]
            hint = f"; its policies are {listing(others)}" if others else ""
            raise MissingPolicy(place, f"the module {name} has no {attribute}{hint}") from None
    return found


def place_of(made: Policy) -> str:
    """The `module:Class` of a policy, which makes it again in this process, and in others that can import it."""
    source: Any = made.function if isinstance(made, ScalarPolicy) else type(made)
    place = f"{getattr(source, '__module__', '__main__')}:{getattr(source, '__qualname__', made.name)}"
    _HANDED[place] = source
    return place


def is_importable(place: str) -> bool:
    """Whether another process can find it, at least one that runs the same script."""
    return "<" not in place.partition("[")[0]  # as in <locals> and <lambda>


def checked(kind: Kind, place: str) -> Kind:
    """The same, if it is a policy, a class of policies or a function."""
    if isinstance(kind, type) and issubclass(kind, Policy):
        if not getattr(kind, "name", None):
            raise PolicyError(f'{place} has no name: give the class a line such as name = "greedy"')
        if getattr(kind, "objective", None) not in (*OBJECTIVES, "any"):
            raise PolicyError(f'{place} has no objective: give the class a line such as objective = "cumulative"')
        if inspect.isabstract(kind):
            raise PolicyError(f"{place} has no method compile(problem), which every policy needs")
    elif isinstance(kind, type) or not (isinstance(kind, Policy) or callable(kind)):
        raise PolicyError(
            f"{place} is not a policy: derive a class from dobandit.Policy, or write a function "
            "choose(counts, rewards, costs)"
        )
    return kind


def _module(name: str, place: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if not name.startswith(str(error.name)):
            raise PolicyError(f"the module {name} cannot be imported: {_in_words(error)}") from error
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.append(here)  # last: it hides nothing that is installed
            return _module(name, place)
        message = f"there is no module {name}: install the package that has it, or run this where {name}.py is"
        raise MissingPolicy(place, message) from None
    except Exception as error:
        raise PolicyError(f"the module {name} cannot be imported: {_in_words(error)}") from error


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
