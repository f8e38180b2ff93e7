"""How sure a study's answer is: expected losses, ties, and what is said when nothing is known."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dobandit import worlds
from dobandit.arrays import Array
from dobandit.certainty.beliefs import quantile
from dobandit.problem import Goal, Problem
from dobandit.study import Study

BOW = "X -> Y; X <-> Y"  # only own pulls tell about do(X=0) and do(X=1)
OUTCOMES = {"do()": (100, 20), "do(X=0)": (100, 40), "do(X=1)": (100, 52)}  # of each option: how many, successes


def study_of(problem: Problem, outcomes: dict[str, tuple[int, int]]) -> Study:
    study = Study.create(":memory:", problem)
    for arm, (number, successes) in outcomes.items():
        for k in range(number):
            x = arm[5:6] or str(k % 2)
            study.record(arm, {"X": x, "Y": int(k < successes)})
    return study


def draws() -> dict[str, Array]:
    """Draws of the means from posteriors, worked out here: after Jeffreys' prior for do(); for the others after the
    prior of what observations show of half of the rows, in which 10 of 50 succeed, and of a guess about the rest."""
    rng = np.random.default_rng(0)
    seen, usual = 10.2 / 51, 20.5 / 101
    guess = (seen + usual) / 2
    mean = (seen + guess) / 2
    variance = 0.75**2 * seen * (1 - seen) / 52 + 0.25 * guess * (1 - guess) / 3
    weight = mean * (1 - mean) / variance - 1
    prior = dict.fromkeys(OUTCOMES, (weight * mean, weight * (1 - mean))) | {"do()": (0.5, 0.5)}
    return {arm: rng.beta(prior[arm][0] + s, prior[arm][1] + n - s, 200_000) for arm, (n, s) in OUTCOMES.items()}


@pytest.mark.parametrize(("goal", "units"), [("max", (0, 1)), ("min", (0, 1)), ("max", (10, 30))])
def test_expected_loss_is_the_mean_distance_to_the_best(goal: Goal, units: tuple[float, float]) -> None:
    low, high = units
    problem = Problem(
        BOW, {"variable": "Y", "values": {"0": low, "1": high}}, budget=1000, objective="simple", goal=goal
    )
    best = study_of(problem, OUTCOMES).best()
    means = {arm: d if goal == "max" else 1 - d for arm, d in draws().items()}
    top = np.max(list(means.values()), axis=0)
    assert best.arm == ("do(X=1)" if goal == "max" else "do()")
    expected = float((top - means[best.arm]).mean())
    # Two thousand draws, and posteriors that are moved a little as a whole because the prior may be off.
    tolerance = 4 * float((top - means[best.arm]).std()) / 2000**0.5 + 0.15 * expected
    assert best.expected_loss == pytest.approx((high - low) * expected, abs=(high - low) * tolerance)


def test_a_cumulative_study_loses_per_unit_of_budget() -> None:
    problem = Problem(BOW, "Y", budget=1000, costs={"do()": 1, "do(X=0)": 2, "do(X=1)": 2})
    best = study_of(problem, OUTCOMES).best()
    earned = {arm: d / (1 if arm == "do()" else 2) for arm, d in draws().items()}
    top = np.max(list(earned.values()), axis=0)
    assert (best.arm, best.criterion) == ("do(X=1)", "mean per cost")
    expected = float((top - earned[best.arm]).mean())
    assert best.expected_loss == pytest.approx(expected, rel=0.25)


def test_probabilities_of_all_options_add_up() -> None:
    study = study_of(Problem(BOW, "Y", budget=1000, objective="simple"), OUTCOMES)
    status, best = study.status(), study.best()
    shares = {arm.arm: arm.probability_best for arm in status.arms}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares[best.arm] == best.probability_best
    assert (status.recommended, status.expected_loss) == (best.arm, best.expected_loss)


def test_options_that_no_data_tell_about_are_named() -> None:
    problem = Problem("Z -> X -> Y; W -> Y; W <-> Y", "Y", budget=100, objective="simple")
    study = Study.create(":memory:", problem)
    assert set(study.best().unknown) == {str(arm) for arm in problem.arms}
    world = worlds.random(problem.graph, 1)
    log = world.sample("do()", 500, seed=0)
    never = {v: column[log["W"] == 0] for v, column in log.items()}
    study.observe(never, name="log")
    assert study.best().unknown == ("do(W=1)",)  # the log says something of those who had W=0
    study.record("do(W=1)", {"Z": 0, "X": 0, "Y": 1})
    assert study.best().unknown == ()


def test_nothing_is_said_of_a_loss_before_the_unit_of_a_measurement_is_known() -> None:
    study = Study.create(":memory:", Problem("X -> Y", {"variable": "Y"}, budget=10, objective="simple"))
    assert np.isnan(study.best().expected_loss)
    study.record("do(X=0)", {"X": 0, "Y": 5.0})
    study.record("do(X=1)", {"X": 1, "Y": 7.0})
    assert 0 < study.best().expected_loss < 10


def test_the_answer_prints_itself_without_exponents() -> None:
    study = Study.create(":memory:", Problem("X -> Y", {"variable": "Y"}, budget=10, objective="simple"))
    assert str(study.best()).endswith(": nothing is known yet")
    for k in range(20):
        study.record(f"do(X={k % 2})", {"X": k % 2, "Y": 20_000.0 + 5_000 * (k % 2) + k})
    told = str(study.best())
    ends = r"mean 2\d,\d{3} \(95% interval [\d,]+ to [\d,]+\)"
    assert re.fullmatch(rf"do\(X=1\): {ends}, best with probability \d+%, expected loss [\d.]+", told)


@pytest.mark.parametrize("number", [1, 2, 7, 2000])
def test_quantiles_are_those_of_numpy_to_the_bit(number: int) -> None:
    numbers = np.random.default_rng(number).normal(size=(number, 3))
    for share in (0.0, 0.025, 0.3, 0.5, 0.975, 1.0):
        found = quantile(np.sort(numbers, axis=0), share)
        assert found.tolist() == np.quantile(numbers, share, axis=0).tolist()
