"""What the algorithms share that drop arms from phase to phase until one is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.policies.phases import begin
from dobandit.policies.protocol import View
from dobandit.policies.ties import chosen, recommended


class Elimination(NamedTuple):
    """The plan of a policy that drops arms, and which arms are left."""

    target: Array
    phase: Indices
    active: Flags


def begin_elimination(arms: int, rows: int) -> Elimination:
    return Elimination(*begin(arms, rows), np.ones((rows, arms), dtype=bool))


def dropped(view: View, active: Flags, number: int, chance: Chance, phase: int) -> Flags:
    """The active arms without the worst ones; those that were never pulled go first, and ties are broken at random."""
    active = active.copy()
    value = np.where(view.told > 0, view.means, -np.inf)
    u = chance.uniforms(view.trials, view.times, number, f":phase {phase}")
    rows = np.arange(len(active))
    for i in range(number):
        lowest = np.where(active, value, np.inf).min(axis=1, keepdims=True)
        active[rows, chosen(active & (value == lowest), u[:, i])] = False
    return active


def survivor(view: View, active: Flags) -> Indices:
    """The best of the arms that are left."""
    return recommended(np.where(active & (view.told > 0), view.means, np.nan), view.costs)
