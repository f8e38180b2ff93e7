"""What studies say is what benchmarks/calibration.py measures, and where success is rare it is not too sure."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import dobandit as db
from dobandit import worlds
from dobandit.certainty import Doubted, believed, judged
from dobandit.chance import generator
from dobandit.estimate.pooled import RepairedGraphs
from dobandit.evidence import Evidence, open_source, read_log
from dobandit.problem import Objective, Problem
from tests.study.driving import SMALL, Laboratory, drive

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
import _looks


@pytest.mark.parametrize("objective", ["simple", "cumulative"])
@pytest.mark.parametrize("goal", ["max", "min"])
def test_looks_are_the_answers_of_a_study(objective: Objective, goal: str) -> None:
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


def test_rare_successes_do_not_make_a_study_too_sure() -> None:
    """All combinations of causes have a chance between 0 and 4 %; 200 observations hardly tell which cause matters."""
    graph, rng, answers = db.Graph("{A, B, C} -> Y"), np.random.default_rng(3), []
    problem = Problem(graph, "Y", budget=1, objective="simple")
    graphs = RepairedGraphs(problem)
    for k in range(200):
        chances = rng.uniform(0, 0.04, (2, 2, 2))
        tables = {"Y": (["A", "B", "C"], worlds.two_values(chances)), **{v: ([], [0.5, 0.5]) for v in "ABC"}}
        world = worlds.from_tables(graph, tables)
        evidence = Evidence.none(problem, graphs.given.tables, 1)
        evidence.add_logged(read_log(problem, open_source(world.sample("do()", 200, seed=k)), evidence.layout))
        none = graphs.no_doubts(1)
        known = believed(problem, graphs, evidence, Doubted(none.refuted, none.added, True), rng)
        verdict, truth = judged(problem, known, np.ones(len(problem.arms)), int(known.means.argmax())), world.means(problem)
        answers.append((verdict.probability, truth[verdict.arm] == truth.max()))
    stated, right = np.mean(answers, axis=0)
    assert abs(stated - right) < 0.02 + 2.5 * np.sqrt(right * (1 - right) / len(answers)), (stated, right)
