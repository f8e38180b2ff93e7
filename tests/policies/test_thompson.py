"""Thompson sampling: draws from Beta posteriors, made of each row's own uniform numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dobandit.chance import Chance


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 8), (30, 12), (0.5, 0.5)])
def test_draws_are_beta(a: float, b: float) -> None:
    """Mean and variance within four standard errors of those of the Beta distribution."""
    chance, trials = Chance(3, "policy:thompson"), np.arange(640)
    shapes = np.tile([float(a), float(b)], (640, 20))
    draws = []
    for round_ in range(10):
        gammas = chance.gammas(trials, round_, shapes)
        draws.append(gammas[:, 0::2] / (gammas[:, 0::2] + gammas[:, 1::2]))
    x = np.concatenate(draws).ravel()
    mean, variance = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    assert abs(x.mean() - mean) <= 4 * math.sqrt(variance / len(x))
    spread = (x - mean) ** 2
    assert abs(spread.mean() - variance) <= 4 * spread.std() / math.sqrt(len(x))


def test_a_rows_draws_are_its_own() -> None:
    """Neither the other rows nor their shapes matter."""
    shapes = np.random.default_rng(1).uniform(0.5, 9, (200, 6))
    together = Chance(1, "policy:x").gammas(np.arange(200), 5, shapes)
    some = np.array([3, 64, 150])
    np.testing.assert_array_equal(Chance(1, "policy:x").gammas(some, 5, shapes[some]), together[some])
