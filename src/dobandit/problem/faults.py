"""Collecting everything that is wrong, so that a user mends a file once and not line by line."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from numbers import Real
from typing import Any, TypeGuard, TypeVar

from dobandit.errors import Fault, ProblemError, did_you_mean, listing
from dobandit.graph import normal

T = TypeVar("T", bound=str)
Place = tuple[str, ...]  # of a fault: keys from the outside in


class Faults:
    """A list of faults that grows while a problem is read, and is raised at the end."""

    def __init__(self) -> None:
        self.found: list[Fault] = []
        self.hidden: Collection[str] = ()  # variables that are marked as hidden where the graph was read from

    def add(self, place: Place, message: str) -> None:
        self.found.append(Fault(place, message))

    def unknown(self, place: Place, message: str, name: str, known: Iterable[str]) -> None:
        """An unknown name: the fault says the nearest known one, or all of them."""
        if name in self.hidden:
            self.add(place, f"{name} is hidden in the graph; remove the mark there, or name an observed variable")
            return
        known = list(known)
        self.add(place, f"{message}; {did_you_mean(name, known) or f'known are {listing(known)}'}")

    def mapping(self, value: object, place: Place, keys: Collection[str] = ()) -> Mapping[Any, Any]:
        """A table, an empty one if nothing is stated. If its possible keys are given, any other is a fault."""
        if value is not None and not isinstance(value, Mapping):
            self.add(place, f"expected a table of names and values, not {value!r}")
            return {}
        for key in value or () if keys else ():
            if key not in keys:
                self.unknown((*place, str(key)), "unknown key", str(key), keys)
        return {normal(key) if isinstance(key, str) else key: item for key, item in (value or {}).items()}

    def by_variable(self, value: object, key: str, known: Iterable[str]) -> Iterator[tuple[str, Any, Place]]:
        """What a table says about variables, and where; a name that is no variable is a fault."""
        known = list(known)
        for name, said in self.mapping(value, (key,)).items():
            if name in known:
                yield name, said, (key, name)
            else:
                self.unknown((key, str(name)), f"there is no variable {name} in the graph", str(name), known)

    def names(self, value: object, place: Place, known: Iterable[str]) -> tuple[str, ...]:
        """A list of names of variables, each known and named once."""
        if isinstance(value, str) or not isinstance(value, Iterable):
            self.add(place, f"expected a list of variables, not {value!r}")
            return ()
        known, names = list(known), [normal(name) if isinstance(name, str) else name for name in value]
        for i, name in enumerate(names):
            if name not in known:
                self.unknown(place, f"there is no variable {name}", str(name), known)
            elif name in names[:i]:
                self.add(place, f"{name} is named twice")
        return tuple(dict.fromkeys(name for name in names if name in known))

    def one_of(self, value: str, place: Place, options: tuple[T, ...]) -> T:
        for option in options:
            if option == value:
                return option
        self.add(place, f"expected {' or '.join(map(repr, options))}, not {value!r}")
        return options[0]

    def raise_any(self) -> None:
        if self.found:
            raise ProblemError(self.found)


def is_number(value: object) -> TypeGuard[float]:
    """A number that fits into a float."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def is_positive(value: object) -> TypeGuard[float]:
    return is_number(value) and value > 0
