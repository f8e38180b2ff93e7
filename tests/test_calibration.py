"""What benchmarks/calibration.py measures is what studies say."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import dobandit as db
from dobandit import worlds
from dobandit.chance import generator
from dobandit.estimate.pooled.stated import log_gamma
from dobandit.problem import Goal, Objective, Problem
from tests.study.driving import SMALL, Laboratory, drive

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
import _looks


@pytest.mark.parametrize("objective", ["simple", "cumulative"])
@pytest.mark.parametrize("goal", ["max", "min"])
def test_looks_are_the_answers_of_a_study(objective: Objective, goal: Goal) -> None:
    problem = Problem(SMALL.graph, "Y", budget=60, objective=objective, goal=goal, default_cost=1.7)
    world = worlds.random(problem.graph, 3, problem.domains)
    driven = _looks.drive(problem, world, 2, 5, (25.0, 60.0))
    look = next(look for look in driven.looks if (look.trial, look.budget) == (0, 60.0))
    study = db.Study.create(":memory:", problem, seed=5)
    drive(study, Laboratory(problem, world, 5))
    best, status = study.best(), study.status()
    known, verdict = driven.said(look, generator(5, f"study:{status.events}"))
    assert best.arm == str(problem.arms[verdict.arm])
    assert (best.probability_best, best.expected_loss) == (verdict.probability, verdict.loss)
    assert [(a.mean, a.low, a.high) for a in status.arms] == list(
        zip(known.means.tolist(), known.low.tolist(), known.high.tolist(), strict=True)
    )


def test_the_logarithm_of_the_gamma_function() -> None:
    x = np.concatenate([np.linspace(0.01, 20, 2000), np.logspace(1, 6, 300)])
    expected = np.array([math.lgamma(each) for each in x])
    assert (np.abs(log_gamma(x) - expected) / np.maximum(np.abs(expected), 1)).max() < 1e-11
