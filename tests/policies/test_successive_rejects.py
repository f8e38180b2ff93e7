from __future__ import annotations

import math

import numpy as np
import pytest

from dobandit.policies.successive_rejects import largest_number, schedule
from tests import references_simple
from tests.policies.same_arms import SameArmsAndRecommendation


class TestSuccessiveRejects(SameArmsAndRecommendation):
    name, algorithm = "successive-rejects", references_simple.successive_rejects
    variants = (
        {"form": "budget"},
        {"form": "half"},
    )


def test_the_schedule_by_hand() -> None:
    """K = 4: log-bar = 1/2 + 1/2 + 1/3 + 1/4 = 19/12; n_k = ceil(12/19 * (n - 4) / (5 - k))."""
    assert schedule(np.array([100.0]), 4).tolist() == [[0, math.ceil(96 * 3 / 19), math.ceil(96 * 4 / 19), 31]]
    assert schedule(np.array([4.0]), 4).tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize("number", [16, 40, 333, 1000])
@pytest.mark.parametrize("arms", [2, 7, 15])
def test_the_schedule_never_needs_more_than_n_pulls(number: int, arms: int) -> None:
    pulls = schedule(np.array([float(number)]), arms)[0]
    assert pulls[1:].sum() + pulls[-1] <= number


@pytest.mark.parametrize("seed", range(10))
def test_the_largest_number_that_can_be_paid_whatever_is_dropped(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs, budget = rng.uniform(1, 9, size=6), float(rng.uniform(60, 900))

    def worst(number: float) -> float:
        new = np.diff(schedule(np.array([number]), 6)[0])
        return float(sum(k * np.sort(costs)[i:].sum() for i, k in enumerate(new)))

    (found,) = largest_number(costs[np.newaxis], np.array([budget])).tolist()
    assert found == 6 or worst(found) <= budget
    assert worst(found + 1) > budget
