"""Studies whose graph is wrong: what they say, what they pull, and that they go on the same after they were closed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dobandit as db
from dobandit import worlds
from dobandit.policies import policy
from dobandit.problem import Problem
from dobandit.study import Study
from tests.study.driving import stand

GRAPH = "X -> M -> Y"  # and a hidden cause of X and Y, which makes the worst arm, do(M=1), look best
WORLD = worlds.from_tables(
    f"{GRAPH}; X <-> Y",
    {
        "X": (["U"], [[0.9, 0.1], [0.1, 0.9]]),
        "M": (["X"], [[0.9, 0.1], [0.1, 0.9]]),
        "Y": (["M", "U"], [[[0.8, 0.2], [0.1, 0.9]], [[0.9, 0.1], [0.2, 0.8]]]),
    },
    {"U": ([0.5, 0.5], ["X", "Y"])},
)
LOG = WORLD.sample("do()", 2000, seed=1)
OURS = ["causal-thompson", "causal-explore"]


def new(name: str, budget: float = 15, where: str | Path = ":memory:") -> Study:
    return db.Study.create(where, Problem(GRAPH, "Y", budget, policy(name).objective), policy=name)


def pull(study: Study, number: int) -> str:
    """The arm of one pull, told what happens in the world."""
    (asked,) = study.ask()
    drawn = WORLD.sample(str(asked.arm), 1, seed=number)
    study.tell(asked.id, {v: int(drawn[v][0]) for v in "XMY"})
    return str(asked.arm)


@pytest.mark.parametrize("name", OURS)
def test_a_log_corrects_the_graph_before_the_first_pull(name: str) -> None:
    study = new(name)
    study.observe(LOG, name="log")
    told, allowed = study.status().warnings
    assert told.startswith("outcomes contradict the graph: X ⫫ Y | M does not hold, |z| = ")
    assert allowed == "estimates allow for a hidden cause: X <-> Y"
    best = study.best()
    assert best.arm == "do(M=0)"
    assert best.probability_best > 0.9


def test_a_log_that_comes_later_is_looked_at() -> None:
    study = new("causal-thompson")
    pull(study, 0)
    study.observe(LOG, name="log")
    assert "do(M=1)" not in [pull(study, i) for i in range(1, 12)]


@pytest.mark.parametrize("name", [*OURS, "thompson"])
@pytest.mark.filterwarnings("ignore:thompson has no rule for logged rows")
def test_closed_and_opened_it_goes_on_the_same(name: str, tmp_path: Path) -> None:
    here, there = new(name, 160), new(name, 160, tmp_path / "study.db")
    some = {v: values[:400] for v, values in LOG.items()}
    arms: tuple[list[str], list[str]] = [], []
    for i in range(60):
        if i == 30:
            here.observe(some, name="log")
            there.observe(some, name="log")
        if i % 20 == 10:
            there.close()
            there = db.Study.open(tmp_path / "study.db")
        arms[0].append(pull(here, i))
        arms[1].append(pull(there, i))
    assert arms[0] == arms[1]
    assert here.best() == there.best()
    assert stand(here) == stand(there)
    means = {arm.arm: arm.mean for arm in here.status().arms}
    assert means["do(M=0)"] > means["do(M=1)"] + 0.05
    assert here.status().warnings[-1] == "estimates allow for a hidden cause: X <-> Y"


@pytest.mark.parametrize("name", OURS)
def test_who_trusts_the_graph_is_answered_by_it(name: str) -> None:
    study = new(f"{name}[guard=false]")
    study.observe(LOG, name="log")
    best = study.best()
    assert best.arm == "do(M=1)"
    assert best.probability_best > 0.9
    assert best.mean == max(arm.mean for arm in study.status().arms)
    (told,) = study.status().warnings
    assert "X ⫫ Y | M does not hold" in told


def test_the_answer_tells_of_an_arm_that_was_refuted() -> None:
    """All who had X=1 bought; none who were given it did. The outcomes of do(X=1) count in P(Y | X), too."""
    study = db.Study.create(":memory:", Problem("X -> Y", "Y", 100, "simple"))
    study.observe({"X": [0, 1] * 100, "Y": [0, 1] * 100}, name="seen")
    study.observe({"intervention": ["do(X=1)"] * 40, "X": [1] * 40, "Y": [0] * 40}, name="done")
    told = study.best().warnings[-1]
    assert told.startswith("do(X=1): this arm's own rewards contradict the graph: |z| = ")


def test_intervals_cover_what_they_promise_where_most_cells_are_empty() -> None:
    """Five causes that do not matter. The eleven intervals of a log are not independent, so that their standard error
    is at most that of 40 logs."""
    tables: dict[str, tuple[list[str], object]] = {v: ([], [0.5, 0.5]) for v in "ABCDE"}
    world = worlds.from_tables(
        "{A, B, C, D, E} -> Y", {**tables, "Y": ([*"ABCDE"], np.tile([0.1, 0.9], (2,) * 5 + (1,)))}
    )
    problem = Problem(world.graph, "Y", 100, "simple")
    covered = []
    for seed in range(40):
        study = db.Study.create(":memory:", problem)
        study.observe(world.sample("do()", 100, seed), name="log")
        covered += [arm.low <= 0.9 <= arm.high for arm in study.status().arms]
    assert np.mean(covered) > 0.95 - 2 * np.sqrt(0.95 * 0.05 / 40)


@pytest.mark.parametrize("rows", [100, 1000])
def test_rare_rewards_are_said_to_be_rare_in_cumulative_studies(rows: int) -> None:
    """Four causes that do not matter. With 1/2 in every row of P(Y | causes), 100 rows made a mean of 0.1."""
    causes = list("ABCD")
    tables: dict[str, tuple[list[str], object]] = {v: ([], [0.5, 0.5]) for v in causes}
    world = worlds.from_tables("{A, B, C, D} -> Y", {**tables, "Y": (causes, np.tile([0.98, 0.02], (2,) * 4 + (1,)))})
    problem, logs = Problem(world.graph, "Y", 100, "cumulative"), 60
    covered, means = [], []
    for seed in range(logs):
        study = db.Study.create(":memory:", problem)
        study.observe(world.sample("do()", rows, seed), name="log")
        arms = study.status().arms
        covered.append(np.mean([arm.low <= 0.02 <= arm.high for arm in arms]))
        means.append(np.mean([arm.mean for arm in arms]))
    assert np.mean(covered) > 0.95 - 2 * np.sqrt(0.95 * 0.05 / logs)
    # Jeffreys' prior moves the mean of the table by 0.48 / rows; the rest is chance.
    assert np.mean(means) == pytest.approx(0.02 + 0.48 / rows, abs=3 * np.sqrt(0.02 * 0.98 / rows / logs))


def test_a_cumulative_study_ranks_by_mean_per_cost() -> None:
    """do(X=1) has the largest mean, but for its cost do() is pulled three times."""
    log = {"X": [0, 1] * 200, "Y": [0, 0, 1, 1, 0, 1, 1, 1] * 50}
    for objective, arm, criterion in (("simple", "do(X=1)", "mean"), ("cumulative", "do()", "mean per cost")):
        study = db.Study.create(":memory:", Problem("X -> Y", "Y", 100, objective, default_cost=3))
        study.observe(log, name="log")
        best = study.best()
        assert (best.arm, best.criterion) == (arm, criterion)
        assert best.probability_best > 0.95
