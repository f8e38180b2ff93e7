"""What observations say about a row P(v | do(x), z) that they do not identify: its prior.

Where X was x anyway, setting it to x would have changed nothing (consistency). So the row is a mixture,

    P(v | do(x), z) = w P(v | x, z) + (1 - w) r(v),      w = P(x | z)

of a part that observations show and of r, how those respond who had another value, about which only pulls of do(x)
teach. With r anywhere this gives the natural bounds (Manski 1990); here r has a prior of its own, for each of two
degrees of confounding. Where hidden causes act strongly, r has the weight of two outcomes, halfway between what is
usual and what is seen; where they act weakly, the weight of 30 outcomes, and is close to what is seen. The prior of the
row is the Dirichlet that has the mean and the total variance of this mixture; where it is smaller, it has the weight of
Jeffreys' prior. Which degree it is, own pulls tell (`confounding`). Before them, rows of observations give a hint:
where these differ a lot, the causes that are seen act strongly, and then hidden ones probably do, too.

The guess about r is off in the same direction whatever z is. Rows are independent here, so its errors would average
out over many z, and the prior would seem to know the mean of an arm and withstand its pulls. So with k rows of the same
setting the variance of the guess counts k times: then the mean over all z is as uncertain as one row would be.

Half of those who had X=1 won, and a quarter of those who had X=0, with as many of both among 10,000 observations:

>>> seen = Seen(np.array([[2500.0, 2500, 3750, 1250]]), np.array([[5000.0, 5000]]), np.array([[10_000.0, 10_000]]))
>>> rows = Rows(np.array([0, 2]), np.array([2, 2]), np.array([2, 2]), np.array([1, 1]), np.array([0, 0]), np.array([0]))
>>> found = prior(seen, rows, np.full((1, 4), 0.5), jeffreys(rows))
>>> found.means.round(3).tolist()  # strong, then weak
[[[0.5, 0.5, 0.687, 0.313]], [[0.5, 0.5, 0.737, 0.263]]]
>>> found.weights.round(1).tolist()
[[[11.0, 10.0]], [[120.3, 116.9]]]
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled.own import PRIOR
from dobandit.estimate.pooled.stated import log_rising

T = TypeVar("T", bound=np.generic)
ALIKE = 2.0 ** np.arange(5)[:, np.newaxis, np.newaxis]  # times Jeffreys' weight: what is usual may count for
# By degree of confounding, strong and weak, with axes for batch and row:
LIKE_SEEN = np.array([0.5, 0.9])[:, np.newaxis, np.newaxis]  # how far r lies from what is usual to what is seen
GUESS = np.array([2.0, 30.0])[:, np.newaxis, np.newaxis]  # outcomes that this expectation counts for
ROWS = np.array([1.0, 8.0])[:, np.newaxis, np.newaxis]  # how alike rows of observations are then, as in ALIKE
# The hint counts as if the table had so many rows, since causes that do nothing make many rows alike; and it makes one
# degree at most so many times as likely as the other, since hidden causes need not act as others do: in LaLonde's data
# (docs/confounded-logs.md) rows are alike, and yet the log misleads.
HINT, MOST_LIKELY = 3.0, 3.0


class Rows(NamedTuple):
    """Some rows of tables, whose cells lie behind each other."""

    first: Indices  # their first cells
    card: Indices  # the number of their values
    settings: Indices  # the number of values that what is set may have
    beside: Indices  # how many rows of the table have the same setting, themselves included
    table: Indices  # the number of their table
    begin: Indices  # the first row of every table

    def sums(self, cells: Array) -> Array:
        """Sums over the values: axes (..., cell) become (..., row)."""
        return np.asarray(np.add.reduceat(cells, self.first, axis=-1))

    def of_table(self, numbers: Array) -> Array:
        """For every row, the sum over all rows of its table."""
        return np.asarray(np.add.reduceat(numbers, self.begin, axis=-1).take(self.table, axis=-1))

    def diversity(self, cells: Array) -> Array:
        """1 - Σ p²: a Dirichlet with this mean and the total n has this over n + 1 as the sum of its variances."""
        return np.asarray(1 - self.sums(cells**2))

    def likelihoods(self, shapes: Array, weights: Array, counts: Array) -> Array:
        """How likely several priors make these counts, all rows of a table having the same one: Dirichlets with these
        parameters, axes (prior, batch, cell), and their weights. Compared with the likeliest: (prior, batch, row)."""
        found = self.of_table(self.sums(log_rising(counts, shapes)) - log_rising(self.sums(counts), weights))
        return np.asarray(np.exp(found - found.max(axis=0)))

    def spread(self, numbers: NDArray[T]) -> NDArray[T]:
        """A number of each row for all of its cells."""
        return np.repeat(numbers, self.card, axis=-1)


class Seen(NamedTuple):
    """Observations, the batch being the first axis."""

    counts: Array  # of the values v together with x and z: by cell
    as_set: Array  # with x, among all with z: by row
    all: Array


class RowPriors(NamedTuple):
    """The priors of some rows: axes (degree, batch, cell) or (degree, batch, row)."""

    degrees: Array  # how likely each degree is, the same for all rows of a table
    means: Array
    weights: Array
    slopes: Array  # how far the mean follows the share of v among observations with x and z
    seen: Array  # those shares, without the axis of degrees
    number: Array  # the weight of the posterior of those shares, in the same way


def prior(seen: Seen, rows: Rows, usual: Array, weight: Array, centre: Array | None = None) -> RowPriors:
    """The Dirichlet priors of rows, for each degree of confounding.

    Parameters
    ----------
    seen
        The observations.
    rows
        Where their cells lie.
    usual
        The usual distribution of v: axes (batch, cell).
    weight
        The outcomes that it counts for in a row of observations: axes (batch, row).
    centre
        What rows of observations are alike to, if they are: axes (batch, cell). Default: the usual distribution.
    """
    number, settings = rows.sums(seen.counts) + weight, seen.all + PRIOR * rows.settings
    shares = (seen.counts + rows.spread(weight) * usual) / rows.spread(number)
    w = (seen.as_set + PRIOR) / settings
    guess = usual + LIKE_SEEN * (shares - usual)
    means = shares + rows.spread(1 - w) * (guess - shares)
    slopes = w + (1 - w) * LIKE_SEEN
    variance = (
        slopes**2 * rows.diversity(shares) / (number + 1)
        + rows.beside * (1 - w) ** 2 * rows.diversity(guess) / (GUESS + 1)
        + w * (1 - w) / (settings + 1) * rows.sums((shares - guess) ** 2)
    )
    weights = np.maximum(rows.diversity(means) / variance - 1, jeffreys(rows))
    return RowPriors(_hinted(seen, rows, usual if centre is None else centre), means, weights, slopes, shares, number)


def _hinted(seen: Seen, rows: Rows, centre: Array) -> Array:
    """How likely each degree is before the first pull. Rows with another value of what is set differ for two reasons,
    and hidden causes may cancel an effect, so there is no hint where no other rows have the same value."""
    has_hint = rows.beside > 1
    if not has_hint.any():
        return np.full((len(GUESS), *seen.all.shape), 1 / len(GUESS))
    weights = jeffreys(rows) * ROWS
    share = np.minimum(HINT / np.bincount(rows.table).take(rows.table), 1.0) * has_hint
    hints = rows.likelihoods(rows.spread(weights) * centre, weights, seen.counts) ** share
    return normed(np.maximum(hints, 1 / MOST_LIKELY))


def normed(chances: Array) -> Array:
    """Probabilities in proportion to these: they sum to one over the first axis."""
    return np.asarray(chances / chances.sum(axis=0))


def jeffreys(rows: Rows) -> Array:
    """The weight of Jeffreys' prior in every row."""
    return np.asarray(PRIOR * rows.card, dtype=float)


def alike(seen: Seen, rows: Rows, usual: Array) -> Array:
    """The outcomes that the usual distribution counts for in every row of observations, learnt from how alike the rows
    of a table are; at least as many as in Jeffreys' prior."""
    weights = jeffreys(rows) * ALIKE
    beliefs = normed(rows.likelihoods(rows.spread(weights) * usual, weights, seen.counts))
    return np.asarray(np.exp((beliefs * np.log(weights)).sum(axis=0)))
