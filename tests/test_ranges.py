"""What people see of options that observations do not identify: bounds, what is ruled out, shares of the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobandit as db
from dobandit.estimate.observational import ruled_out
from dobandit.estimate.pooled import PooledEstimator
from dobandit.evidence import Evidence
from dobandit.plots import EffectRow, effects_figure
from dobandit.problem import Problem
from dobandit.study import Study
from tests.conftest import Ran

Run = Callable[..., Ran]
BOW = "X -> Y; X <-> Y"
FILE = """
objective = "simple"
budget = 60
reward = "Y"
[graph]
edges = "X -> Y; X <-> Y; W -> Y"
[costs]
default = 2
"""


def test_an_option_is_ruled_out_by_the_best_lower_end() -> None:
    names, ends = ["a", "b", "c"], [(0.2, 0.3), (0.5, 0.9), (0.35, 0.6)]
    found = ruled_out("max", names, ends, [0, 1, 2])
    assert found == [("b", 0.3, 0.5), None, None]
    assert ruled_out("max", names, ends, [1, 2]) == [None] * 3  # only what observations do not identify
    assert ruled_out("min", names, ends, [0, 1, 2]) == [None, ("a", 0.3, 0.5), ("a", 0.3, 0.35)]
    assert ruled_out("max", names, ends, [0], costs=[1, 2, 2]) == [None] * 3  # the better one costs more
    assert ruled_out("max", names, [None, *ends[1:]], [0, 1, 2])[0] is None


def log_of(folder: Path, x: list[int], w: list[int], y: list[int]) -> Path:
    path = folder / "log.csv"
    path.write_text("X,W,Y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(x, w, y, strict=True)))
    return path


def test_effect_and_check_show_bounds(dobandit: Run, tmp_path: Path) -> None:
    """Of 1,000 rows 900 have X=1, and 800 of these succeed: do(X=1) is between 0.8 and 0.9."""
    problem = tmp_path / "p.toml"
    log = log_of(tmp_path, [1] * 900 + [0] * 100, [0, 1] * 500, [1] * 800 + [0] * 200)
    problem.write_text(FILE)
    found = {e["arm"]: e for e in answer(dobandit("effect", problem, log, "--all", "--json"))["effects"]}
    assert found["do()"]["bounds"] is None
    assert found["do(W=1)"]["bounds"] is None
    assert found["do(X=1)"]["mean"] is None
    expected = db.bounds(Problem.load(problem), log, do={"X": 1}, reward="Y")
    assert found["do(X=1)"]["bounds"] == {**vars(expected), "instruments": []}
    assert (expected.low, expected.high) == pytest.approx((0.8, 0.9), abs=4 * 0.5 / 1000**0.5)
    shown = dobandit("effect", problem, log, "--all").out
    assert sum(line.rstrip().endswith("sharp bounds") for line in shown.splitlines()) == 2
    for rests_on in (shown, dobandit("check", problem, "--data", log).out):
        assert "sharp bounds: they assume everything that the graph implies" in rests_on
    one = answer(dobandit("effect", problem, log, "--do", "X=1", "--bounds", "--json"))["effects"]
    assert one == [found["do(X=1)"]]
    refused = dobandit("effect", problem, log, "--do", "X=1")
    assert (refused.code, "add --bounds to see what the rows leave possible" in refused.err) == (2, True)
    assert "differences have no bounds" in dobandit("effect", problem, log, "--all", "--versus", "W=0", "--bounds").err
    arms = {a["arm"]: a for a in answer(dobandit("check", problem, "--data", log, "--json"))["arms"]}
    assert arms["do(X=1)"]["bounds"] == found["do(X=1)"]["bounds"]
    assert arms["do(W=0)"]["bounds"] is None
    assert arms["do(X=1)"]["ruled_out"] is None
    assert "bounds" not in answer(dobandit("check", problem, "--json"))["arms"][0]


def test_bounds_name_what_they_take_from_the_graph(dobandit: Run, tmp_path: Path) -> None:
    """W is an instrument only as long as the graph denies that it acts on the reward."""
    log = log_of(tmp_path, [0, 0, 1] * 100, [0, 1, 1] * 100, [0, 1, 1] * 100)
    problem, told = tmp_path / "p.toml", "they assume, as the graph says, that W has no direct effect on the reward"
    for edges, used in (("W -> X -> Y; X <-> Y", ["W"]), ("W -> X -> Y; X <-> Y; W -> Y", [])):
        problem.write_text(f'budget = 60\nreward = {{variable = "Y", range = [0, 1]}}\ngraph.edges = "{edges}"')
        (found,) = answer(dobandit("effect", problem, log, "--do", "X=1", "--bounds", "--json"))["effects"]
        assert (found["bounds"]["method"], found["bounds"]["instruments"]) == ("natural", used)
        for command in (("effect", problem, log, "--all"), ("check", problem, "--data", log)):
            assert (told in " ".join(dobandit(*command).out.split())) is bool(used)


def test_bounds_of_a_study_are_the_outer_ends_of_two_shares() -> None:
    """12 of 100 rows have X=1 and won, and 72 won or had X=0: Wilson's intervals of both, at 95 %."""
    rows = {"X": [1] * 40 + [0] * 60, "Y": [1] * 12 + [0] * 28 + [1] * 30 + [0] * 30}
    with db.Study.create(":memory:", Problem("X -> Y; X <-> Y", "Y", budget=9, objective="simple")) as study:
        study.observe(rows, name="log")
        found = study.status().arms[2].bounds
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.0699941, 0.7986031), abs=1e-6)


def answer(ran: Ran) -> Any:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_check_and_studies_say_before_anything_is_spent_what_cannot_be_best(dobandit: Run, tmp_path: Path) -> None:
    """Nine of ten rows have X=1, and a third of these succeed: do(X=1) is at most 0.5. All rows with W=1 succeed, but
    for one of twenty, and nothing confounds W."""
    problem = tmp_path / "p.toml"
    problem.write_text(FILE)
    w = [int(i < 400) for i in range(1000)]
    x = [int(i % 10 > 0) for i in range(1000)]
    y = [int(a and i % 20 != 1) for i, a in enumerate(w)]
    log = log_of(tmp_path, x, w, y)
    arms = {a["arm"]: a for a in answer(dobandit("check", problem, "--data", log, "--json"))["arms"]}
    reason = arms["do(X=1)"]["ruled_out"]
    assert reason["by"] == "do(W=1)"
    assert reason["high"] == arms["do(X=1)"]["bounds"]["high"] < reason["low"]
    sentence = "do(X=1) cannot be the best option if the graph is right"
    assert sentence in " ".join(dobandit("check", problem, "--data", log).out.split())
    study = tmp_path / "s.db"
    assert dobandit("study", "init", study, problem).code == 0
    assert dobandit("study", "observe", study, log).code == 0
    status = answer(dobandit("study", "status", study, "--json"))
    told = {a["arm"]: a for a in status["arms"]}
    assert told["do(X=1)"]["ruled_out"]["by"] == "do(W=1)"
    assert told["do(X=1)"]["bounds"]["method"] == "natural"
    assert told["do(W=1)"]["bounds"] is None
    assert sentence in " ".join(dobandit("study", "status", study).out.split())
    asked = {p["arm"] for p in answer(dobandit("study", "ask", study, "-n", 20, "--json"))["pulls"]}
    assert "do(X=1)" not in asked
    explained = answer(dobandit("study", "explain", study, 1, "--json"))
    assert {a["arm"]: a["ruled_out"] for a in explained["arms"]}["do(X=1)"]["by"] == "do(W=1)"


def test_status_says_how_far_a_mean_follows_the_log() -> None:
    """The share is the derivative: with a tenth more successes among those who had X=1, the mean rises by so much."""
    means, shares = list[float](), list[float]()
    for successes in (300, 360):
        study = Study.create(":memory:", Problem(BOW, "Y", 100, "simple"))
        study.observe(
            {"X": [0] * 400 + [1] * 600, "Y": [0, 1] * 200 + [1] * successes + [0] * (600 - successes)}, name="log"
        )
        for k in range(6):
            study.record("do(X=1)", {"Y": k % 2})
        arm = study.status().arms[2]
        means.append(arm.mean)
        shares.append(arm.from_log or 0.0)
        assert arm.bounds is not None
        assert arm.bounds.low < arm.mean < arm.bounds.high
        assert study.status().arms[0].from_log is None
        assert study.status().arms[0].bounds is None
    assert 0.3 < shares[0] < 0.8
    assert means[1] - means[0] == pytest.approx(0.1 * shares[0], rel=0.35)  # weight and usual mean move, too


@pytest.mark.parametrize("goal", ["max", "min"])
def test_bounds_of_a_study_are_in_the_users_units(goal: Any) -> None:
    reward: Any = {"variable": "Y", "range": [10, 20]}
    study = Study.create(":memory:", Problem(BOW, reward, 100, "simple", goal=goal))
    study.observe({"X": [0] * 5000 + [1] * 5000, "Y": [10, 20] * 2500 + [18] * 5000}, name="log")
    arm = study.status().arms[2]
    assert arm.bounds is not None
    assert (arm.bounds.low, arm.bounds.high) == pytest.approx((14, 19), abs=10 * 4 * 0.5 / 10_000**0.5)


def test_a_cheaper_option_is_not_ruled_out_where_pulls_have_to_earn_their_cost() -> None:
    problem = Problem("X -> Y; X <-> Y; W -> Y", "Y", 100, costs={"do(X)": 0.5, "do(W)": 2})
    estimator = PooledEstimator(problem)
    evidence = Evidence.none(problem, estimator.tables, 1)
    rng = np.random.default_rng(1)
    w = rng.integers(0, 2, 2000)
    values = {"X": np.ones(2000, dtype=np.intp), "W": w, "Y": w}
    rows = np.stack([values[v] for v in problem.graph.variables], axis=1)
    evidence.add(np.zeros(2000, dtype=np.intp), np.zeros(2000, dtype=np.intp), rows, w.astype(float), np.arange(2000))
    known = estimator.known(estimator.tables_after(evidence))
    arm = [str(a) for a in problem.arms].index("do(X=1)")
    dear = np.full((1, len(problem.arms)), 2.0)
    cheap = dear.copy()
    cheap[0, arm] = 0.5
    for costs, expected in ((dear, True), (cheap, False)):
        found = estimator.ruled_out(evidence, known, costs)
        assert found is not None
        assert bool(found.out[0, arm]) is expected


def test_a_figure_draws_bounds_as_open_ranges() -> None:
    figure = effects_figure([EffectRow("do()", 0.4), EffectRow("do(X=1)", naive=0.5, bounds=(0.2, 0.9))], xlabel="")
    (axes,) = figure.axes
    assert not axes.texts  # nothing has to be said about an option that is drawn
    assert any(np.array_equal(np.asarray(line.get_xdata()), [0.2, 0.9]) for line in axes.lines)
    assert axes.get_xlim()[0] < 0.2 < 0.9 < axes.get_xlim()[1]
