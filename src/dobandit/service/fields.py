"""The fields of a request: what each one may be, checked in one place and described in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dobandit.errors import did_you_mean, listing
from dobandit.service.refusals import Refusal

Schema = dict[str, Any]
VALUE: Schema = {"type": ["string", "number", "boolean", "null"]}
MOST_ROWS = 200_000  # of an upload
LONGEST = 1000  # characters of a name or a reason
BIGGEST, LAST = 2**53, 2**31 - 1


class Kind(NamedTuple):
    """What a field may be: in words, as a JSON Schema, as a check, and how it is read from an address."""

    words: str
    schema: Schema
    fits: Callable[[Any], bool]
    parse: Callable[[str], Any] = str


def _is_value(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_outcome(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_value, value.values()))


def _is_columns(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len({len(column) if isinstance(column, list) else -1 for column in value.values()} - {-1}) == 1
        and all(isinstance(column, list) and all(map(_is_value, column)) for column in value.values())
    )


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) <= BIGGEST


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_row(value: Any) -> bool:
    keys = {"id": _is_whole, "outcome": _is_outcome, "place": _is_text}
    return (
        isinstance(value, dict)
        and {"id", "outcome"} <= set(value) <= set(keys)
        and all(keys[key](part) for key, part in value.items())
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def _is_list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _whole(text: str) -> Any:
    return int(text) if text.isascii() and text.removeprefix("-").isdigit() and len(text) < 18 else text


def _flag(text: str) -> Any:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)


_OUTCOME: Schema = {
    "type": "object",
    "additionalProperties": VALUE,
    "description": "Every observed variable and its value; what the pull sets may be left out.",
}
_ROW: Schema = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "outcome": _OUTCOME, "place": {"type": "string", "maxLength": LONGEST}},
    "required": ["id", "outcome"],
    "additionalProperties": False,
}
WHOLE = Kind("a whole number", {"type": "integer", "minimum": -BIGGEST, "maximum": BIGGEST}, _is_whole, _whole)
COUNT = Kind(
    "a whole number above 0", {"type": "integer", "minimum": 1, "maximum": 10_000},
    lambda value: _is_whole(value) and 1 <= value <= 10_000, _whole,
)  # fmt: skip
PLACE = Kind(
    "a whole number, 0 or more", {"type": "integer", "minimum": 0, "maximum": LAST},
    lambda value: _is_whole(value) and 0 <= value <= LAST, _whole,
)  # fmt: skip
NUMBER = Kind("a number", {"type": "number"}, _is_number)
FLAG = Kind("true or false", {"type": "boolean"}, lambda value: isinstance(value, bool), _flag)
TEXT = Kind("a text", {"type": "string", "maxLength": LONGEST}, _is_text)
LONG_TEXT = Kind("a text", {"type": "string"}, lambda value: isinstance(value, str))
TIME = Kind(
    "a text such as 2d or a number of seconds", {"type": ["string", "number"]},
    lambda value: _is_text(value) or _is_number(value),
)  # fmt: skip
OUTCOME = Kind("an object of variables and values", _OUTCOME, _is_outcome)
OUTCOMES = Kind(
    "a list of objects with id and outcome",
    {"type": "array", "items": _ROW, "maxItems": MOST_ROWS},
    _is_list_of(_is_row),
)
TEXTS = Kind("a list of texts", {"type": "array", "items": TEXT.schema}, _is_list_of(lambda v: isinstance(v, str)))
COLUMNS = Kind(
    "an object of columns of equal length",
    {"type": "object", "additionalProperties": {"type": "array", "items": VALUE}},
    _is_columns,
)
NUMBERS = Kind("a list of numbers", {"type": "array", "items": {"type": "number"}}, _is_list_of(_is_number))


class Field(NamedTuple):
    name: str
    kind: Kind
    help: str
    required: bool = False


def checked(given: object, fields: tuple[Field, ...]) -> dict[str, Any]:
    """What was sent, if it has the right fields; null is the same as nothing."""
    if not isinstance(given, Mapping):
        raise Refusal(400, "the body of this request is a JSON object with its fields")
    known = {field.name: field for field in fields}
    for name in given:
        if name not in known:
            has = did_you_mean(str(name), known) or (f"there are {listing(known)}" if known else "there are none")
            raise Refusal(400, f"there is no field {str(name)[:40]!r}; {has}")
    found = {name: value for name, value in given.items() if value is not None}
    for field in fields:
        if field.name not in found:
            if field.required:
                raise Refusal(400, f"the field {field.name!r} is missing: {field.help}")
        elif not field.kind.fits(found[field.name]):
            raise Refusal(400, f"the field {field.name!r} must be {field.kind.words}")
    _check_rows(found)
    return found


def _check_rows(found: Mapping[str, Any]) -> None:
    rows = max([len(found.get("outcomes", ())), *(len(column) for column in found.get("rows", {}).values())], default=0)
    if rows > MOST_ROWS:
        raise Refusal(413, f"{rows:,} rows are too many for one request; send at most {MOST_ROWS:,}")
