"""Files and command lines of strangers: limits, terminals, pictures, folders."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from dobandit.errors import DataError, DobanditError, ProblemError
from dobandit.evidence import open_source
from dobandit.problem import Problem
from dobandit.study import Study, shown
from dobandit.study.stores.addresses import address_of
from tests.conftest import Ran

Run = Callable[..., Ran]
PROBLEM = 'budget = 30\nreward = "Y"\n[graph]\nedges = "X -> Y; X <-> Y"\n'
SIGNS = '[domains]\nX = ["a", "\\u001b[31mb\\u0007"]\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "problem\x1b[31m.toml"
    path.write_text(PROBLEM + SIGNS)
    return path


def test_a_number_of_thousands_of_digits_is_no_pull(tmp_path: Path, dobandit: Run) -> None:
    problem, digits = Problem("X -> Y", "Y", budget=10), "9" * 5000
    with Study.create(tmp_path / "s.db", problem) as study:
        study.ask()
        with pytest.raises(DobanditError, match="named by its number"):
            study.tell(int("9" * 4000) ** 2, {"X": 1, "Y": 1})
    (tmp_path / "ids.csv").write_text(f"id,X,Y\n{digits},1,1\n")
    place = tmp_path / "s.db"
    for command in (
        ["tell", place, digits, "X=1", "Y=1"],
        ["tell", place, "--file", tmp_path / "ids.csv"],
        ["explain", place, digits],
        ["ask", place, "-n", digits],
    ):
        found = dobandit("study", *command)
        assert found.code == 2
        assert f"{'9' * 40}..." in found.err
        assert "9" * 41 not in found.err


def test_weights_whose_sum_is_no_number() -> None:
    with pytest.raises(DataError, match="the weights add up to"):
        open_source({"X": [0, 1, 1], "w": [1e308, 1e308, 1e308]}, "w")


def test_problems_that_are_too_large(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="1,001 values; at most 1,000 are possible"):
        Problem("X -> Y", "Y", budget=10, domains={"X": [str(i) for i in range(1001)]})
    names = [f"X{i}" for i in range(11)]
    with pytest.raises(ProblemError, match="11,000 values can be set; at most 10,000"):
        Problem(f"{{{', '.join(names)}}} -> Y", "Y", budget=10, domains={v: range(1000) for v in names})
    with pytest.raises(ProblemError, match="5,001 variables; at most 5,000"):
        Problem("X -> Y; " + "; ".join(f"V{i}" for i in range(4999)), "Y", budget=10)


@pytest.mark.parametrize("more", [["--budget", "1e12"], ["--trials", "1000000000"]])
def test_a_simulation_that_takes_days_is_refused(tmp_path: Path, dobandit: Run, more: list[str]) -> None:
    path = tmp_path / "p.toml"
    path.write_text(PROBLEM)
    ran = dobandit("run", path, *more)
    assert ran.code == 2
    assert re.search(r"pulls would take about [\d,]+ hours; choose smaller budgets", ran.err)


def test_no_command_lets_a_file_command_the_terminal(file: Path, dobandit: Run) -> None:
    """Neither labels nor names of files."""
    study, log, folder = (file.with_name(f"\x1b[2J{name}") for name in ("s.db", "log.csv", "out"))
    log.write_text("X,Y\na,1\n\x1b[31mb\x07,0\n\x1b[31mb\x07,1\na,0\n")
    commands: list[list[object]] = [
        ["check", file],
        ["check", file, "--data", log],
        ["effect", file, log, "--do", "X=a"],
        ["effect", file, log, "--all"],
        ["effect", file, file],
        ["sample", file, file.with_name("rows\x1b[0m.csv")],
        ["run", file, "--trials", 2, "--policy", "f-kube", "--out", folder],
        ["run", file, "--policy", "\x1b[31m"],
        ["init", file.with_name("new\x1b[1m.toml"), "--data", log, "--reward", "Y"],
        ["study", "init", study, file, "--policy", "f-kube"],
        ["study", "ask", study, "-n", 3, "--worker", "\x1b[31m"],
        ["study", "ask", study, "-n", "\x1b[31m"],
        ["study", "tell", study, 1, "X=a", "Y=1"],
        ["study", "tell", study, 2, "X=\x1b[5m", "Y=1"],
        ["study", "observe", study, log],
        ["study", "explain", study, 2],
        ["study", "export", study, file.with_name("out\x1b[0m.csv")],
        ["\x1b[31m"],
    ]
    commands += [["study", name, study] for name in ("status", "best", "log", "pulls", "verify", "\x1b[31m")]
    for command in commands:
        ran = dobandit(*command)
        assert ran.code != 1, (command, ran)
        assert all(sign.isprintable() for line in (ran.out + ran.err).split("\n") for sign in line), (command, ran)


def test_pictures_of_names_with_control_characters_can_be_read(file: Path, dobandit: Run) -> None:
    picture = file.with_name("graph.svg")
    assert dobandit("check", file, "--plot", picture).code == 0
    ET.parse(picture)
    with Study.create(file.with_name("s.db"), Problem.load(file), "f-kube") as study:
        from dobandit.plots import to_bytes

        ET.fromstring(to_bytes(study.plot(), "svg"))


def test_results_appear_together_and_follow_no_links(tmp_path: Path, dobandit: Run) -> None:
    problem, mine, out = tmp_path / "p.toml", tmp_path / "mine", tmp_path / "out"
    problem.write_text(PROBLEM)
    command = ("run", problem, "--trials", 2, "--policy", "f-kube", "--out", out)
    assert dobandit(*command).code == 0
    written = {file.name for file in out.iterdir()}
    assert written == {"report.html", "results.csv", "regret.png", "graph.png"}
    mine.write_text("untouched")
    (out / "notes.txt").write_text("kept")
    (out / "report.html").unlink()
    (out / "report.html").symlink_to(mine)
    assert dobandit(*command).code == 0
    assert mine.read_text() == "untouched"
    assert {file.name for file in out.iterdir()} == written | {"notes.txt"}
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_figures_and_tables_follow_no_links(tmp_path: Path, dobandit: Run) -> None:
    problem, mine = tmp_path / "p.toml", tmp_path / "mine"
    problem.write_text(PROBLEM)
    mine.write_text("untouched")
    for name in ("graph.svg", "graph.png", "rows.csv"):
        (tmp_path / name).symlink_to(mine)
    assert dobandit("check", problem, "--plot", tmp_path / "graph.svg").code == 0
    assert dobandit("check", problem, "--plot", tmp_path / "graph.png").code == 0
    assert dobandit("sample", problem, tmp_path / "rows.csv").code == 2  # a new file only
    assert mine.read_text() == "untouched"
    assert not (tmp_path / "graph.svg").is_symlink()
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_a_run_that_is_interrupted_leaves_no_results(
    tmp_path: Path, dobandit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even while the last of its files is written."""
    problem, out = tmp_path / "p.toml", tmp_path / "out"
    problem.write_text(PROBLEM)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", interrupted)
    ran = dobandit("run", problem, "--trials", 2, "--policy", "f-kube", "--out", out)
    assert ran.code == 130
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [problem]


def test_folders_are_filled_at_once_or_not_at_all(tmp_path: Path) -> None:
    from dobandit.files import filled

    def fails() -> None:
        with filled(tmp_path / "new") as draft:
            (draft / "a").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert list(tmp_path.iterdir()) == []
    with filled(tmp_path / "new") as draft:
        (draft / "a").write_text("all")
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new" / "a").read_text() == "all"


def test_a_database_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no password is in the list of processes."""
    monkeypatch.setenv("DOBANDIT_URL", "postgresql://ann:secret@db.example/lab#first")
    assert address_of("postgresql://#shop")[:2] == ("postgresql://ann:secret@db.example/lab", "shop")
    assert shown("postgresql://#shop") == "postgresql://ann:***@db.example/lab#shop"
    assert address_of("postgresql://").study == "first"
    assert address_of("postgresql://other/lab#shop").url == "postgresql://other/lab"
    monkeypatch.setenv("DOBANDIT_URL", "mysql://ann:secret@db.example/lab")
    with pytest.raises(DobanditError, match="DOBANDIT_URL is not the address of a database") as told:
        address_of("postgresql://#shop")
    assert "secret" not in str(told.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes_and_devices_are_refused(tmp_path: Path, dobandit: Run) -> None:
    problem, pipe = tmp_path / "p.toml", tmp_path / "pipe"
    problem.write_text(PROBLEM)
    os.mkfifo(pipe)
    for what in (pipe, "/dev/zero"):
        assert dobandit("check", what).code == 2
        assert dobandit("effect", problem, what, "--all").code == 2
        assert dobandit("study", "status", what).code == 4
        assert dobandit("study", "init", what, problem).code == 4
