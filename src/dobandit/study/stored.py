"""How the fields of a dataclass are stored in a snapshot: each one says so where it is declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from dobandit.study.plain import array_from_plain, array_to_plain

Form = tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]


def stored(write: Callable[[Any], Any], read: Callable[[Any, Any], Any]) -> dict[str, Form]:
    """Metadata of a field: how its value is written as plain data, and how that is read into what a new object has in
    its place. A field without this is not stored."""
    return {"form": (write, read)}


AS_IS = stored(lambda value: value, lambda plain, _: plain)
ARRAY = stored(array_to_plain, lambda plain, _: array_from_plain(plain))


def by_pull(read: Callable[[Any], Any]) -> dict[str, Form]:
    """Values by the number of a pull, each of which is read like this; JSON has texts as keys only."""
    return stored(
        lambda values: {str(pull): value for pull, value in values.items()},
        lambda plain, _: {int(pull): read(value) for pull, value in plain.items()},
    )


BY_PULL = by_pull(lambda value: value)


def to_plain(holder: Any) -> dict[str, Any]:
    return {name: write(getattr(holder, name)) for name, (write, _) in _forms(holder)}


def restore(holder: Any, plain: Mapping[str, Any]) -> None:
    """Set the fields to what `to_plain` has written."""
    for name, (_, read) in _forms(holder):
        setattr(holder, name, read(plain[name], getattr(holder, name)))


def _forms(holder: Any) -> list[tuple[str, Form]]:
    return [(f.name, f.metadata["form"]) for f in fields(holder) if "form" in f.metadata]
