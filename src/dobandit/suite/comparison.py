"""What policies did on the same worlds, and how it is told."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.simulation import standard_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Row(NamedTuple):
    """Mean regret of a policy in a class of worlds at a budget, and its standard error."""

    world: str
    objective: str
    costs: str
    policy: str
    budget: float
    regret: float
    se: float
    trials: int
    optimum: str


class Played(NamedTuple):
    """One trial: its truth, and what one policy did in it. Arms are the last axis."""

    arms: tuple[str, ...]
    means: Array  # on the scale of the reward, its worst value counted as 0
    costs: Array
    budgets: tuple[float, ...]
    pulls: Array  # axes: budget, arm
    recommended: Indices  # by budget
    contradicted: Array  # axes: budget, arm; how far its own rewards contradict the graph, 0 where they do not
    broken: Array  # axes: budget, promise of the graph; how far outcomes contradict it, 0 where they do not

    @property
    def cumulative_regret(self) -> Array:
        """Against spending everything, to the last fraction of a pull, on the best mean per cost."""
        best = (self.means / self.costs).max() * np.array(self.budgets)
        lost: Array = best - self.pulls @ self.means
        return lost

    @property
    def simple_regret(self) -> Array:
        """Of the recommended arm against the best one."""
        lost: Array = self.means.max() - self.means[self.recommended]
        return lost

    @property
    def gap(self) -> float:
        """By how much the best mean per cost exceeds the next one; NaN where do() is the only arm."""
        *_, second, best = np.nan, *np.sort(self.means / self.costs)
        return float(best - second)


@dataclass(frozen=True)
class Comparison:
    """What policies did on the same trials of one class of worlds."""

    world: str
    objective: str
    costs: str
    budgets: tuple[float, ...]
    played: Mapping[str, Sequence[Played]]  # by policy

    @property
    def optimum(self) -> str:
        """What regret is measured against."""
        return "fractional" if self.objective == "cumulative" else "best arm"

    @property
    def trials(self) -> int:
        return len(next(iter(self.played.values())))

    def regret(self, name: str) -> Array:
        """With axes (trial, budget)."""
        of = "cumulative_regret" if self.objective == "cumulative" else "simple_regret"
        return np.stack([getattr(trial, of) for trial in self.played[name]])

    def summary(self) -> list[Row]:
        """One row for each policy and budget."""
        common = self.world, self.objective, self.costs
        return [
            Row(*common, name, budget, float(r.mean()), standard_error(r), len(r), self.optimum)
            for name in self.played
            for budget, r in zip(self.budgets, self.regret(name).T, strict=True)
        ]

    def settled(self, name: str, limit: float) -> float | None:
        """The smallest budget from which the mean regret stays within the limit; None if it never does."""
        beyond = np.flatnonzero(self.regret(name).mean(axis=0) > limit)
        first = int(beyond[-1]) + 1 if len(beyond) else 0
        return self.budgets[first] if first < len(self.budgets) else None

    def plot(self) -> Figure:
        """Mean regret along the budgets, with a band of one standard error on each side."""
        from dobandit.plots import Curve, curves_figure

        rows = self.summary()
        curves = [
            Curve(
                name,
                self.budgets,
                [r.regret for r in rows if r.policy == name],
                [r.se for r in rows if r.policy == name],
            )
            for name in self.played
        ]
        title = f"{self.short_name}, costs {self.costs}"
        return curves_figure(curves, xlabel="budget", ylabel=f"{self.objective} regret", title=title)

    @property
    def short_name(self) -> str:
        """The world's name; of a network, without the folders that its file lies in."""
        return Path(self.world).name

    @property
    def file_name(self) -> str:
        """The short name without what file systems do not like."""
        return re.sub(r"[^A-Za-z0-9.]+", "-", self.short_name)


def write(comparisons: Iterable[Comparison], path: Path) -> None:
    """Tidy results: one line for each world, policy, trial and budget."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow("world objective costs policy trial budget regret spent recommended gap".split())
        for c in comparisons:
            for name, trials in c.played.items():
                for i, (trial, regret) in enumerate(zip(trials, c.regret(name).tolist(), strict=True)):
                    for j, budget in enumerate(c.budgets):
                        spent, best = float(trial.pulls[j] @ trial.costs), trial.arms[trial.recommended[j]]
                        line = c.world, c.objective, c.costs, name, i, budget, regret[j], spent, best, trial.gap
                        writer.writerow(line)
