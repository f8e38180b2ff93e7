"""JSON as programs of all languages read it: null for what is no number, and nothing but ASCII."""

from __future__ import annotations

import json
import math


def json_text(document: object, indent: int | None = 2) -> str:
    """A document as text; no terminal can spoil it.

    >>> json_text({"mean": float("nan"), "arm": "größer"}, indent=None)
    '{"mean": null, "arm": "gr\\\\u00f6\\\\u00dfer"}'
    """
    return json.dumps(_plain(document), indent=indent, allow_nan=False)


def _plain(value: object) -> object:
    """JSON has no NaN and no infinity: null stands for them."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
