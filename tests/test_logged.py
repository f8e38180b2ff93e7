"""Logged rows as evidence: the same tables as if they had been pulled one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dobandit import worlds
from dobandit.errors import DataError
from dobandit.evidence import open_file, open_source
from dobandit.evidence.count_tables import CountTable, Layout
from dobandit.evidence.logged import read_log
from dobandit.problem import Goal, Problem
from tests.conftest import Ran

DOMAINS = {"Z": ["u", "v", "w"]}
PROBLEM = Problem("Z -> X -> Y; Z -> Y", "Y", budget=1, domains=DOMAINS)
TABLES = [
    CountTable("Y", ("Z", "X"), arms=tuple(range(6))),
    CountTable("X", ("Z",), arms=(0, 1, 2, 3)),
    CountTable("Z", (), arms=(0, 4, 5)),
    CountTable("Y", (), arms=(5,)),
    CountTable("Z", (), arms=(0, 4, 5)),  # asked for twice, for two purposes
]


def log(problem: Problem, rows: int = 40) -> dict[str, list[Any]]:
    world = worlds.random(problem.graph, 1, problem.domains)
    columns: dict[str, list[Any]] = {"intervention": []} | {v: [] for v in problem.graph.variables}
    for k, arm in enumerate(problem.arms):
        drawn = world.sample(arm, rows + k, seed=k)
        columns["intervention"] += ["" if arm.observes else str(arm)] * (rows + k)
        for v in problem.graph.variables:
            columns[v] += list(drawn[v])
    return columns


def one_by_one(problem: Problem, layout: Layout, columns: dict[str, list[Any]]) -> np.ndarray:
    counts = np.zeros((1, layout.size))
    for i, done in enumerate(columns["intervention"]):
        arm = [str(a) for a in problem.arms].index(done or "do()")
        codes = [[problem.domains[v].index(str(columns[v][i])) for v in problem.graph.variables]]
        worth = problem.utility(np.array([problem.reward_values[codes[0][-1]]]))
        layout.add(counts, np.array([0]), np.array([arm]), np.array(codes), worth, np.array([0]))
    found: np.ndarray = counts[0]
    return found


@pytest.mark.parametrize("goal", ["max", "min"])
def test_the_same_as_one_by_one(goal: Goal, tmp_path: Path) -> None:
    problem = Problem("Z -> X -> Y; Z -> Y", "Y", budget=1, domains=DOMAINS, goal=goal)
    layout, columns = Layout(problem, TABLES), log(problem)
    expected = one_by_one(problem, layout, columns)
    file = tmp_path / "log.csv"
    lines = zip(*columns.values(), strict=True)
    file.write_text("\n".join([",".join(columns), *(",".join(map(str, line)) for line in lines)]) + "\n")
    for source in (open_source(columns), open_file(file)):
        found = read_log(problem, source, layout)
        np.testing.assert_allclose(found.counts, expected, atol=1e-9)
        assert found.rows.tolist() == [40, 41, 42, 43, 44, 45]
        ones = np.array([str(y) == "1" for y in columns["Y"]]) == (goal == "max")
        done = np.array(columns["intervention"])
        assert found.rewards[5] == ones[done == str(problem.arms[5])].sum()


def test_wide_tables_are_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dobandit.evidence.logged.LARGEST", 1)
    layout, columns = Layout(PROBLEM, TABLES), log(PROBLEM)
    found = read_log(PROBLEM, open_source(columns), layout)
    np.testing.assert_allclose(found.counts, one_by_one(PROBLEM, layout, columns), atol=1e-9)
    assert found.rows.tolist() == [40, 41, 42, 43, 44, 45]


def test_rewards_between_two_ends() -> None:
    problem = Problem("X -> Y", {"variable": "Y", "range": [0, 10]}, budget=1)
    layout = Layout(problem, [CountTable("Y", ("X",), arms=(0, 1))])
    data = {"X": [0, 1, 0], "Y": [2.5, 10, 5], "intervention": ["", "do()", "do(X=0)"]}
    found = read_log(problem, open_source(data), layout)
    np.testing.assert_allclose(found.counts, [1.25, 0.75, 0, 1])  # X=0: 2.5 and 5 of ten; X=1: ten
    np.testing.assert_allclose(found.rewards, [1.25, 0.5, 0])
    assert found.rows.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("done", "x", "message"),
    [
        ("do(X=1)", 0, r"do\(X=1\), but X is 0 in 1 row; correct the rows or what was done"),
        ("do(W=1)", 0, r"do\(W=1\) is not an arm of the problem"),
        ("X=1", 0, "'X=1' is not an arm"),
        ("do(X)", 0, "does not say the value"),
    ],
)
def test_what_cannot_be_meant(done: str, x: int, message: str) -> None:
    problem = Problem("X -> Y", "Y", budget=1)
    layout = Layout(problem, [CountTable("Y", ("X",))])
    with pytest.raises(DataError, match=message):
        read_log(problem, open_source({"X": [x], "Y": [1], "intervention": [done]}), layout)


def test_all_rows_that_contradict_what_was_done_are_told_at_once() -> None:
    problem = Problem("X -> Y; Z -> Y", "Y", budget=1, domains={"Z": ["a", "b", "c"]})
    layout = Layout(problem, [CountTable("Y", ("X", "Z"))])
    done = ["do(X=1)", "do(X=1)", "do(X=1)", "do(Z=a)", "do(Z=a)", "do(Z=a)"]
    data = {"X": [0, 0, 1, 0, 0, 0], "Z": ["a", "b", "a", "a", "b", "c"], "Y": [1] * 6, "intervention": done}
    with pytest.raises(DataError) as error:
        read_log(problem, open_source(data), layout)
    assert str(error.value).split("\n  ") == [
        "data: 2 faults",
        "column intervention: do(X=1), but X is 0 in 2 rows",
        "column intervention: do(Z=a), but Z is b in 1 row and c in 1 row",
        "correct the rows or what was done",
    ]


# -- the same log for every reader -------------------------------------------------------------------

MODEL = """
budget = 40
reward = "Y"
world = {model = "xor"}
[graph]
edges = "X -> M -> Y"
"""


def answers(log: str, folder: Path, dobandit: Callable[..., Ran]) -> list[str]:
    """What the commands that read logs say of a log, and what they leave in a study."""
    problem, rows, study = (folder / name for name in ("p.toml", "log.csv", "s.db"))
    problem.write_text(MODEL)
    rows.write_text(log)
    study.unlink(missing_ok=True)
    assert dobandit("study", "init", study, problem).code == 0
    commands: list[tuple[object, ...]] = [
        ("effect", problem, rows, "--all"),
        ("check", problem, "--data", rows),
        ("run", problem, "--evidence", rows, "--trials", 1, "--budget", 5),
        ("study", "observe", study, rows),
    ]
    found = [dobandit(*command, "--quiet", "--json") for command in commands]
    assert [ran.code for ran in found] == [0] * 4, found
    documents = [{**json.loads(ran.out), "seconds": 0} for ran in found]
    status = json.loads(dobandit("study", "status", study, "--json").out)
    del status["head"]  # of the history, in which words differ from numbers
    return [*map(json.dumps, documents), json.dumps(status)]


def test_words_and_numbers_say_the_same(tmp_path: Path, dobandit: Callable[..., Ran]) -> None:
    rng = np.random.default_rng(1)
    lines = [
        f"{'' if i % 3 else f'do(X={x})'},{x},{m},{y}" for i, (x, m, y) in enumerate(rng.integers(2, size=(60, 3)))
    ]
    numbers = "\n".join(["intervention,X,M,Y", *lines])
    words = re.sub(r"\b[01]\b", lambda digit: ("False", "True")[int(digit[0])], numbers)
    assert answers(words, tmp_path, dobandit) == answers(numbers, tmp_path, dobandit)
    asked = [("--do", "X=True"), ("--do", "X=1")]
    told = [dobandit("effect", tmp_path / "p.toml", tmp_path / "log.csv", *do, "--json").out for do in asked]
    assert told[0] == told[1] != ""
