"""Policies without a graph that pull every arm once and then follow an index of the arms' own means."""

from __future__ import annotations

from collections.abc import Callable

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import Choice, Memoryless, Nothing, View
from dobandit.policies.ties import pick, recommended, sweep_first
from dobandit.problem import Problem


class OwnIndex(Memoryless):
    """Every arm once, then the largest index; the largest mean is recommended."""

    def __init__(self, problem: Problem, index: Callable[[View], Array]) -> None:
        super().__init__(problem)
        self._index = index

    def choose(self, view: View, state: Nothing, chance: Chance) -> Choice[Nothing]:
        arms, info = sweep_first(view, *pick(self._index(view), view, chance))
        return Choice(arms, None, state, info)

    def recommend(self, view: View, state: Nothing) -> Indices:
        return recommended(view.means, view.costs)
