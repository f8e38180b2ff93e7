"""What is asked: the mean after one intervention, or how it differs from that after another, and how sure to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dobandit.errors import ArmError, DobanditError
from dobandit.problem import Arm, Value, is_number


class Question(NamedTuple):
    """The mean after one intervention, or how much it differs from that after another."""

    arm: Arm
    versus: Arm | None = None

    @property
    def arms(self) -> tuple[Arm, ...]:
        return (self.arm,) if self.versus is None else (self.arm, self.versus)

    def __str__(self) -> str:
        return " versus ".join(map(str, self.arms))


def arm_of(do: Mapping[str, Value]) -> Arm:
    """The arm that a mapping such as {"X": 1} describes."""
    if not isinstance(do, Mapping):
        raise ArmError(f"do is a mapping such as {{'X1': 1}}, not {do!r}")
    return Arm.of(do)


def codes_of(arm: Arm, domains: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """The variables that an arm sets, and the places of their values."""
    return arm.within(domains).codes(domains)


def checked_level(level: float) -> float:
    if not is_number(level) or not 0 < level < 1:
        raise DobanditError(f"level: expected a number between 0 and 1, such as 0.95, not {level!r}")
    return level
