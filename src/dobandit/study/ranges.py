"""What the observations of a study say of options that they do not identify.

Bounds are natural ones, which are quick: `dobandit effect` and `check --data` also find sharp ones. Ruled out are those
options that `causal-explore` and `causal-thompson` neither pull for their own sake nor recommend.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.estimate.observational import Bounds, RuledOut
from dobandit.estimate.pooled import Added, RepairedGraphs
from dobandit.evidence import Evidence
from dobandit.problem import Problem


class Ranged(NamedTuple):
    """What is said of an option: the `bounds` of its mean, why it cannot be the best, and by which share its mean
    follows the observations of its value (`from_log`); None where observations enter its estimate as a whole."""

    bounds: Bounds | None = None
    ruled_out: RuledOut | None = None
    from_log: float | None = None


def ranged(
    problem: Problem, graphs: RepairedGraphs, evidence: Evidence, added: Added, costs: Array
) -> tuple[Ranged, ...]:
    """What is said of every option; `added` are the hidden causes that the graph of a batch of one row allows for."""
    ((_, pooled, seen),) = graphs.by_graph(evidence, added)
    known, natural = pooled.stated(seen), pooled.natural
    follows = pooled.from_log(seen, known)[0]
    found = [Ranged(from_log=None if np.isnan(share) else float(share)) for share in follows]
    reasons = pooled.ruled_out(seen, known, costs)
    if reasons is None or not seen.told[0, 0]:
        return tuple(found)
    low, high = pooled.natural_ends(seen)
    for place, k in enumerate(natural.arms):
        least, most = sorted(problem.in_units(np.array([low[0, place], high[0, place]])).tolist())
        reason = None
        if reasons.out[0, k]:
            other = str(problem.arms[int(reasons.by[0, place])])
            mine, best = problem.in_units(np.array([reasons.high[0, place], reasons.low[0, place]])).tolist()
            reason = RuledOut(other, mine, best) if problem.goal == "max" else RuledOut(other, best, mine)
        found[k] = found[k]._replace(bounds=Bounds(least, most, "natural"), ruled_out=reason)
    return tuple(found)
