"""What observations say about the mean of a row of a measured reward that they do not identify.

As for shares (`consistency`), setting X to x changes nothing where X was x anyway, so that the row has the mean

    E[Y | do(x), z] = w E[Y | x, z] + (1 - w) r,      w = P(x | z)

Observations show the first part; r is the mean reward that those with another value would have. The guess about it lies
between the usual reward and what is seen, and is as uncertain as the mean of two rewards where hidden causes act
strongly, of 30 where they act weakly. Own rewards overrule the guess and tell which degree it is: each is believed in
proportion to how likely it makes the mean of the own rewards, which is taken to be normal.

All rewards are in the data's own unit, in which their mean is 0 and their variance 1. Those of 5,000 observations with
X=0 are 0.8 below the mean, those of 5,000 with X=1 as much above it. The means of do(X=0) and do(X=1) before the first
pull, after 20 rewards of do(X=1) like those seen, and after 20 unlike them, and the rewards that each is worth:

>>> number = np.array([[5000.0, 5000]])
>>> seen = SeenMeans(number, number * [-0.8, 0.8], number, number, 2 * number)
>>> rows = MeanRows(np.array([2, 2]), np.array([1, 1]), np.array([0, 0]), np.array([0]))
>>> for n, mean in ((0, 0.0), (20, 0.8), (20, -0.8)):
...     own = np.array([[[0, n]], [[0, n * mean]], [[0, n * (mean**2 + 0.36)]]])
...     found = learnt_means(mean_priors(seen, rows), rows, own)
...     print(found.means.round(2), found.weights.round(1))
[[-0.68  0.68]] [[18.2 18.2]]
[[-0.71  0.77]] [[25.2 48.7]]
[[-0.6 -0.5]] [[11.  25.5]]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled.consistency import GUESS, LIKE_SEEN
from dobandit.estimate.pooled.moments import WEIGHT
from dobandit.estimate.pooled.own import PRIOR
from dobandit.estimate.pooled.skewed import USUAL, variances


class MeanRows(NamedTuple):
    """Some rows of tables of the reward."""

    settings: Indices  # the number of values that what is set may have
    beside: Indices  # how many rows of the table have the same setting, themselves included
    table: Indices  # the number of their table
    begin: Indices  # the first row of every table

    def of_table(self, numbers: Array) -> Array:
        """For every row, the sum over all rows of its table."""
        return np.asarray(np.add.reduceat(numbers, self.begin, axis=-1).take(self.table, axis=-1))


class SeenMeans(NamedTuple):
    """Observations: axes (batch, row)."""

    number: Array  # of rewards with x and z
    sums: Array
    squares: Array
    as_set: Array  # observations with x, among all with z
    all: Array


class MeanPriors(NamedTuple):
    """The normal priors of the means: axes (degree, batch, row)."""

    means: Array
    variances: Array
    slopes: Array  # how far the mean follows the mean of the observations with x and z


class LearntMeans(NamedTuple):
    """What is known of the means: axes (batch, row), and the degree before them where it says so."""

    means: Array
    weights: Array  # the rewards that this is worth: the variance of one over that of the mean, less one
    spread: Array  # the variance of a single reward
    follows: Array  # how far the mean follows that of the observations with x and z
    by_degree: Array  # means
    totals: Array  # weights, by degree
    degrees: Array  # the probability of each degree, the same for all rows of a table


def mean_priors(seen: SeenMeans, rows: MeanRows) -> MeanPriors:
    """The priors of the means for each degree of confounding."""
    usual = rows.of_table(seen.sums) / (rows.of_table(seen.number) + WEIGHT)
    shown = (seen.sums + WEIGHT * usual) / (seen.number + WEIGHT)
    settings = seen.all + PRIOR * rows.settings
    w = (seen.as_set + PRIOR) / settings
    guess = usual + LIKE_SEEN * (shown - usual)
    slopes = w + (1 - w) * LIKE_SEEN
    variance = (
        slopes**2 * variances(seen.number, seen.sums, seen.squares) / (seen.number + WEIGHT)
        + rows.beside * (1 - w) ** 2 / (GUESS + 1)  # errors of the guess do not average out over z
        + w * (1 - w) / (settings + 1) * (shown - guess) ** 2
    )
    return MeanPriors(w * shown + (1 - w) * guess, variance, slopes)


def learnt_means(priors: MeanPriors, rows: MeanRows, own: Array, usual: Array | float = USUAL) -> LearntMeans:
    """What own rewards make of these priors: their number and the sums of their first two powers, with axes (power,
    batch, row). The spread of all rewards counts for `usual` of them."""
    n, s, q = own
    spread = variances(n, s, q, usual)
    weights = np.maximum(spread / priors.variances - 1, WEIGHT)
    expected = spread * (1 / (weights + 1) + 1 / np.maximum(n, 1.0))  # how far the mean of own rewards may be off
    off = (s / np.maximum(n, 1.0) - priors.means) ** 2
    likelihoods = rows.of_table(np.where(n > 0, -(off / expected + np.log(expected)) / 2, 0.0))
    chances = np.exp(likelihoods - likelihoods.max(axis=0))
    degrees = chances / chances.sum(axis=0)
    totals = weights + n
    by_degree = (weights * priors.means + s) / totals
    means = (degrees * by_degree).sum(axis=0)
    variance = (degrees * (spread / (totals + 1) + (by_degree - means) ** 2)).sum(axis=0)
    follows = (degrees * priors.slopes * weights / totals).sum(axis=0)
    worth = np.maximum(spread / variance - 1, WEIGHT)
    return LearntMeans(means, worth, spread, follows, by_degree, totals, degrees)


def drawn_means(known: LearntMeans, rows: MeanRows, number: int, rng: np.random.Generator) -> Array:
    """Draws of the means for a batch of one, each with one degree for a whole table: axes (row, draw). They follow
    Student's distribution, because the variance is estimated, too."""
    luck = rng.uniform(size=(number, len(rows.begin))).take(rows.table, axis=1)
    chosen = (luck[np.newaxis] > known.degrees.cumsum(axis=0)[:-1]).sum(axis=0)
    means, totals = (np.take_along_axis(each[:, 0], chosen, axis=0) for each in (known.by_degree, known.totals))
    errors = np.sqrt(known.spread / (totals + 1)) * rng.standard_t(totals + USUAL)
    return np.asarray((means + errors).T)
