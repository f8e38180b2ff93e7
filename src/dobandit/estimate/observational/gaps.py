"""What counts for a measurement where no row says anything about it.

Zeros and ones without data count as uniform. A measurement has no range that is known for certain, and the middle
between the smallest and the largest outcome would be set by a single outlier. So the mean of the rows with the same
setting counts (of all rows, if none has it), and the truth may be as far from it, on either side, as the ends of the
central 90 % of all outcomes are. One outlier among 20 rows or more is not among those.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.estimate.observational.cases import Cases

CENTRAL = 0.9  # the share of the outcomes that says how far a mean without data may be from the others


class Gaps(NamedTuple):
    """What counts in every row of a table of a measurement if it has no data, its ends being 0 and 1."""

    means: Array  # axes (given...)
    reaches: Array  # how far the truth may be from them
    alike: Mapping[str, int]  # the variables whose values are those of the row, and their axes
    known: Flags  # whether there are rows with these values, else all rows count

    def shares(self, side: int = 0) -> Array:
        """The rows of the table: what counts, or, with side -1 or 1, the least or the most that it could be."""
        found = self.means + side * self.reaches
        return np.stack([1 - found, found], axis=-1)

    def told(self, at: Sequence[int], domains: Mapping[str, Sequence[str]]) -> str:
        """Whose mean counts in one row of the table."""
        if not self.alike or not self.known[tuple(at)]:
            return "the mean of all rows"
        return f"the mean of the rows with {', '.join(f'{v}={domains[v][at[i]]}' for v, i in self.alike.items())}"


def gaps_of(counts: Array, given: Sequence[str], set_: Collection[str], central: tuple[float, float]) -> Gaps:
    """From the counts of a table, axes (given..., end), the variables that are set, and the ends of the central
    outcomes, the ends of all being 0 and 1."""
    alike = {v: i for i, v in enumerate(given) if v in set_}
    others = tuple(i for i in range(len(given)) if i not in alike.values())
    same, everything = counts.sum(axis=others, keepdims=True), counts.reshape(-1, 2).sum(axis=0)
    known = same.sum(axis=-1) > 0
    rows = np.where(known[..., np.newaxis], same, everything)
    means = np.broadcast_to(rows[..., 1] / rows.sum(axis=-1), counts.shape[:-1])
    return Gaps(means, _reach(means, central), alike, np.broadcast_to(known, means.shape))


def stand_in(cases: Cases, has: Flags) -> tuple[float, float]:
    """What counts in strata in which no row has an arm, and how far the truth may be from it; `has` tells who does."""
    if not cases.scale.between:
        low, high = float(cases.outcome.min()), float(cases.outcome.max())
        return (low + high) / 2, (high - low) / 2
    chosen = cases.weights * has if (cases.weights * has).sum() > 0 else cases.weights
    mean = float(chosen @ cases.outcome / chosen.sum())
    return mean, float(_reach(np.array(mean), central_ends(cases.outcome, cases.weights)))


def central_ends(outcomes: Array, weights: Array) -> tuple[float, float]:
    """Between these are the central outcomes.

    >>> central_ends(np.array([*range(1, 20), 1e6]), np.ones(20))
    (1.0, 19.0)
    """
    order = np.argsort(outcomes, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    places = np.searchsorted(below, [(1 - CENTRAL) / 2 - 1e-9, (1 + CENTRAL) / 2 - 1e-9])
    low, high = outcomes[order][np.minimum(places, len(order) - 1)].tolist()
    return low, high


def _reach(means: Array, central: tuple[float, float]) -> Array:
    """The same on both sides: where most outcomes are nothing, they end at nothing, and yet a mean may be larger."""
    return np.maximum(np.maximum(means - central[0], central[1] - means), 0.0)
