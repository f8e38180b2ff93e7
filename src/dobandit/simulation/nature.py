"""What happens when arms are pulled, by the number of the trial and of the pull."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices
from dobandit.chance import STRETCH, Chance
from dobandit.problem import Problem
from dobandit.worlds import World

FORESEEN = 2**22  # values that are drawn ahead for a row that is alone


class Nature:
    """What happens when arms are pulled."""

    def __init__(self, problem: Problem, world: World, whose: Indices, trials: Indices, seed: int) -> None:
        self._world, self._whose, self._trials = world, whose, trials
        self._chance = Chance(seed, "outcome")
        self._clamps = world.clamps(problem.arms)
        self.seen = [world.positions[v] for v in problem.graph.variables]  # the nodes that are observed
        self._reward, self._utility = world.positions[problem.reward], problem.utility(world.worth(problem))
        self._ahead: tuple[int, int, NDArray[np.signedinteger]] | None = None

    def answer(self, trial: Indices, arms: Indices, times: Indices) -> tuple[NDArray[np.signedinteger], Array]:
        """The codes of all nodes and the rewards, for these trials of the setting, arms and numbers of pulls."""
        if len(trial) == 1 and STRETCH * self._clamps.size <= FORESEEN:
            drawn = self._foreseen(int(trial[0]), int(times[0]) // STRETCH)[int(times[0]) % STRETCH, arms]
            return drawn, self._utility[drawn[:, self._reward]]
        drawn = self._drawn(trial, arms, int(times[0]) if (times == times[0]).all() else times)
        return drawn, self._utility[drawn[:, self._reward]]

    def _drawn(self, trial: Indices, arms: Indices, times: int | Indices) -> NDArray[np.signedinteger]:
        uniforms = self._chance.uniforms(self._trials[trial], times, len(self._world.nodes))
        whose = None if self._world.trials == 1 else self._whose[trial]
        return self._world.step(self._clamps.take(arms, axis=1), uniforms, whose)

    def _foreseen(self, trial: int, stretch: int) -> NDArray[np.signedinteger]:
        """What every arm would do in a stretch of a trial's pulls: axes (pull, arm, node). A row that is alone asks
        for this, because drawing everything at once takes less than drawing what happens one by one."""
        if self._ahead is None or self._ahead[:2] != (trial, stretch):
            time, arm = np.indices((STRETCH, self._clamps.shape[1]))
            drawn = self._drawn(np.full(time.size, trial), arm.ravel(), time.ravel() + stretch * STRETCH)
            self._ahead = trial, stretch, drawn.reshape(*time.shape, -1)
        return self._ahead[2]
