"""Arms: what can be done. `do()` is plain observation, `do(X1=1)` sets one variable to one value."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from dobandit.errors import ArmError
from dobandit.problem.domain import value_in
from dobandit.problem.labels import label

_DO = re.compile(r"\s*do\s*\((.*)\)\s*", re.DOTALL)
_SETTING = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.]*)\s*(?:=(.*))?", re.DOTALL)
_SECOND = re.compile(r",\s*[A-Za-z_][A-Za-z0-9_.]*\s*(=|$|,)")


@dataclass(frozen=True)
class Arm:
    """Set `variable` to `value`, or, without a variable, merely observe.

    >>> str(Arm()), str(Arm("X1", "1")), Arm.parse("do( X1 = 1.0 )")
    ('do()', 'do(X1=1)', Arm(variable='X1', value='1'))
    """

    variable: str | None = None
    value: str | None = None

    @property
    def observes(self) -> bool:
        return self.variable is None

    @classmethod
    def parse(cls, text: str) -> Arm:
        variable, value = parse_do(text)
        if variable is not None and value is None:
            raise ArmError(f"{text!r} does not say the value: write do({variable}=...)")
        return cls(variable, value)

    def within(self, domains: Mapping[str, Collection[str]]) -> Arm:
        """The same arm with its value as the domain of its variable has it.

        >>> str(Arm.parse("do(X=True)").within({"X": ("0", "1")}))
        'do(X=1)'
        """
        known = domains.get(self.variable) if self.variable else None
        return replace(self, value=value_in(known, self.value)) if known else self

    def __str__(self) -> str:
        return "do()" if self.variable is None else f"do({self.variable}={self.value})"


def parse_do(text: str) -> tuple[str | None, str | None]:
    """The variable and the value of `do()`, `do(X)` or `do(X=x)`; what is not there is None."""
    inside = _DO.fullmatch(text) if isinstance(text, str) else None
    if inside is None:
        raise ArmError(f"{text!r} is not an arm: write do(), do(X) or do(X=value)")
    if not inside[1].strip():
        return None, None
    if _SECOND.search(inside[1]):
        raise ArmError(f"{text!r} sets more than one variable: an arm sets one variable at a time")
    setting = _SETTING.fullmatch(inside[1])
    if setting is None or (setting[2] is not None and not setting[2].strip()):
        raise ArmError(f"{text!r} is not an arm: write do(), do(X) or do(X=value)")
    return setting[1], None if setting[2] is None else label(setting[2])
