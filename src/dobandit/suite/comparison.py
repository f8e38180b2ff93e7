"""What policies did on the same trials of a class of worlds, and how it is told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dobandit.arrays import Array
from dobandit.evidence import write_table
from dobandit.simulation import Results


@dataclass(frozen=True)
class Comparison(Results):
    """Results on one class of worlds. Regret is measured against the fractional optimum, or the best arm.

    Trials with graphs of their own have different arms: `arms` has those of all, and what a trial lacks is NaN in
    `means` and `prices`.
    """

    world: str
    costs: str  # the kind of costs: a key of `suite.COSTS`
    means: Array  # axes: trial, arm; on the scale of the reward, its worst value counted as 0
    prices: Array  # axes: trial, arm

    @property
    def gaps(self) -> Array:
        """By how much the best mean per cost of each trial exceeds the next one; NaN where do() is the only arm."""
        worst_first = np.sort(-self.means / self.prices, axis=1)  # NaN last
        best, second = np.pad(worst_first, ((0, 0), (0, 1)), constant_values=np.nan)[:, :2].T
        return np.asarray(second - best)

    def settled(self, name: str, limit: float) -> float | None:
        """The smallest budget from which the mean regret stays within the limit; None if it never does.

        Parameters
        ----------
        name
            The policy.
        limit
            The largest mean regret that counts as small.
        """
        beyond = np.flatnonzero(self.regret[name].mean(axis=0) > limit)
        first = int(beyond[-1]) + 1 if len(beyond) else 0
        return self.grid[first] if first < len(self.grid) else None

    @property
    def _usual_title(self) -> str:
        return f"{self.short_name}, costs {self.costs}"

    @property
    def about(self) -> str:
        """What kind of worlds these are, in words."""
        from dobandit.suite.classes import WORLDS

        return WORLDS[self.world].about if self.world in WORLDS else "a network of the literature"

    @property
    def short_name(self) -> str:
        """The world's name; of a network, without the folders that its file lies in."""
        return Path(self.world).name

    @property
    def file_name(self) -> str:
        """The short name without what file systems do not like."""
        return re.sub(r"[^A-Za-z0-9.]+", "-", self.short_name)


def write(comparisons: Iterable[Comparison], path: Path) -> None:
    """Tidy results as CSV: one line for each world, policy, trial and budget."""
    shown = "policy trial budget regret spent recommended".split()
    tables = []
    for c in comparisons:
        columns = c.columns()
        same = {name: np.full(len(columns["trial"]), getattr(c, name)) for name in ("world", "objective", "costs")}
        tables.append({**same, **{name: columns[name] for name in shown}, "gap": c.gaps[columns["trial"]]})
    write_table(path, {name: np.concatenate([table[name] for table in tables]) for name in tables[0]})
