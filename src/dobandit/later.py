"""Names that a room offers and that are loaded when they are first used, so that a short command loads few modules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def loaded_later(room: str, parts: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The `__getattr__` of a room, whose `parts` (modules in it) define these names."""
    part_of = {name: part for part, names in parts.items() for name in names}

    def load(name: str) -> Any:
        if name not in part_of:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(f"{room}.{part_of[name]}"), name)
        setattr(sys.modules[room], name, value)
        return value

    return load
