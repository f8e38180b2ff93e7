"""Arms: what can be done. `do()` is plain observation, `do(Price=low, Ad=1)` sets variables to values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from dobandit.errors import ArmError, GraphError, listing
from dobandit.graph import QUOTED, in_quotes, name_pattern, normal, quoted, unquoted
from dobandit.problem.domain import value_in
from dobandit.problem.kinds import Value
from dobandit.problem.labels import label

_GOES_ON = r'^[^"]*[,;]([^=]*=|$)'  # a value in which another setting seems to begin
_UNQUOTED = r'\s*([^\W\d](?:[^=()"]*[^\s=()"])?)\s*(?:=\s*([^\s=()"](?:[^=()"]*[^\s=()"])?)\s*)?'
_NEEDS_QUOTES = r'[,;=()"]|^\s|\s$|^$'
_WRITE = 'write do(), do(X), do(X=value) or do(X=value, "Another name"=value)'


@dataclass(frozen=True, eq=False)
class Arm:
    """Set variables to values, or, without any, merely observe. Their order does not matter.

    >>> str(Arm()), str(Arm.of({"X1": 1})), Arm.parse("do( X1 = 1.0 )")
    ('do()', 'do(X1=1)', Arm(settings=(('X1', '1'),)))
    >>> Arm.parse("do(Ad=1; Price=low)") == Arm.parse("do(Price=low, Ad=1)")
    True
    """

    settings: tuple[tuple[str, str], ...] = ()  # pairs (variable, value), in graph order in the arms of a problem

    @cached_property
    def _key(self) -> frozenset[tuple[str, str]]:
        return frozenset(self.settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arm) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def observes(self) -> bool:
        return not self.settings

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that are set."""
        return tuple(variable for variable, _ in self.settings)

    @classmethod
    def of(cls, settings: Mapping[str, Value]) -> Arm:
        """The arm that sets these variables to these values."""
        return cls(tuple((normal(variable), label(value)) for variable, value in settings.items()))

    @classmethod
    def parse(cls, text: str) -> Arm:
        found = parse_do(text)
        settings = []
        for variable, value in found.items():
            if value is None:
                raise ArmError(f"{text!r} does not say the value of {variable}: write do({quoted(variable)}=...)")
            settings.append((variable, value))
        return cls(tuple(settings))

    def within(self, domains: Mapping[str, Collection[str]]) -> Arm:
        """The same arm with its values as the domains of its variables have them, in the order of the domains.

        >>> str(Arm.parse("do(X=True)").within({"X": ("0", "1")}))
        'do(X=1)'
        """
        order = {variable: place for place, variable in enumerate(domains)}
        settings = sorted(self.settings, key=lambda pair: order.get(pair[0], len(order)))
        return Arm(tuple((v, value_in(domains[v], value) if v in domains else value) for v, value in settings))

    def codes(self, domains: Mapping[str, Collection[str]]) -> dict[str, int]:
        """The variables that are set, and the places of their values in their domains, if they have these values."""
        for v, value in self.settings:
            if v not in domains:
                raise ArmError(f"{self}: there is no variable {v}; there are {listing(domains)}")
            if value not in domains[v]:
                raise ArmError(f"{self}: {v} has no value {value}; its values are {listing(domains[v])}")
        return {v: list(domains[v]).index(value) for v, value in self.settings}

    def __str__(self) -> str:
        return f"do({', '.join(f'{quoted(v)}={_written(value)}' for v, value in self.settings)})"


def parse_do(text: str) -> dict[str, str | None]:
    """The variables and values of `do()`, `do(X)`, `do(X, Z)` or `do(X=x, Z=z)`; a value that is not there is None."""
    if not isinstance(text, str):
        raise ArmError(f"{text!r} is not an arm: {_WRITE}")
    if (simple := _simple(text)) is not None:
        return simple
    inside = re.fullmatch(r"\s*do\s*\((.*)\)\s*", text, re.DOTALL)
    if inside is None:
        raise ArmError(f"{text!r} is not an arm: {_WRITE}")
    found: dict[str, str | None] = {}
    for name, value in _settings(inside[1].rstrip(), text):
        variable = normal(_plain(name, text))
        if variable in found:
            raise ArmError(f"{text!r} sets {variable} twice")
        found[variable] = None if value is None else label(_plain(value, text))
    return found


def _simple(text: str) -> dict[str, str | None] | None:
    """What most arms say, such as `do(Ad=1, Price=low)`, without the regular expressions that all others need."""
    if not (text.isascii() and text.startswith("do(") and text.endswith(")")):
        return None
    pairs = [part.partition("=") for part in text[3:-1].split(", ")] if text != "do()" else []
    if not all(name.isidentifier() and value.isalnum() for name, _, value in pairs):
        return None
    found: dict[str, str | None] = {name: label(value) for name, _, value in pairs}
    return found if len(found) == len(pairs) else None


@cache
def _setting() -> re.Pattern[str]:
    """A name, and most often its value. A comma ends a value if a name follows; others are part of it."""
    name = name_pattern()
    following = rf"(?:[,;](?=\s*{name}\s*(?:[=,;]|$))|$)"
    return re.compile(rf'\s*({name})\s*(?:=\s*({QUOTED}|[^"\s].*?)\s*)?{following}', re.DOTALL)


def _settings(inside: str, text: str) -> list[tuple[str, str | None]]:
    """The names and values as they are written."""
    found, at = list[tuple[str, str | None]](), 0
    while at < len(inside):
        setting = _setting().match(inside, at)
        if setting is None or re.search(_GOES_ON, setting[2] or ""):
            return _unquoted_settings(inside, text)
        found.append((setting[1], setting[2]))
        at = setting.end()
    return found


def _unquoted_settings(inside: str, text: str) -> list[tuple[str, str | None]]:
    """Names that need quotes and have none, such as `Customer segment=young`, where it is clear what is meant."""
    parts = [re.fullmatch(_UNQUOTED, part) for part in re.split("[,;]", inside)]
    if None in parts:
        raise ArmError(f"{text!r} is not an arm: {_WRITE}")
    return [(part[1], part[2]) for part in parts if part]


def _written(value: str) -> str:
    return in_quotes(value) if not value.isalnum() and re.search(_NEEDS_QUOTES, value) else value


def _plain(text: str, whole: str) -> str:
    """A name or a value without its quotes."""
    try:
        return unquoted(text) if text.startswith('"') else text
    except GraphError as error:
        raise ArmError(f"{whole!r} is not an arm: {error}") from None
