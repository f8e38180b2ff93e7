"""Bounds as they are told: the means of an option that agree with the observations, and what they assume."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dobandit.errors import listing

BoundsMethod = Literal["natural", "sharp"]


@dataclass(frozen=True)
class Bounds:
    """The means of an option that agree with the observations.

    `method` is "natural" (no assumption about the hidden causes at all) or "sharp" (everything that the graph implies).
    `instruments` are variables of which natural bounds use that they do not act on the reward directly.
    """

    low: float
    high: float
    method: BoundsMethod
    instruments: tuple[str, ...] = ()


def assumed(found: Iterable[Bounds | None]) -> list[str]:
    """What the narrower of these bounds take from the graph, in sentences; none where they do not depend on it."""
    known = [one for one in found if one is not None]
    used = dict.fromkeys(v for one in known for v in one.instruments)
    told = []
    if any(one.method == "sharp" for one in known):
        told.append("sharp bounds: they assume everything that the graph implies")
    if used:
        claim = f"{listing(used)} {'has' if len(used) == 1 else 'have'} no direct effect on the reward"
        told.append(f"natural bounds: they assume, as the graph says, that {claim}")
    return told
