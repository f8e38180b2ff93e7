"""Which means of an arm agree with the observations, where these do not identify it: its natural bounds.

In observations that have X=x anyway, setting X to x would have changed nothing; the others may have had any reward. So
E[Y 1(X=x)] <= E[Y | do(X=x)] <= E[Y 1(X=x)] + P(X≠x), whatever the hidden causes are (Manski 1990). Both ends are means
of a variable between 0 and 1 and have Wilson's interval. An arm whose upper end is below the lower end of another one
cannot be the best: it is *ruled out*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.estimate.pooled.pool import Pool
from dobandit.evidence import CountTable, Evidence, Layout, measuring
from dobandit.identification import is_identifiable

OBSERVED = 0  # the place of do() among the arms
USUAL = 1.959964  # standard errors of an interval at level 0.95
SURE = 2.575829  # of the intervals by which an arm is ruled out, which are looked at again and again: level 0.99


class RuledOut(NamedTuple):
    """Which arms cannot be the best: axes (row, arm). For those of `NaturalBounds.arms` also by which others, on the
    scale of the reward from 0 (worst) to 1 (best): axes (row, open arm)."""

    out: Flags
    by: Indices
    high: Array  # the most that the arm can have
    low: Array  # the least that the other one has


class NaturalBounds:
    """The bounds of the arms of a pool that observations do not identify. `tables` are the counts that they need."""

    def __init__(self, pool: Pool) -> None:
        problem = pool.problem
        has_ends = bool(np.isfinite(problem.reward_values).all())
        sets = [do for do in pool.open_sets() if has_ends and not is_identifiable(problem.graph, do, problem.reward)]
        self._table_of = {do: measuring(problem, CountTable(problem.reward, do, needed=False)) for do in sets}
        self.tables = tuple(self._table_of.values())
        self.layout = Layout(problem, self.tables)
        self._has_moments = self.layout.has_moments
        places = [(k, do) for k, do in enumerate(pool.acting) if do in self._table_of]
        self.arms = np.array([k for k, _ in places], dtype=np.intp)
        self._first = np.array([self._cell(pool, k, do) for k, do in places], dtype=np.intp)

    def __len__(self) -> int:
        return len(self.arms)

    def _cell(self, pool: Pool, arm: int, do: tuple[str, ...]) -> int:
        """The first cell of the row in which observations have the values that the arm sets."""
        table, codes = self._table_of[do], pool.problem.arms[arm].codes(pool.problem.domains)
        shape = self.layout.shapes[self.layout.place[table]]
        row = np.ravel_multi_index([codes[v] for v in do], shape[:-1])
        return int(self.layout.slice(table).start + int(row) * shape[-1])

    def ends(self, counts: Array, evidence: Evidence, z: float) -> tuple[Array, Array]:
        """The lower and upper ends of `arms` for intervals of z standard errors: axes (row, open arm)."""
        first, second = counts.take(self._first, axis=1), counts.take(self._first + 1, axis=1)
        if self._has_moments:  # the number, and the sum above the reference
            reference = np.nan_to_num(evidence.reference)[:, np.newaxis]
            number, won = first, second + first * reference
        else:
            number, won = first + second, second
        rows = np.broadcast_to(evidence.told[:, :1], number.shape)
        return wilson(won, rows, z)[0], wilson(won + rows - number, rows, z)[1]

    def ruled_out(
        self, counts: Array, evidence: Evidence, means: Array, errors: Array, costs: Array | None
    ) -> RuledOut:
        """The arms that cannot be the best, where all have these means and standard errors: axes (row, arm). With
        costs, an arm is ruled out only by one that costs no more."""
        low = means - SURE * errors
        low[:, :1] = wilson(evidence.rewards[:, :1], evidence.told[:, :1], SURE)[0]
        low[:, self.arms], high = self.ends(counts, evidence, SURE)
        others = np.broadcast_to(low[:, np.newaxis], (*high.shape, low.shape[1]))
        if costs is not None:
            others = np.where(costs[:, np.newaxis] <= costs[:, self.arms, np.newaxis], others, -np.inf)
        best = others.max(axis=2)
        out = np.zeros(low.shape, dtype=bool)
        out[:, self.arms] = high < best
        return RuledOut(out, others.argmax(axis=2), high, best)


def wilson(sums: Array, number: Array, z: float) -> tuple[Array, Array]:
    """The ends of Wilson's interval for the mean of a variable between 0 and 1; from 0 to 1 without outcomes."""
    n = np.maximum(number, 1e-9)
    mean = np.clip(sums / n, 0.0, 1.0)
    centre = mean + z**2 / (2 * n)
    distance = z * np.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return np.maximum((centre - distance) / scale, 0.0), np.minimum((centre + distance) / scale, 1.0)
