"""The points of the paper's thirteen panels, as read from the vector graphics of its published version.

Points are means with one standard error. Those of the parallel graph are means of 200 trials (their values are
multiples of 0.3/200, although the text says 100); for the others the number of trials cannot be told.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

CITATION = (
    "Fateme Jamshidi, Jalal Etesami and Negar Kiyavash: Confounded Budgeted Causal Bandits. "
    "Proceedings of the Third Conference on Causal Learning and Reasoning (CLeaR), PMLR 236, 2024."
)


class Point(NamedTuple):
    """Mean regret and its standard error."""

    regret: float
    se: float


def points(panel: str, policy: str) -> Mapping[float, Point]:
    """The published points of a policy, variants included, by their place on the grid; none if there is no curve.

    >>> points("fig2-budget", "f-kube[as_published=true]")[2450.0]
    Point(regret=594.522, se=6.75032)
    """
    return _all().get((panel, policy.partition("[")[0]), {})


@cache
def _all() -> Mapping[tuple[str, str], Mapping[float, Point]]:
    curves: dict[tuple[str, str], dict[float, Point]] = {}
    text = files("dobandit.paper").joinpath("published-curves.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        curve = curves.setdefault((row["panel"], row["policy"]), {})
        curve[float(row["x"])] = Point(float(row["regret"]), float(row["standard_error"]))
    return curves
