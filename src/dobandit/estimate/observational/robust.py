"""Doubly robust estimation: adjustment for more covariates than tables can hold, numbers among them.

The scores use a model of the outcome and a model of the arm's chance, each predicting rows that it was not fitted to
(augmented inverse probability weighting with cross-fitting; Robins, Rotnitzky and Zhao 1994, Chernozhukov et al. 2018).
The estimate is right if one of the two models is, and its interval holds if both are good enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dobandit.arrays import Flags, Indices
from dobandit.errors import DataError
from dobandit.estimate.observational.cases import Cases
from dobandit.estimate.observational.nuisance import Fitted, fit_outcome, fit_propensity, folds_of
from dobandit.estimate.observational.scores import NO_CELLS, Fit, Overlap, Scores
from dobandit.problem import Arm

FEWEST = 20  # rows with the arm, and without it, below which no model is fitted
RARE = 0.02  # of the arm's share of all rows: a row whose chance is smaller almost never has the arm
MOST_RARE = 0.01  # of the rows may have such a chance before overlap fails
LEAST_EFFECTIVE = 0.1  # of the arm's rows must be left after weighting
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def robust_scores(cases: Cases, arm: Arm, covariates: Sequence[str]) -> Scores:
    """The scores of an arm, and what was fitted for it."""
    has = cases.have(arm)
    if has.sum() < FEWEST:
        raise DataError(
            f"{cases.source}: {arm}: only {int(has.sum())} rows have it, which is too few to adjust for "
            f"{len(covariates)} covariates; {FEWEST} are the least"
        )
    fold = folds_of(has)
    outcome = fit_outcome(cases, covariates, has, fold)
    chance = _propensity(cases, covariates, has, fold)
    floor = RARE * float(has.mean())
    weights = has / np.maximum(chance.predictions, floor)
    values = outcome.predictions + weights * (cases.outcome - outcome.predictions)
    overlap = Overlap(
        {f"{q:.0%}": float(x) for q, x in zip(QUANTILES, np.quantile(chance.predictions, QUANTILES), strict=True)},
        int(has.sum()),
        float(weights.sum() ** 2 / (weights**2).sum()),
    )
    unseen = float((chance.predictions < floor).mean())
    return Scores(values, NO_CELLS, unseen, fit=Fit(str(arm), outcome.name, chance.name, overlap))


def overlap_fails(scores: Scores) -> str:
    """What is wrong with the overlap, as a sentence; nothing if it will do."""
    if scores.fit is None:
        return ""
    arm, overlap = scores.fit.arm, scores.fit.overlap
    if scores.unseen <= MOST_RARE and overlap.effective_rows >= LEAST_EFFECTIVE * overlap.rows:
        return ""
    return (
        f"overlap fails for {arm}: {scores.unseen:.0%} of the rows are unlike those that have it, and its "
        f"{overlap.rows:,} rows say as much as {overlap.effective_rows:,.0f}; the models extrapolate there, so do not "
        "rely on this estimate: compare only rows that could have either, or run an experiment"
    )


def _propensity(cases: Cases, covariates: Sequence[str], has: Flags, fold: Indices) -> Fitted:
    if (~has).sum() < FEWEST:
        return Fitted("constant", np.full(len(has), has.mean()))
    return fit_propensity(cases, covariates, has, fold)
