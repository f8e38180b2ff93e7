"""Policies with phases: they say how often every arm shall have been pulled, carry that out, look, and plan again.

Within a phase the arms are pulled in arm order, each as often as planned in one go.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import STOP, Choice, Compiled, Info, Reason, S, View, rows_of, updated


class Phased(NamedTuple):
    """Where a policy is with its plan; a policy that remembers more has these two fields and others."""

    target: Array  # pulls of every arm by the end of the phase
    phase: Indices  # 0: not begun


class InPhases(Compiled[S]):
    """A policy that plans, compiled; it stops after the phase `last`."""

    last: int

    @abstractmethod
    def plan(self, view: View, state: S, phase: int, chance: Chance) -> S:
        """The state at the beginning of this phase, for rows that have carried out the plan of the one before."""

    def start(self, rows: int) -> Any:
        return Phased(np.zeros((rows, len(self.problem.arms))), np.zeros(rows, dtype=np.intp))

    def choose(self, view: View, state: Any, chance: Chance) -> Choice[S]:
        """The next arm of the plan, and how often; rows that have carried out their plan get a new one."""
        arms, repeats = _next(view, state.target)
        while len(due := np.flatnonzero((arms == STOP) & (state.phase < self.last))):
            phase = int(state.phase[due].min()) + 1
            rows = due[state.phase[due] == phase - 1]
            part = view.take(rows)
            state = updated(state, rows, self.plan(part, rows_of(state, rows), phase, chance))
            state.phase[rows] = phase
            arms[rows], repeats[rows] = _next(part, state.target[rows])
        return Choice(arms, repeats, state, Info(np.full(len(arms), Reason.PLAN)))


def _next(view: View, target: Array) -> tuple[Indices, Indices]:
    missing = np.where(view.affordable, target - view.pulls, 0.0)
    arms = (missing >= 1).argmax(axis=1)
    number = np.take_along_axis(missing, arms[:, np.newaxis], axis=1)[:, 0].astype(np.intp)
    return np.where(number >= 1, arms, STOP), number


def whole(number: Array) -> Array:
    """Rounded down, but 2.9999999999 is three: it was 0.3 / 0.1."""
    return np.asarray(np.floor(number + 1e-9))


def fair_share(marked: Flags, costs: Array, money: Array, most: Array | float = np.inf) -> Array:
    """How often each marked arm is pulled if they take turns in arm order until the next pull does not fit into the
    money, or each has had `most` pulls.

    >>> fair_share(np.array([[True, True, False]]), np.array([[2.0, 3.0, 1.0]]), np.array([12.5]))
    array([[3., 2., 0.]])
    """
    prices = np.where(marked, costs, 0.0)
    one_turn = prices.sum(axis=1)
    most = np.broadcast_to(most, one_turn.shape)
    turns = np.minimum(whole(money / np.maximum(one_turn, 1e-300)), most) * (one_turn > 0)
    left = (money - turns * one_turn)[:, np.newaxis]
    one_more = (prices.cumsum(axis=1) <= left + 1e-9) & (turns < most)[:, np.newaxis]
    return np.where(marked, turns[:, np.newaxis] + one_more, 0.0)
