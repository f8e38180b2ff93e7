"""How strongly hidden causes act on what is set: learnt from pulls, for all rows of a private table together.

Every degree of confounding makes a prior of every row, and has a chance of its own (`consistency`). It is believed in
proportion to this chance and to how likely it makes all own outcomes of the table (the likelihood is
Dirichlet-multinomial). So pulls of do(X=1) that agree with what observations show of X=1 also make do(X=0) more like
what observations show of X=0: the responses to both values are different unknowns, but the hidden causes, and whom they
give which value, are the same.

Half of those who had X=0 won, and 90 % of those who had X=1. Do 100 pulls of do(X=1) agree with that? The chance that
confounding is strong, and what the posteriors of do(X=0) and do(X=1) weigh:

>>> from dobandit.estimate.pooled.consistency import Seen, jeffreys, prior
>>> seen = Seen(np.array([[2500.0, 2500, 500, 4500]]), np.array([[5000.0, 5000]]), np.array([[10_000.0, 10_000]]))
>>> rows = Rows(np.array([0, 2]), np.array([2, 2]), np.array([2, 2]), np.array([1, 1]), np.array([0, 0]), np.array([0]))
>>> priors = prior(seen, rows, np.full((1, 4), 0.5), jeffreys(rows))
>>> for own in ([0, 0, 0, 0], [0, 0, 10, 90], [0, 0, 50, 50]):
...     found = learnt(priors, rows, np.array([own], dtype=float))
...     print(f"{found.degrees[0, 0, 0]:.2f}", rows.sums(found.shapes).round())
0.50 [[21. 11.]]
0.27 [[ 34. 166.]]
1.00 [[ 11. 108.]]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.estimate.pooled.consistency import RowPriors, Rows, normed


class Learnt(NamedTuple):
    """What is known of some rows: axes (batch, cell) or (batch, row), and the degree before them where it says so."""

    shapes: Array  # of the Dirichlet with the mean and the total variance of the posterior
    follows: Array  # how far the mean follows the share of v among observations with x and z
    seen: Array  # those shares
    number: Array  # the weight of the posterior of those shares
    by_degree: Array  # shapes: (degree, batch, cell)
    degrees: Array  # the probability of each degree: (degree, batch, row), the same for all rows of a table


def learnt(priors: RowPriors, rows: Rows, own: Array) -> Learnt:
    """What own outcomes, axes (batch, cell), make of these priors."""
    before = priors.means * rows.spread(priors.weights)
    shapes, totals = before + own, priors.weights + rows.sums(own)
    degrees = normed(priors.degrees * rows.likelihoods(before, priors.weights, own))
    means = shapes / rows.spread(totals)
    mean = (rows.spread(degrees) * means).sum(axis=0)
    variances = rows.diversity(means) / (totals + 1) + rows.sums((means - mean) ** 2)
    weights = rows.diversity(mean) / (degrees * variances).sum(axis=0) - 1
    follows = (degrees * priors.slopes * priors.weights / totals).sum(axis=0)
    return Learnt(mean * rows.spread(weights), follows, priors.seen, priors.number, shapes, degrees)


def drawn_shapes(known: Learnt, rows: Rows, number: int, rng: np.random.Generator) -> Array:
    """Parameters of the rows for draws from the posterior of a batch of one, each with one degree for a whole table:
    axes (draw, cell)."""
    luck = rng.uniform(size=(number, len(rows.begin))).take(rows.table, axis=1)
    chosen = (luck[np.newaxis] > known.degrees.cumsum(axis=0)[:-1]).sum(axis=0)
    return np.take_along_axis(known.by_degree[:, 0], rows.spread(chosen), axis=0)
