"""Arms that set several variables, wherever people meet them: commands, files, figures and reports."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dobandit as db
from tests.conftest import Ran

Run = Callable[..., Ran]

PROBLEM = """
objective = "cumulative"
budget = 60
reward = "Buy"
intervenable = ["Price", "Ad", "Mail"]
together = [["Price", "Ad"]]
[graph]
edges = "Season -> {Price, Buy}; Price -> Buy; Ad -> Visit -> Buy; Mail -> Visit; Ad <-> Buy"
[domains]
Price = ["low", "mid", "high"]
[costs]
default = 2
"do(Price, Ad)" = 3
[world]
model = "random"
seed = 1
"""
PAIR = "do(Price=low, Ad=1)"
OUTCOME = ("Season=0", "Visit=1", "Mail=0", "Buy=1")


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    file = tmp_path / "problem.toml"
    file.write_text(PROBLEM, encoding="utf-8")
    return file


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_sampled_rows_say_what_was_set(dobandit: Run, problem: Path, tmp_path: Path, form: str) -> None:
    """Else a study would take them for observations."""
    file = tmp_path / f"rows.{form}"
    assert PAIR in dobandit("sample", problem, file, "--rows", 40, "--do", "Ad=1; Price=low").err
    with db.Study.create(":memory:", db.Problem.load(problem)) as study:
        study.observe(file)
        rows = {arm.arm: arm.own_rows for arm in study.status().arms}
    assert rows.pop(PAIR) == 40
    assert not any(rows.values())
    assert dobandit("sample", problem, tmp_path / "seen.csv", "--rows", 5).code == 0
    assert "intervention" not in (tmp_path / "seen.csv").read_text()


def test_a_semicolon_keeps_an_arm_in_one_column(dobandit: Run, problem: Path, tmp_path: Path) -> None:
    """Also in a file whose separator is a semicolon, where the comma does."""
    names = ["Season", "Price", "Ad", "Mail", "Visit", "Buy"]
    rows = [["do(Price=low{}Ad=1)", "0", "low", "1", "0", "1", "1"], ["do()", "1", "mid", "0", "1", "0", "0"]] * 5
    study = tmp_path / "s.db"
    dobandit("study", "init", study, problem)
    for separator, inside in ((",", ";"), (";", ",")):
        file = tmp_path / f"{ord(separator)}.csv"
        lines = [separator.join(["intervention", *names]), *(separator.join(row).format(inside) for row in rows)]
        file.write_text("\n".join(lines), encoding="utf-8")
        assert dobandit("study", "observe", study, file, "--name", file.stem).code == 0
    arms = json.loads(dobandit("study", "status", study, "--json").out)["arms"]
    assert {arm["arm"]: arm["own_rows"] for arm in arms if arm["own_rows"]} == {"do()": 10, PAIR: 10}


def test_best_counts_logged_experiments_beside_its_pulls(dobandit: Run, problem: Path, tmp_path: Path) -> None:
    study, log = tmp_path / "s.db", tmp_path / "log.csv"
    dobandit("study", "init", study, problem)
    rows = [f"{PAIR.replace(',', ';')},0,low,1,0,1,1\n", "do(),1,mid,0,1,0,0\n"] * 40
    log.write_text("intervention,Season,Price,Ad,Mail,Visit,Buy\n" + "".join(rows), encoding="utf-8")
    dobandit("study", "observe", study, log)
    dobandit("study", "record", study, PAIR, *OUTCOME)
    found = json.loads(dobandit("study", "best", study, "--json").out)
    assert (found["arm"], found["pulls"], found["own_rows"]) == (PAIR, 1, 41)
    assert "; 1 pull of its own, and 40 logged experiments" in dobandit("study", "best", study).out


def test_a_study_of_pairs_from_the_command_line(dobandit: Run, problem: Path, tmp_path: Path) -> None:
    study = tmp_path / "s.db"
    assert dobandit("study", "init", study, problem, "--policy", "f-kube", "--seed", 1).code == 0
    for arm in ("do(Ad=1; Price=low)", "Price=low, Ad=1"):
        assert dobandit("study", "record", study, arm, *OUTCOME).code == 0
    pulls = json.loads(dobandit("study", "ask", study, "-n", 14, "--json").out)["pulls"]
    pair = next(pull for pull in pulls if len(pull["set"]) == 2)
    assert pair["arm"] == f"do(Price={pair['set']['Price']}, Ad={pair['set']['Ad']})"
    assert pair["cost"] == 3
    assert dobandit("study", "tell", study, pair["id"], *OUTCOME).code == 0
    assert f"Pull {pair['id']} is {pair['arm']}." in dobandit("study", "explain", study, pair["id"]).out
    dobandit("study", "plot", study, "--out", tmp_path / "study.svg")
    assert PAIR in (tmp_path / "study.svg").read_text(encoding="utf-8")  # beside the curves that its letters are
    for form in ("csv", "json", "parquet"):
        assert dobandit("study", "export", study, tmp_path / f"out.{form}").code == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["intervention"] for row in csv.DictReader(file)] == [PAIR, PAIR, pair["arm"]]
    assert [row["intervention"] for row in json.loads((tmp_path / "out.json").read_text())][:2] == [PAIR, PAIR]


def test_effects_runs_and_reports_name_pairs(dobandit: Run, problem: Path, tmp_path: Path) -> None:
    dobandit("sample", problem, tmp_path / "log.csv", "--rows", 500)
    effects = json.loads(dobandit("effect", problem, tmp_path / "log.csv", "--all", "--json").out)["effects"]
    assert {effect["arm"] for effect in effects} == {str(arm) for arm in db.Problem.load(problem).arms}
    shown = dobandit("effect", problem, tmp_path / "log.csv", "--do", "Ad=1; Price=low", "--versus", "Price=high, Ad=0")
    assert PAIR in shown.out
    assert "do(Price=high, Ad=0)" in shown.out
    out = tmp_path / "out"
    assert dobandit("run", problem, "--policy", "causal-thompson", "--trials", 2, "--out", out).code == 0
    with (out / "results.csv").open(newline="") as file:
        assert {row["recommended"] for row in csv.DictReader(file)} <= {str(a) for a in db.Problem.load(problem).arms}
