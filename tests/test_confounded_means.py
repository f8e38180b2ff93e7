"""Options that no log identifies, where the reward is measured: answers start from the log, stay inside the range and
the bounds, and follow own pulls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import dobandit as db
from dobandit.certainty.bounded import bounded
from dobandit.estimate.pooled import PooledEstimator
from dobandit.estimate.pooled.consistent_means import MeanRows, SeenMeans, drawn_means, learnt_means, mean_priors
from dobandit.evidence import Evidence
from dobandit.problem import Goal
from dobandit.study.answers import ArmStatus

Array = NDArray[np.float64]
BOW = "X -> Y; X <-> Y"
MOST = 943.0
RANGE: Any = {"variable": "Y", "range": [0, MOST]}
STRONG, WEAK = (0.5, 2.0), (0.9, 30.0)  # how much those with another value are like the others, and what that weighs
ONE = MeanRows(np.array([2, 2]), np.array([1, 1]), np.array([0, 0]), np.array([0]))


class Shop(NamedTuple):
    """Revenue that depends on X and on something hidden, on which X depends, too."""

    chance: Array  # of X=1, by what is hidden
    buys: Array  # by what is hidden and by X
    spends: Array  # in the same way

    @classmethod
    def drawn(cls, seed: int) -> Shop:
        rng = np.random.default_rng([3, seed])
        return cls(rng.uniform(0.1, 0.9, 2), rng.uniform(0.05, 0.6, (2, 2)), rng.uniform(20, 150, (2, 2)))

    def truth(self, x: int) -> float:
        return float((self.buys * self.spends)[:, x].mean())

    def rows(self, n: int, rng: np.random.Generator, x: int | None = None) -> dict[str, Any]:
        hidden = rng.integers(2, size=n)
        own = (rng.random(n) < self.chance[hidden]).astype(int) if x is None else np.full(n, x)
        spent = self.spends[hidden, own] * rng.gamma(2.0, 0.5, n)
        return {"X": own, "Y": np.minimum(np.where(rng.random(n) < self.buys[hidden, own], spent, 0.0), MOST)}


def study_of(log: dict[str, Any], reward: Any = RANGE, graph: str = BOW, goal: Goal = "max") -> db.Study:
    study = db.Study.create(":memory:", db.Problem(graph, reward, 1000, "simple", goal=goal))
    study.observe(log, name="log")
    return study


def pulled(study: db.Study, x: int, rewards: Any, name: str = "pulls") -> None:
    number = len(rewards)
    study.observe({"X": [x] * number, "Y": rewards, "intervention": [f"do(X={x})"] * number}, name=name)


def arms(study: db.Study) -> dict[str, ArmStatus]:
    return {arm.arm: arm for arm in study.status().arms}


def is_inside(arm: ArmStatus) -> bool:
    assert arm.bounds is not None
    least, most = max(arm.bounds.low, 0.0) - 1e-9, min(arm.bounds.high, MOST) + 1e-9
    return least <= arm.low <= arm.mean <= arm.high <= most


def test_answers_before_the_first_pull_are_those_of_the_log() -> None:
    """In 40 shops: intervals contain the truth, lie inside the bounds and are much narrower than these, and means are
    closer to the truth than the mean of all rewards is."""
    covered, widths, off, off_before = [], [], [], []
    for seed in range(40):
        shop = Shop.drawn(seed)
        log = shop.rows(2000, np.random.default_rng(seed))
        found = arms(study_of(log))
        for x in (0, 1):
            arm, truth = found[f"do(X={x})"], shop.truth(x)
            assert is_inside(arm)
            assert arm.bounds is not None
            covered.append(arm.low <= truth <= arm.high)
            widths.append((arm.high - arm.low) / (arm.bounds.high - arm.bounds.low))
            off.append(abs(arm.mean - truth))
            off_before.append(abs(log["Y"].mean() - truth))
    assert np.mean(covered) > 0.9
    assert np.median(widths) < 0.3
    assert np.mean(off) < 0.7 * np.mean(off_before)


def rare_buyers() -> dict[str, Any]:
    """One in a hundred buys, so that draws around a small mean would reach far below nothing."""
    rng = np.random.default_rng(2)
    y = np.where(rng.random(2000) < 0.01, rng.lognormal(5, 0.7, 2000).clip(0, MOST), 0.0)
    return {"X": np.array([0] * 1500 + [1] * 500), "Y": y}


@pytest.mark.parametrize("goal", ["max", "min"])
def test_no_answer_leaves_the_range_or_the_bounds(goal: Goal) -> None:
    study = study_of(rare_buyers(), goal=goal)
    assert is_inside(arms(study)["do(X=0)"])
    assert is_inside(arms(study)["do(X=1)"])
    best, most = study.best(), max(arm.high for arm in study.status().arms)
    assert 0.0 <= best.low <= best.mean <= best.high <= MOST
    assert 0.0 <= best.expected_loss <= most
    for k in range(3):
        pulled(study, 1, [0.0] * 5, f"pulls {k}")
        assert is_inside(arms(study)["do(X=1)"])


def test_the_answer_is_the_option_with_the_largest_mean() -> None:
    """What is recommended and what is said about it rest on the same estimates."""
    for seed in range(8):
        study = study_of(Shop.drawn(seed).rows(2000, np.random.default_rng(seed)))
        found, best = arms(study), study.best()
        assert best.mean == max(arm.mean for arm in found.values())
        assert best.probability_best > 0.3


def test_without_a_range_the_log_counts_and_nothing_bounds_the_draws() -> None:
    stated, free = arms(study_of(rare_buyers())), arms(study_of(rare_buyers(), {"variable": "Y"}))
    for name in ("do(X=0)", "do(X=1)"):
        assert free[name].mean == pytest.approx(stated[name].mean, rel=1e-6)
        assert free[name].bounds is None
    assert min(arm.low for arm in free.values()) < 0


@pytest.mark.parametrize("mean", [40.0, 400.0])
def test_own_pulls_overrule_the_guess_and_do_not_contradict_the_graph(mean: float) -> None:
    """All revenue is 10 to 30 in the log, and about as much as with X=0 or much more where X is set."""
    rng = np.random.default_rng(4)
    x = rng.integers(2, size=2000)
    study = study_of({"X": x, "Y": rng.uniform(10, 20, 2000) + 10 * x})
    before = arms(study)["do(X=1)"]
    assert before.low < 25 < before.high < mean
    own, last = rng.uniform(0.9 * mean, 1.1 * mean, 400), before
    for k, part in enumerate(np.split(own, [20, 100])):
        pulled(study, 1, part, f"pulls {k}")
        arm = arms(study)["do(X=1)"]
        assert arm.warning is None
        assert abs(arm.mean - mean) < abs(last.mean - mean)
        assert (arm.from_log or 0) < (last.from_log or 0)
        last = arm
    assert last.mean == pytest.approx(mean, rel=0.15)
    assert is_inside(last)


def test_an_option_with_covariates_starts_from_the_log_of_each_of_their_values() -> None:
    """Z=1 doubles revenue, and nearly everybody with Z=1 has X=1 already: little is unknown there."""
    rng = np.random.default_rng(6)
    z = rng.integers(2, size=8000)
    x = (rng.random(8000) < np.where(z == 1, 0.95, 0.9)).astype(int)
    y = (1 + z) * (20 + 30 * x) * rng.gamma(4.0, 0.25, 8000)
    study = study_of({"Z": z, "X": x, "Y": y}, graph="Z -> X -> Y; Z -> Y; X <-> Y")
    found = arms(study)
    assert found["do(X=1)"].mean == pytest.approx(75, rel=0.05)
    assert found["do(X=1)"].low > 60
    assert found["do(X=0)"].high - found["do(X=0)"].low > 2 * (found["do(X=1)"].high - found["do(X=1)"].low)
    assert (found["do(X=1)"].from_log or 0) > 0.9


@pytest.mark.parametrize(("degree", "like_seen", "guess"), [(0, *STRONG), (1, *WEAK)])
def test_the_prior_has_the_mean_and_the_variance_of_the_mixture(degree: int, like_seen: float, guess: float) -> None:
    """Drawn: the mean of what is seen, the share that has it, and the guess about the others."""
    n, all_rows, shown, usual = 60.0, 200.0, 1.5, (90 - 14) / 201
    number, sums = np.array([[n, 140]]), np.array([[n * shown, -14.0]])
    squares = np.array([[n * (shown**2 + 1), 140 * (0.01 + 1)]])
    found = mean_priors(SeenMeans(number, sums, squares, number, np.full((1, 2), all_rows)), ONE)
    rng, draws = np.random.default_rng(1), 400_000
    seen = rng.normal((n * shown + usual) / (n + 1), 1 / np.sqrt(n + 1), draws)
    w = rng.beta(n + 0.5, all_rows - n + 0.5, draws)
    others = usual + like_seen * (seen - usual) + rng.normal(0, 1 / np.sqrt(guess + 1), draws)
    mixture = w * seen + (1 - w) * others
    assert found.means[degree, 0, 0] == pytest.approx(mixture.mean(), abs=0.005)
    assert found.variances[degree, 0, 0] == pytest.approx(mixture.var(), rel=0.02)
    assert found.slopes[degree, 0, 0] == pytest.approx(0.3 + 0.7 * like_seen, abs=0.01)


def test_the_guess_is_off_in_the_same_direction_in_all_rows() -> None:
    """With many observations only the guess is uncertain, and with eight rows of a setting eight times as much."""
    number = np.full((1, 2), 1e6)
    seen = SeenMeans(number, number, 2 * number, number, 2 * number)
    one, eight = (mean_priors(seen, ONE._replace(beside=np.array([k, k]))).variances for k in (1, 8))
    np.testing.assert_allclose(one[:, 0, 0], [0.25 / 3, 0.25 / 31], rtol=0.01)
    np.testing.assert_allclose(eight, 8 * one, rtol=0.01)


def test_without_observations_nothing_but_own_pulls_counts() -> None:
    problem = db.Problem(BOW, RANGE, 1000, "simple")
    estimator = PooledEstimator(problem)
    evidence = Evidence.none(problem, estimator.tables, 1)
    number, rng = 30, np.random.default_rng(1)
    row, arm = np.zeros(number, dtype=np.intp), np.full(number, 2, dtype=np.intp)
    codes = np.stack([np.ones(number, dtype=np.intp), row], axis=1)
    evidence.add(row, arm, codes, rng.random(number), np.arange(number))
    plain = estimator.conditions.shapes(estimator.counts(evidence))
    assert np.array_equal(estimator.shapes(evidence), plain)
    observed = evidence.take(np.array([0]))
    observed.add(row, row, codes, rng.random(number), np.arange(number))
    assert not np.array_equal(estimator.shapes(observed), estimator.conditions.shapes(estimator.counts(observed)))


def test_pulls_of_one_value_tell_how_strong_confounding_is_for_the_other() -> None:
    number = np.full((1, 2), 1000.0)
    seen = SeenMeans(number, number * [-0.8, 0.8], number, number, 2 * number)
    priors = mean_priors(seen, ONE)
    found = []
    for mean in (0.8, -0.8):
        own = np.array([[[0, 50]], [[0, 50 * mean]], [[0, 50.0]]])
        known = learnt_means(priors, ONE, own)
        assert known.degrees.sum(axis=0) == pytest.approx(1.0)
        draws = drawn_means(known, ONE, 200_000, np.random.default_rng(1))
        np.testing.assert_allclose(draws.mean(axis=1), known.means[0], atol=0.01)
        variances = (known.spread / (known.weights + 1))[0]
        np.testing.assert_allclose(draws.var(axis=1), variances, rtol=0.15)  # Student's are wider
        found.append(known)
    alike, unlike = found
    assert alike.degrees[0, 0, 0] < 0.4 < 0.99 < unlike.degrees[0, 0, 0]
    assert alike.weights[0, 0] > 1.5 * unlike.weights[0, 0]
    assert alike.means[0, 0] < unlike.means[0, 0]


def test_draws_inside_of_their_bounds_stay_as_they_are() -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal(0.5, 0.05, 500)
    mean, found = bounded(0.5, draws, (0.0, 1.0), rng)
    assert mean == 0.5
    assert found is draws


def test_draws_outside_of_their_bounds_keep_mean_spread_and_order() -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal(3.0, 1.5, 20_000)
    mean, found = bounded(3.0, draws, (2.0, 40.0), rng)
    assert mean == 3.0
    assert found.mean() == pytest.approx(3.0, abs=0.05)
    assert found.std() == pytest.approx(1.5, rel=0.05)
    assert found.min() >= 2.0
    assert found.max() <= 40.0
    assert (found.argsort() == draws.argsort()).all()
    _, wide = bounded(3.0, 50 * draws, (2.0, 40.0), rng)
    assert 2.0 <= wide.min() <= np.median(wide) <= wide.max() <= 40.0


def test_a_mean_outside_of_its_bounds_is_put_at_their_end() -> None:
    rng = np.random.default_rng(1)
    mean, found = bounded(3.0, np.array([1.0, 3.0, 4.5]), (4.0, 5.0), rng)
    assert mean == 4.0
    assert found.tolist() == [4.0, 4.0, 4.5]
