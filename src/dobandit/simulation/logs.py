"""The logs that policies start from: one that is at hand, or one for each trial, drawn from its own world."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import generator
from dobandit.errors import SimulationError, listing
from dobandit.evidence import Data, GroupedRows, Layout, Logged, count_rows, open_source, read_log
from dobandit.policies import policies_for, policy
from dobandit.problem import Arm, Problem
from dobandit.simulation.match import Match, WorldLike, trial_seed
from dobandit.worlds import World

MOST_CELLS = 2**14  # of the joint distribution of what is observed; where there are more, rows are drawn one by one


class LogRows(NamedTuple):
    """How many rows a log has: of do(), which are plain observations, and of every other arm of the problem."""

    by_arm: tuple[int, ...]

    @classmethod
    def plain(cls, rows: int, problem: Problem) -> LogRows:
        return cls((rows, *(0 for _ in problem.arms[1:])))

    @property
    def total(self) -> int:
        return sum(self.by_arm)

    def times(self, factor: int) -> LogRows:
        """The same with so many times as many plain observations."""
        observed, *others = self.by_arm
        return LogRows((factor * observed, *others))


def read_logs(match: Match, world: WorldLike, evidence: Data | int | LogRows) -> dict[str, Logged]:
    """What a log says to each policy that can start from one; the others are published without a rule for that."""
    problem = match.problem
    layouts = {
        name: Layout(problem, match.compiled[name].tables) for name, made in match.policies.items() if made.reads_logs
    }
    if not layouts:
        able = listing(name for name in policies_for(problem.objective) if policy(name).reads_logs)
        raise SimulationError(f"evidence: none of these policies can start from a log; {able} can")
    if isinstance(evidence, int | LogRows):
        return _drawn_logs(match, _size(evidence, problem), layouts)
    if not isinstance(world, World) or world.trials > 1:
        raise SimulationError(
            "evidence: a log comes from one world, but here every trial has a world of its own; simulate one world "
            "for all trials (in a problem file, a [world] without redraw), or hand the log to a study"
        )
    source = open_source(evidence)
    return {name: read_log(problem, source, layout) for name, layout in layouts.items()}


def _size(evidence: int | LogRows, problem: Problem) -> LogRows:
    if isinstance(evidence, LogRows):
        return evidence
    if isinstance(evidence, bool) or evidence < 1:
        raise SimulationError(f"evidence: a log has a whole number of rows, at least 1, not {evidence!r}")
    return LogRows.plain(evidence, problem)


def _drawn_logs(match: Match, size: LogRows, layouts: dict[str, Layout]) -> dict[str, Logged]:
    """A log of this size for each trial, from its own world."""
    problem = match.problem
    draws = [(k, _Draw.of(match.worlds, problem.arms[k], rows, problem)) for k, rows in enumerate(size.by_arm) if rows]
    found: dict[str, list[Logged]] = {name: [] for name in layouts}
    for i in range(len(match.problems)):
        rng = generator(trial_seed(match.seed, "log", match.first + i), "log")
        parts = [draw.grouped(k, i if match.worlds.trials > 1 else 0, problem, rng) for k, draw in draws]
        rows = _joined(parts)
        for name, layout in layouts.items():
            found[name].append(count_rows(problem, layout, rows))
    return {name: Logged.stack(logs) for name, logs in found.items()}


class _Draw(NamedTuple):
    """So many rows of an arm in the worlds of a batch. `joint` has axes (trial, combination of values); None where
    there are too many combinations, or where it is not known."""

    worlds: World
    arm: Arm
    rows: int
    joint: Array | None

    @classmethod
    def of(cls, worlds: World, arm: Arm, rows: int, problem: Problem) -> _Draw:
        names = problem.graph.variables
        few = math.prod(len(worlds.domains[v]) for v in names) <= MOST_CELLS and worlds.estimated is None
        joint = worlds.distribution(names, arm).reshape(worlds.trials, -1) if few else None
        return cls(worlds, arm, rows, joint)

    def grouped(self, place: int, trial: int, problem: Problem, rng: np.random.Generator) -> GroupedRows:
        """The rows of one trial; `place` is that of the arm."""
        names = problem.graph.variables
        if self.joint is not None:
            codes = np.indices([len(self.worlds.domains[v]) for v in names]).reshape(len(names), -1)
            chances = self.joint[trial] / self.joint[trial].sum()
            number = rng.multinomial(self.rows, chances)
        else:
            world = self.worlds if self.worlds.trials == 1 else self.worlds.trial(trial)
            drawn = world.step(world.clamps([self.arm])[..., np.newaxis], rng.random((self.rows, 1, len(world.nodes))))
            seen = drawn[:, 0, [world.positions[v] for v in names]]
            unique, number = np.unique(seen, axis=0, return_counts=True)
            codes = unique.T.astype(np.intp)
        by_name = dict(zip(names, codes, strict=True))
        rewards = self.worlds.worth(problem)[by_name.pop(problem.reward)]
        return GroupedRows(np.full(len(number), place, dtype=np.intp), by_name, rewards, number.astype(float))


def _joined(parts: Sequence[GroupedRows]) -> GroupedRows:
    codes: dict[str, Indices] = {v: np.concatenate([part.codes[v] for part in parts]) for v in parts[0].codes}
    arms, rewards, number = (np.concatenate([part[field] for part in parts]) for field in (0, 2, 3))
    return GroupedRows(arms, codes, rewards, number)
