"""One number for every row: their average is the mean of an arm, and their spread says how uncertain it is.

The number is the influence function of the adjusted mean: what is expected of the row under the arm, and, if the row
has the arm, how far it was from that, divided by its chance of having the arm. The error of a difference is the spread
of the differences, row by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.estimate.observational.cases import Cases
from dobandit.estimate.observational.gaps import stand_in
from dobandit.estimate.observational.plugin import Rows
from dobandit.numerals import number
from dobandit.problem import Arm


class Overlap(NamedTuple):
    """How the arm's chance, given what is adjusted for, varies between the rows, and what its rows are worth."""

    quantiles: dict[str, float]  # of the chance
    rows: int  # that have the arm
    effective_rows: float  # rows of equal weight that would say as much


class Fit(NamedTuple):
    """What was fitted for one arm: which models had the smallest cross-validated loss, and how well rows overlap."""

    arm: str
    outcome: str
    propensity: str
    overlap: Overlap

    def to_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "overlap": self.overlap._asdict()}

    def __str__(self) -> str:
        rows = self.overlap.rows
        least, middle, most = (number(self.overlap.quantiles[at], 2) for at in ("0%", "50%", "100%"))
        return (
            f"{self.arm}: outcome by {self.outcome}, chance of the arm by {self.propensity}; the chance is "
            f"{least} to {most} (median {middle}), and its {rows:,} rows "
            f"say as much as {self.overlap.effective_rows:,.0f}"
        )


class Scores(NamedTuple):
    """What the rows say about one arm."""

    values: Array
    cells: Rows  # samples so small that their own spread is not to be trusted
    unseen: float = 0.0  # the share of rows of which nothing is known under this arm
    reach: float = 0.0  # how far the truth there may be from what counts
    fit: Fit | None = None


NO_CELLS = Rows(np.empty(0), np.empty(0), np.empty(0))


def plain_scores(cases: Cases, arm: Arm) -> Scores:
    """Without covariates the rows that have the arm stand for all; do() is had by all."""
    has = cases.have(arm)
    share, (counts, reach) = cases.average(has), stand_in(cases, has)
    unknown = counts if cases.scale.between else float(np.mean(cases.scale.worth))
    mean = cases.average(has * cases.outcome) / share if share else unknown
    return Scores(mean + has / max(share, 1e-300) * (cases.outcome - mean), NO_CELLS, 0.0 if share else 1.0, reach)
