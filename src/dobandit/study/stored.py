"""How the fields of a dataclass are stored in a snapshot: each one says so where it is declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from dobandit.study.plain import array_from_plain, array_to_plain


class _Form(NamedTuple):
    write: Callable[[Any], Any]
    read: Callable[[Any, Any], Any]


def stored(write: Callable[[Any], Any], read: Callable[[Any, Any], Any]) -> dict[str, _Form]:
    """Metadata of a field: how its value is written as plain data, and how that is read into what a new object has in
    its place. A field without this is not stored."""
    return {"form": _Form(write, read)}


AS_IS = stored(lambda value: value, lambda plain, _: plain)
ARRAY = stored(array_to_plain, lambda plain, _: array_from_plain(plain))
BY_PULL = stored(  # JSON has texts as keys only
    lambda values: {str(pull): value for pull, value in values.items()},
    lambda plain, _: {int(pull): value for pull, value in plain.items()},
)


def to_plain(holder: Any) -> dict[str, Any]:
    return {name: form.write(getattr(holder, name)) for name, form in _forms(holder)}


def restore(holder: Any, plain: Mapping[str, Any]) -> None:
    """Set the fields to what `to_plain` has written."""
    for name, form in _forms(holder):
        setattr(holder, name, form.read(plain[name], getattr(holder, name)))


def _forms(holder: Any) -> list[tuple[str, _Form]]:
    return [(f.name, f.metadata["form"]) for f in fields(holder) if "form" in f.metadata]
