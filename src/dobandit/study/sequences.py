"""Confidence sequences of the options of a study, for people who must defend a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dobandit.arrays import Array
from dobandit.certainty import Interval, sequence_ends
from dobandit.problem import Problem
from dobandit.study.answers import Status
from dobandit.study.files import columns
from dobandit.study.outcomes import UNKNOWN, utilities

LEVEL = 0.95  # for all options together


def with_sequences(found: Status, problem: Problem, outcomes: Mapping[str, Sequence[Any]]) -> Status:
    """The status with intervals that hold at all times and for all options together, from the rewards of pulls alone;
    without them where it is not known between which ends rewards lie."""
    if not problem.has_range:
        return found
    done, told = outcomes[columns(problem)["intervention"]], outcomes[problem.reward]
    known = [k for k, value in enumerate(told) if value != UNKNOWN]
    rewards, arms = utilities(problem, [told[k] for k in known]), np.array([done[k] for k in known], dtype=object)
    level = 1 - (1 - LEVEL) / len(found.arms)
    return found._replace(
        arms=tuple(arm._replace(anytime=_interval(problem, rewards[arms == arm.arm], level)) for arm in found.arms)
    )


def _interval(problem: Problem, rewards: Array, level: float) -> Interval:
    values, counts = np.unique(np.clip(rewards, 0.0, 1.0), return_counts=True)
    ends = sequence_ends(values, counts.astype(float), level) if len(values) else (0.0, 1.0)
    low, high = sorted(problem.in_units(np.array(ends, dtype=float)).tolist())
    return Interval(low, high)
