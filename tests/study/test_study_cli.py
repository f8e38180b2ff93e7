"""`dobandit study ...`: the documents, the exit codes, a sentence for every mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ran

Run = Callable[..., Ran]
PROBLEM = """
budget = 12
reward = "Y"
[graph]
edges = "X -> Y; X <-> Y"
[costs]
default = 2.5
"""


@pytest.fixture
def files(folder: Path) -> tuple[Path, Path]:
    """A study that is led by f-kube, and its problem."""
    problem = folder / "p.toml"
    problem.write_text(PROBLEM)
    return folder / "s.db", problem


@pytest.fixture
def study(files: tuple[Path, Path], dobandit: Run) -> Path:
    path, problem = files
    ran = dobandit("study", "init", path, problem, "--policy", "f-kube", "--json")
    assert json.loads(ran.out) == {"study": str(path), "policy": "f-kube"}
    problem.unlink()  # the study knows its problem
    return path


def answer(ran: Ran) -> Any:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_a_study_from_the_first_to_the_last_pull(study: Path, dobandit: Run, folder: Path) -> None:
    asked = answer(dobandit("study", "ask", study, "-n", 3, "--worker", "lab", "--ttl", "2d", "--json"))
    assert asked["reason"] is None
    assert [(p["id"], p["arm"], p["set"], p["cost"]) for p in asked["pulls"]] == [
        (1, "do()", {}, 1.0),
        (2, "do(X=0)", {"X": "0"}, 2.5),
        (3, "do(X=1)", {"X": "1"}, 2.5),
    ]
    assert asked["pulls"][0]["expires"].endswith("+00:00")
    assert answer(dobandit("study", "tell", study, 1, "X=1", "Y=0", "--json")) == {
        "id": 1,
        "spent": 1.0,
        "free": 6.0,
        "missing": {"dropped": 0, "category": 0},
    }
    many = folder / "many.csv"
    many.write_text("id,X,Y,note\n2,0,1,\n3,1,1,\n2,0,1,the same again\n")
    assert answer(dobandit("study", "tell", study, "--file", many, "--json"))["id"] == [2, 3]
    again = dobandit("study", "tell", study, "--file", many).err
    assert again.startswith("Recorded 2 pulls. Spent 6, remaining 6.\n")
    assert "warning: many.csv, line 2: pull 2 is in this file 2 times, with the same outcome" in again
    log = folder / "log.csv"
    log.write_text("X,Y,intervention\n0,1,\n1,1,do(X=1)\n")
    ran = dobandit("study", "observe", study, log, "--json")
    assert answer(ran) == {"rows": 2, "missing": {"dropped": 0, "category": 0}}
    assert "f-kube has no rule for logged rows" in ran.err
    recorded = answer(dobandit("study", "record", study, "X=1", "X=1", "Y=0", "--json"))
    assert (recorded["id"], recorded["spent"]) == (4, 8.5)
    assert answer(dobandit("study", "amend", study, 4, "X=1", "Y=1", "--json")) == {"id": 4}
    assert answer(dobandit("study", "withdraw", study, 4, "--refund", "--json")) == {"id": 4}
    assert answer(dobandit("study", "extend", study, 0.5, "--json")) == {"total": 12.5}
    status = answer(dobandit("study", "status", study, "--json"))
    assert {key: status["budget"][key] for key in ("total", "spent", "reserved", "free")} == {
        "total": 12.5,
        "spent": 6.0,
        "reserved": 0.0,
        "free": 6.5,
    }
    assert (status["pulls"]["open"], status["pulls"]["told"]) == (0, 3)
    known = {
        "arm",
        "cost",
        "pulls",
        "open",
        "mean",
        "low",
        "high",
        "warning",
        "own_mean",
        "own_rows",
        "probability_best",
    }
    assert set(status["arms"][0]) >= known
    assert [(arm["own_mean"], arm["own_rows"]) for arm in status["arms"]] == [(0.5, 2), (1.0, 1), (1.0, 2)]
    best = answer(dobandit("study", "best", study, "--json"))
    assert {"arm", "mean", "low", "high", "probability_best"} <= set(best)
    why = answer(dobandit("study", "explain", study, 3, "--json"))
    assert (why["id"], why["arm"]) == (3, "do(X=1)")
    assert {"arm", "cost", "mean", "low", "high", "index"} <= set(why["arms"][0])
    assert [e["kind"] for e in answer(dobandit("study", "log", study, "--json"))["events"]][-1] == "extended"
    assert answer(dobandit("study", "export", study, folder / "x.csv", "--json"))["rows"] == 3
    assert answer(dobandit("study", "plot", study, "--out", folder / "x.png", "--json"))
    assert (folder / "x.png").read_bytes().startswith(b"\x89PNG")


def test_people_get_sentences_and_tables(study: Path, dobandit: Run) -> None:
    assert "do(X=0)" in dobandit("study", "ask", study, "-n", 2).out
    assert dobandit("study", "tell", study, 1, "X=1", "Y=0").err == "Recorded pull 1. Spent 1, remaining 8.5.\n"
    assert "1 of 12 spent, 2.5 reserved, 8.5 free" in dobandit("study", "status", study).out
    assert "the highest mean per cost with probability" in dobandit("study", "best", study).out
    assert "Pull 2 is do(X=0). " in dobandit("study", "explain", study, 2).out
    dobandit("study", "withdraw", study, 2, "--reason", "the sample was lost")
    refunded = "Withdrew pull 2 with a refund. Spent 1, remaining 11.\n"
    assert dobandit("study", "withdraw", study, 2, "--refund").err == refunded
    again = "Nothing changed: pull 2 was withdrawn before, with a refund. Spent 1, remaining 11.\n"
    for option in ([], ["--refund"]):
        assert dobandit("study", "withdraw", study, 2, *option).err == again
    taken_back = "Withdrew pull 2 without a refund. Spent 3.5, remaining 8.5.\n"
    assert dobandit("study", "withdraw", study, 2, "--no-refund").err == taken_back
    assert answer(dobandit("study", "withdraw", study, 2, "--no-refund", "--json")) == {"id": 2}
    assert dobandit("study", "extend", study, 1234567, "--name", "june").err == "The budget is now 1,234,579.\n"
    history = dobandit("study", "log", study).out.splitlines()
    assert [" ".join(line.split()[3:]) for line in history] == [
        "created with the policy f-kube, seed 0",
        "asked 1 do(), worker default",
        "asked 2 do(X=0), worker default",
        "told 1 X=1 Y=0",
        "withdrawn 2 not refunded, the sample was lost",
        "withdrawn 2 refunded",
        "withdrawn 2 not refunded",
        "extended by 1,234,567, named june",
    ]


def test_what_was_sent_already_is_said_to_be_there(study: Path, dobandit: Run, folder: Path) -> None:
    """A command that is sent again, in case it did not arrive, is answered in the same way."""
    log = folder / "log.csv"
    log.write_text("X,Y\n0,1\n1,1\n")
    assert dobandit("study", "observe", study, log).err.startswith("Added 2 rows to the evidence.\n")
    assert dobandit("study", "observe", study, log).err.startswith(
        "Nothing added: this batch of 2 rows was added before.\n"
    )
    for _ in range(2):
        ran = dobandit("study", "record", study, "X=1", "X=1", "Y=0", "--name", "a")
        assert ran.err == "Recorded pull 1. Spent 2.5, remaining 9.5.\n"
    assert answer(dobandit("study", "record", study, "X=1", "X=1", "Y=0", "--json"))["id"] == 2


def test_no_control_characters_reach_the_terminal(files: tuple[Path, Path], dobandit: Run) -> None:
    """Neither names of workers nor values of a stranger's study can command it."""
    study, problem = files
    problem.write_text(PROBLEM.replace("2.5", "1") + '[domains]\nX = ["a", "\\u001b[31mb"]')
    assert dobandit("study", "init", study, problem, "--policy", "f-kube").code == 0
    asked = dobandit("study", "ask", study, "-n", 3, "--worker", "lab\x1b[2J\r\n")
    dobandit("study", "tell", study, 3, "X=\x1b[31mb", "Y=1")
    dobandit("study", "withdraw", study, 2, "--reason", "lost\nand found\x9b")
    shown = [asked.out, *(dobandit("study", name, study).out for name in ("status", "best", "log"))]
    shown.append(dobandit("study", "explain", study, 3).out)
    assert all("\\x1b[31mb" in text for text in shown)
    assert all(sign.isprintable() for text in shown for line in text.split("\n") for sign in line)
    assert "worker lab\\x1b[2J\\r\\n" in shown[3]
    assert len(shown[3].splitlines()) == 6  # one event, one line


def test_true_and_false_are_one_and_zero(study: Path, dobandit: Run, folder: Path) -> None:
    dobandit("study", "ask", study, "-n", 3)
    answer(dobandit("study", "tell", study, 1, "X=True", "Y=FALSE", "--json"))
    (folder / "many.csv").write_text("id,X,Y\n1,TRUE,False\n2,false,true\n")
    answer(dobandit("study", "tell", study, "--file", folder / "many.csv", "--json"))
    answer(dobandit("study", "record", study, "X=true", "X=1", "Y=True", "--json"))
    events = answer(dobandit("study", "log", study, "--json"))["events"]
    outcomes = [event["content"]["outcome"] for event in events if "outcome" in event["content"]]
    assert outcomes == [{"X": "1", "Y": "0"}, {"X": "0", "Y": "1"}, {"X": "1", "Y": "1"}]


def test_nothing_to_ask_is_exit_code_three(study: Path, dobandit: Run) -> None:
    assert answer(dobandit("study", "ask", study, "-n", 50, "--json"))["reason"] == "budget"
    ran = dobandit("study", "ask", study, "--worker", "late", "--json")
    assert (ran.code, json.loads(ran.out)) == (3, {"pulls": [], "reason": "budget"})
    ran = dobandit("study", "ask", study, "--worker", "late")
    why = "the remaining budget (0) is less than the cheapest option (1)"
    assert (ran.code, ran.out, ran.err) == (3, "", f"Nothing to hand out: {why}.\n")


def test_mistakes(study: Path, dobandit: Run, folder: Path, files: tuple[Path, Path]) -> None:
    problem = files[1]
    problem.write_text(PROBLEM)
    drawn = folder / "drawn.toml"
    drawn.write_text(PROBLEM.replace("2.5", "{choose = [2, 3]}"))
    dobandit("study", "ask", study)
    dobandit("study", "tell", study, 1, "X=1", "Y=0")
    cases: list[tuple[int, str, tuple[object, ...]]] = [
        (4, "exists already", ("init", study, problem)),
        (4, "is not a study", ("status", problem)),
        (4, "there is no study", ("ask", folder / "none.db")),
        (4, "there is no pull 9", ("tell", study, 9, "X=1", "Y=1")),
        (4, "has the outcome X=1 Y=0, and now X=1 Y=1 is reported", ("tell", study, 1, "X=1", "Y=1")),
        (2, "rules to draw them by", ("init", folder / "d.db", drawn)),
        (4, "there is no pull 9", ("explain", study, 9)),
        (4, "there is no pull 9", ("withdraw", study, 9)),
        (2, "there is no policy", ("init", folder / "d.db", problem, "--policy", "f-cube")),
        (2, "cannot be read", ("init", folder / "d.db", folder / "none.toml")),
        (2, "Y is 7, and not one of 0 and 1; send X=0|1 Y=0|1", ("amend", study, 1, "Y=7")),
        (2, "say what changes: write 1 Y=0", ("amend", study, 1)),
        (2, "write X=1 Y=0, and 'my name=1' for a name with a space", ("tell", study, 1, "X")),
        (2, "X is given twice", ("tell", study, 1, "X=1", "X=1")),
        (2, "give the ID of a pull", ("tell", study)),
        (2, "give either the ID of a pull and its values, or --file", ("tell", study, "--file", problem, "X=1")),
        (2, "'X=1' is not the ID of a pull", ("tell", study, "X=1", "Y=1")),
        (2, "read from CSV and Parquet files", ("tell", study, "--file", folder / "many.json")),
        (2, "read from CSV and Parquet files", ("observe", study, folder / "log.json")),
        (2, "a study in memory would be gone at once", ("init", ":memory:", problem)),
        (2, "the name of a batch of rows is a text that is not empty", ("observe", study, problem, "--name", "")),
        (2, "the name of a worker", ("ask", study, "--worker", " ")),
        (2, "the name of an experiment", ("record", study, "X=1", "X=1", "Y=1", "--name", "")),
        (2, "the name of an extension", ("extend", study, 5, "--name", "")),
        (5, "file name too long", ("init", folder / ("a" * 300), problem)),
        (5, "file name too long", ("status", folder / ("a" * 300))),
        (5, "file name too long", ("export", study, folder / ("a" * 300 + ".csv"))),
        (2, "a time to live", ("ask", study, "--ttl", "soon")),
        (2, "cannot be read", ("observe", study, folder / "none.csv")),
        (2, "cannot be read", ("tell", study, "--file", folder / "none.csv")),
        *([(5, "cannot be written", ("init", "/proc/study.db", problem))] if Path("/proc").is_dir() else []),
        (5, "the database did not answer", ("status", "postgresql://user@127.0.0.1:1/x")),
    ]
    for code, message, arguments in cases:
        ran = dobandit("study", *arguments, "--json")
        assert (ran.code, ran.out) == (code, ""), (arguments, ran)
        assert message in ran.err, (arguments, ran.err)
        assert "Traceback" not in ran.err
    assert not (folder / "d.db").exists()


def test_watching(study: Path, dobandit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is shown again and again, until it is interrupted."""
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 1:
            dobandit("study", "extend", study, 5)
        if len(naps) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("dobandit.cli.study_answers.time.sleep", nap)
    ran = dobandit("study", "status", study, "--watch")
    assert (ran.code, naps) == (130, [1.0, 1.0, 1.0])
    assert "0 of 17 spent" in ran.out


def test_who_has_which_pull_since_when(study: Path, dobandit: Run) -> None:
    assert dobandit("study", "pulls", study).err == "No pull is open.\n"
    dobandit("study", "ask", study, "--worker", "anna", "--ttl", "2d")
    dobandit("study", "ask", study, "--worker", "ben")
    first, second = answer(dobandit("study", "pulls", study, "--json"))["pulls"]
    assert set(first) == {"id", "arm", "worker", "begun", "expires", "state"}
    assert (first["id"], first["arm"], first["worker"], first["state"]) == (1, "do()", "anna", "open")
    assert (second["worker"], second["expires"]) == ("ben", None)
    begun, expires = (datetime.fromisoformat(first[moment]) for moment in ("begun", "expires"))
    assert abs((expires - begun).total_seconds() - 2 * 86400) <= 1
    assert [line.split()[:3] for line in dobandit("study", "pulls", study).out.splitlines()[1:]] == [
        ["1", "do()", "anna"],
        ["2", "do(X=0)", "ben"],
    ]


def test_one_value_is_amended_and_who_decided_it_is_in_the_log(study: Path, dobandit: Run) -> None:
    dobandit("study", "ask", study, "-n", 3)
    assert dobandit("study", "tell", study, 2, "Y=1").code == 0  # X=0 is what the experiment set
    assert dobandit("study", "tell", study, 3, "X=0", "Y=1").code == 2
    dobandit("study", "amend", study, 2, "Y=0", "--by", "anna")
    dobandit("study", "withdraw", study, 1, "--by", "ben")
    dobandit("study", "extend", study, 5, "--by", "the board")
    assert [" ".join(line.split()[3:]) for line in dobandit("study", "log", study).out.splitlines()[4:]] == [
        "told 2 X=0 Y=1",
        "amended 2 X=0 Y=0, by anna",
        "withdrawn 1 not refunded, by ben",
        "extended by 5, by the board",
    ]


@pytest.mark.parametrize("command", ["log", "status --watch", "status --json"])
def test_a_closed_pipe_ends_quietly(study: Path, command: str) -> None:
    program = f"{sys.executable} -m dobandit study {command.replace(' ', f' {study} ', 1)}"
    program = program if str(study) in program else f"{program} {study}"
    script = f"{program} | head -n 1; exit ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(ran.stdout.splitlines()) == 1
    assert "\x1b" not in ran.stdout  # no control characters
