"""The posteriors of all tables, as estimates read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.estimate.pooled.confounding import Learnt
from dobandit.estimate.pooled.posterior import Conditions


class Tables(NamedTuple):
    """The posteriors of all tables, the row being the last axis."""

    cells: Array  # their means
    totals: Array  # by condition
    informed: Learnt | None  # of private tables that observations inform


def tables_of(conditions: Conditions, shapes: Array, informed: Learnt | None) -> Tables:
    """The tables whose posteriors have these parameters: axes (row, cell)."""
    shapes = np.ascontiguousarray(shapes.T)
    totals = conditions.sums(shapes)
    return Tables(conditions.normalised(shapes), totals, informed)
