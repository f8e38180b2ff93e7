"""Worlds from any simulator that can say what happens under an arm.

The simulator is asked once, before the simulation: for every arm so many rows are drawn. Then a pull picks one of the
rows of its arm at random. So a slow simulator costs the same for ten trials as for ten thousand, and every policy meets
the same luck. What is lost is the exact truth: means are those of the rows, and results say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices
from dobandit.chance import generator
from dobandit.errors import DataError, WorldError
from dobandit.evidence import Data, fit, open_source, read_sample
from dobandit.numerals import number
from dobandit.problem import Arm, Problem
from dobandit.worlds.model import World
from dobandit.worlds.sampling import Codes
from dobandit.worlds.tables import Node

DRAWS = 10_000  # of each arm: the standard error of a mean between 0 and 1 is at most 0.005


@runtime_checkable
class Simulator(Protocol):
    """Anything that says what happens under an arm."""

    def sample(self, arm: Arm, n: int, rng: np.random.Generator, /) -> Data:
        """n rows under an arm: columns, a list of rows, or a frame. What the arm sets may be left out."""


@dataclass(frozen=True, eq=False, repr=False)
class SampledWorld(World):
    """What a simulator answered; the means of the arms are estimates."""

    arms: tuple[Arm, ...]
    rows: NDArray[np.signedinteger]  # codes, with axes (arm, draw, variable)
    errors: Array  # the standard error of each arm's mean

    @property
    def estimated(self) -> str | None:
        most = number(float(self.errors.max()), 2)
        return (
            f"regret is estimated: the mean of each arm comes from {self.rows.shape[1]:,} draws of the simulator "
            f"(standard error at most {most})"
        )

    def fit(self, problem: Problem) -> World:
        known = {v: self.domains[v] for v in self.domains if v != problem.reward}
        if problem.arms != self.arms or any(problem.domains[v].known != values for v, values in known.items()):
            raise WorldError("this world was drawn for a problem with other arms or values: draw it again for this one")
        return self

    def means(self, problem: Problem) -> Array:
        self.fit(problem)
        return np.asarray(self.worth(problem)[self.rows[:, :, self.positions[problem.reward]]].mean(axis=1))

    def clamps(self, arms: Sequence[Arm | str]) -> NDArray[np.int32]:  # type: ignore[override]
        """The place of every arm, for each node."""
        parsed = [arm if isinstance(arm, Arm) else Arm.parse(arm) for arm in arms]
        if missing := [str(arm) for arm in parsed if arm not in self.arms]:
            raise WorldError(f"the simulator was not asked about {missing[0]}")
        places = np.array([self.arms.index(arm) for arm in parsed], dtype=np.int32)
        return np.broadcast_to(places, (len(self.nodes), len(places)))

    def step(self, clamped: NDArray[np.integer], uniforms: Array, trial: Indices | None = None) -> Codes:
        """One of the rows of each arm, picked by the first of its uniform numbers."""
        arm = np.broadcast_to(clamped[0], uniforms.shape[:-1])
        found: Codes = self.rows[arm, (uniforms[..., 0] * self.rows.shape[1]).astype(np.intp)]
        return found

    def distribution(self, variables: Sequence[str], arm: Arm | str = "do()") -> Array:
        """The shares of the rows under an arm, an axis for each variable."""
        codes = self.rows[self.clamps([arm])[0, 0]]
        shape = [len(self.domains[v]) for v in variables]
        flat = np.ravel_multi_index([codes[:, self.positions[v]] for v in variables], shape)
        return np.bincount(flat, minlength=math.prod(shape)).reshape(shape) / len(codes)

    def __repr__(self) -> str:
        return f"<SampledWorld: {len(self.arms)} arms, {self.rows.shape[1]:,} draws each>"


def from_simulator(
    problem: Problem, simulator: Simulator | Callable[..., Data], draws: int = DRAWS, seed: int = 0
) -> SampledWorld:
    """A world from a simulator of your own.

    Parameters
    ----------
    problem
        The problem whose arms are to be simulated.
    simulator
        An object with a method `sample(arm, n, rng)`, or such a function. It returns n rows under the arm, as columns,
        as a list of rows, or as a frame; `rng` is a NumPy generator.
    draws
        How many rows of each arm are drawn.
    seed
        Of the generators, one for each arm.

    Returns
    -------
    SampledWorld
        A world whose means are estimates from these rows.

    >>> def sample(arm, n, rng):
    ...     x = dict(arm.settings).get("X", "0")
    ...     return {"X": [x] * n, "Y": (rng.random(n) < (0.7 if x == "1" else 0.4)).astype(int)}
    >>> problem = Problem("X -> Y", reward="Y", budget=10)
    >>> from_simulator(problem, sample, draws=1000).means(problem).round(2)
    array([0.39, 0.44, 0.71])
    """
    problem.require_values()
    sample = simulator.sample if isinstance(simulator, Simulator) else simulator
    numbers = (problem.reward,) if problem.reward_is_continuous else ()
    found = [_rows(problem, sample, arm, draws, seed, numbers) for arm in problem.arms]
    labels = {v: tuple(problem.domains[v].known) for v in problem.graph.variables}
    if numbers:
        values, places = np.unique([rows[problem.reward] for rows in found], return_inverse=True)
        labels[problem.reward] = tuple(map(repr, values.tolist()))
        for rows, codes in zip(found, places.reshape(len(found), -1), strict=True):
            rows[problem.reward] = codes
    codes = np.array([[rows[v] for v in problem.graph.variables] for rows in found]).swapaxes(1, 2)
    nodes = tuple(Node(v, (), np.full((1, len(labels[v])), 1 / len(labels[v]))) for v in problem.graph.variables)
    worth = np.array([float(x) for x in labels[problem.reward]] if numbers else problem.reward_values)
    rewards = worth[codes[:, :, problem.graph.variables.index(problem.reward)]]
    errors = rewards.std(axis=1, ddof=1) / math.sqrt(draws)
    return SampledWorld(problem.graph, nodes, labels, problem.arms, codes, errors)


def _rows(
    problem: Problem, sample: Callable[..., Data], arm: Arm, draws: int, seed: int, numbers: Sequence[str]
) -> dict[str, Any]:
    """The rows of one arm: codes of values, and numbers."""
    answer: Any = sample(arm, draws, generator(seed, f"simulator:{arm}"))
    if isinstance(answer, dict):
        answer = {**{v: [value] * draws for v, value in arm.settings}, **answer}
    try:
        read = read_sample(fit(open_source(answer), problem), problem.graph.variables, problem.domains, numbers)
    except DataError as error:
        raise WorldError(f"the rows of the simulator under {arm}: {error}") from None
    many = read.weights.astype(int)
    found = {v: np.repeat(column, many) for v, column in {**read.codes, **read.numbers}.items()}
    if many.sum() != draws:
        raise WorldError(f"the simulator was asked for {draws:,} rows under {arm} and gave {many.sum():,}")
    for v, code in arm.codes(problem.domains).items():
        if (found[v] != code).any():
            raise WorldError(f"the simulator's rows under {arm} have other values of {v}")
    return found
