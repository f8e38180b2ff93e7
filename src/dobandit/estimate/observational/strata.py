"""Adjustment over the combinations of covariates that occur, however many there could be.

A stratum is such a combination. Tables of all combinations may be too large, and yet every stratum that occurs may have
rows with the arm; then their means, weighted by the size of the strata, are the plug-in estimate. It is the same number
that complete tables would give.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.estimate.observational.cases import Cases
from dobandit.estimate.observational.gaps import stand_in
from dobandit.estimate.observational.plugin import Rows
from dobandit.estimate.observational.scores import Scores
from dobandit.problem import Arm

ENOUGH = 0.02  # strata without the arm may have this share of the rows; the interval allows for the worst there


def strata_scores(cases: Cases, arm: Arm, covariates: Sequence[str]) -> Scores:
    """The scores of an arm from the mean of each stratum; in one without the arm, `stand_in` tells what counts."""
    combinations = np.column_stack([cases.column(v) for v in covariates])
    _, stratum = np.unique(combinations, axis=0, return_inverse=True)
    stratum, has = stratum.reshape(-1), cases.have(arm)

    def totals(of: Array | Flags) -> Array:
        return np.bincount(stratum, cases.weights * of).astype(float)

    size, treated = totals(np.ones(len(has))), totals(has)
    seen, rows = treated > 0, np.maximum(treated, 1e-300)
    counts, off = stand_in(cases, has)
    means = np.where(seen, totals(has * cases.outcome) / rows, counts)
    residuals = cases.outcome - means[stratum]
    share = size / cases.total
    variances = totals(has * residuals**2) / rows
    reach = 2 * np.sqrt(largest_variance(cases))
    cells = Rows(treated[seen], (share**2 * variances)[seen], (share * reach)[seen])
    values = means[stratum] + np.where(has, (size / rows)[stratum] * residuals, 0.0)
    return Scores(values, cells, float(share[~seen].sum()), off)


def largest_variance(cases: Cases) -> float:
    """Of a single outcome: that of a fair coin between the worst and the best value, or, for a measurement, of all."""
    if cases.scale.between:
        return cases.average((cases.outcome - cases.average(cases.outcome)) ** 2)
    return float(np.ptp(cases.scale.worth)) ** 2 / 4
