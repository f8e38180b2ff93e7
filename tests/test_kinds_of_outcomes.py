"""How many outcomes are good ones: exact for two values, and the same for any unit of a reward."""

from __future__ import annotations

import numpy as np
import pytest

from dobandit.certainty.kinds import good_share


def share(rewards: list[float], usual: float = 0.0) -> float:
    return float(good_share(np.array([(np.array(rewards) ** power).sum() for power in range(4)]), usual))


@pytest.mark.parametrize("successes", [1, 2, 10, 19])
def test_with_two_values_they_are_counted(successes: int) -> None:
    rewards = np.array([1.0] * successes + [0.0] * (20 - successes))
    assert share(rewards.tolist()) == pytest.approx(successes / 20)
    assert share((5 + 80 * rewards).tolist()) == pytest.approx(successes / 20)
    assert share((5 - 80 * rewards).tolist()) == pytest.approx(1 - successes / 20)


def test_a_single_large_reward_is_one_outcome() -> None:
    assert share([0.0] * 99 + [7.0]) == pytest.approx(1 / 100)
    assert 1 / 100 < share([0.0] * 97 + [1.0, 2.0, 100.0]) < 1.1 / 100


def test_half_of_values_around_a_mean_are_good() -> None:
    assert share(np.random.default_rng(1).normal(100, 5, 4000).tolist()) == pytest.approx(1 / 2, abs=0.05)


@pytest.mark.parametrize(("usual", "found"), [(2.0, 1), (3.0, 1), (4.0, 0)])
def test_equal_rewards_are_good_if_they_are_not_below_the_usual_one(usual: float, found: int) -> None:
    assert share([3.0] * 7, usual) == found
