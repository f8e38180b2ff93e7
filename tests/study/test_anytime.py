"""Confidence sequences: they hold at all times, whatever the policy, and whatever makes you stop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dobandit.arrays import Array
from dobandit.certainty import sequence_ends
from dobandit.problem import Problem
from dobandit.study import Study

BETS = 2.0 ** (-np.arange(26) / 2)


def money(rewards: Array, mean: float) -> float:
    """What one unit has become that was divided among the bets, worked out reward by reward."""
    return float(np.mean([np.prod(1 - bet + bet * rewards / mean) for bet in BETS]))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60), st.floats(0.8, 0.999))
def test_ends_are_where_bets_have_earned_enough(seen: list[float], level: float) -> None:
    rewards = np.array(seen)
    values, counts = np.unique(rewards, return_counts=True)
    low, high = sequence_ends(values, counts.astype(float), level)
    assert 0 <= low <= rewards.mean() <= high <= 1
    enough = 2 / (1 - level)
    for end, against in ((low, rewards), (1 - high, 1 - rewards)):
        if end > 1e-9:
            assert money(against, float(end) * 0.999) >= enough
            assert money(against, float(end) * 1.001) <= enough


@pytest.mark.parametrize("kind", ["rare", "binary", "skewed"])
def test_at_most_one_run_in_twenty_ever_leaves_its_intervals(kind: str) -> None:
    """A thousand runs that chase whatever looks best or worst, watched after every pull: the mean of an option is left
    out when the bets against it have earned enough (`test_ends_are_where_bets_have_earned_enough`)."""
    runs, pulls, arms = 1000, 400, 2
    rng = np.random.default_rng(5)
    means = np.array({"rare": [0.02, 0.03], "binary": [0.4, 0.5], "skewed": [0.1, 0.12]}[kind])
    logs = np.zeros((2, runs, arms, len(BETS)))  # of the money of both sides
    number, total = np.zeros((runs, arms)), np.zeros((runs, arms))
    has_left, every = np.zeros(runs, dtype=bool), np.arange(runs)
    needed = np.log(2 * arms / 0.05)
    for t in range(pulls):
        guess = (total + 0.5) / (number + 1)
        arm = (guess if t % 2 else -guess).argmax(axis=1)  # adaptive: unlucky options are looked at no more
        if kind == "skewed":
            rewards = rng.beta(0.2, 0.2 * (1 / means[arm] - 1))
        else:
            rewards = (rng.random(runs) < means[arm]).astype(float)
        for side, (x, m) in enumerate(((rewards, means[arm]), (1 - rewards, 1 - means[arm]))):
            with np.errstate(divide="ignore"):
                logs[side, every, arm] += np.log(1 - BETS + BETS * (x / m)[:, np.newaxis])
        number[every, arm] += 1
        total[every, arm] += rewards
        with np.errstate(divide="ignore"):
            has_left |= (np.log(np.exp(logs).mean(axis=-1)) >= needed).any(axis=(0, 2))
    assert has_left.sum() <= 0.05 * runs


def test_they_are_not_much_wider_than_intervals_for_one_look() -> None:
    counts: Array = np.array([[600.0, 400.0], [98.0, 2.0]])
    low, high = sequence_ends(np.array([0.0, 1.0]), counts)
    number, share = counts.sum(axis=1), counts[:, 1] / counts.sum(axis=1)
    usual = 2 * 1.96 * np.sqrt(share * (1 - share) / number)
    assert (high - low < [2 * usual[0], 2.5 * usual[1]]).all()


def test_a_study_shows_them_beside_the_others(place: str) -> None:
    problem = Problem("X -> Y", {"variable": "Y", "range": [0, 10]}, 1000, "simple", goal="min")
    study = Study.create(place, problem)
    study.observe({"X": [0, 1] * 50, "Y": [5, 7] * 50}, name="log")
    for y in (2, 3, 2, 4, 3, 2, 2.5, 3.5) * 3:
        study.record("do(X=0)", {"X": 0, "Y": y})
    assert all(arm.anytime is None for arm in study.status().arms)
    do, left, right = study.status(anytime=True).arms
    assert (do.anytime, right.anytime) == ((0, 10), (0, 10)), "logged rows and other options say nothing"
    assert left.anytime is not None
    seen = 1 - np.array([2, 3, 2, 4, 3, 2, 2.5, 3.5]) / 10
    values, counts = np.unique(seen, return_counts=True)
    low, high = sequence_ends(values, np.float64(3.0) * counts, 1 - 0.05 / 3)
    assert left.anytime == pytest.approx((10 - 10 * float(high), 10 - 10 * float(low)))


def test_without_a_range_there_are_none() -> None:
    study = Study.create(":memory:", Problem("X -> Y", {"variable": "Y"}, 100, "simple"))
    study.record("do(X=0)", {"X": 0, "Y": 3})
    assert all(arm.anytime is None for arm in study.status(anytime=True).arms)
