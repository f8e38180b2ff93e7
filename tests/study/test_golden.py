"""Study files of earlier versions stay readable, and no file can run code.

`python -m tests.study.test_golden` writes the files of this version that are not there yet: once, when a version is
made, or when a kind of study gets a file of its own. A file that is there is never written again.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import json
import marshal
import pickle
import shutil
import sqlite3
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dobandit
from dobandit import worlds
from dobandit.problem import Arm, Problem
from dobandit.study import Study
from tests.study.driving import Laboratory, drive, laboratory

FOLDER = Path(__file__).parent / "golden"
GOLDEN = sorted(FOLDER.glob("*.db"))
GRAPH = "Z -> X -> Y; Z -> Y; X <-> W; W -> Y"
PROBLEM = Problem(GRAPH, "Y", budget=60, default_cost=1.7)
SIMPLE = Problem(GRAPH, "Y", budget=40, default_cost=1.7, objective="simple")


def make_index(path: Path) -> None:
    """A study led by an index, with a log and an experiment that was not asked for."""
    moments = iter(range(1_700_000_000, 1_800_000_000, 60))
    with Study.create(path, PROBLEM, "paper-cumulative", seed=4, clock=lambda: float(next(moments))) as study:
        lab: Laboratory = laboratory(PROBLEM, 4)
        drive(study, lab, most=12)
        study.ask(2, worker="lab-2", ttl="2m")
        study.record("do(X=1)", {"Z": 0, "X": 1, "W": 0, "Y": 1})
        study.amend(3, {"Z": 1, "X": 0, "W": 0, "Y": 0})
        study.withdraw(5, refund=True, reason="the sample was lost")
        study.extend(7.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # this policy has no rule for logs
            study.observe(worlds.random(PROBLEM.graph, 3).sample(Arm(), 200, seed=1), name="2023")
        for _ in range(3):
            study.ask(3, worker="lab-3")
        drive(study, lab, most=5, worker="lab-3")


def make_phases(path: Path) -> None:
    """A study led by a plan, whose pulls expire, are reassigned, come late and are taken back; the plan is carried out,
    and more money comes after it."""
    moments = iter(range(1_700_000_000, 1_800_000_000, 60))
    with Study.create(path, SIMPLE, "sh-rr", seed=4, clock=lambda: float(next(moments))) as study:
        lab = laboratory(SIMPLE, 4)
        slow = study.ask(4, worker="slow", ttl="1m")
        quick = study.ask(4, worker="quick", ttl="2m")
        study.ask(4, worker="quick", ttl="1d")  # the same pulls, with more time
        for pull in (slow[0], slow[1], *quick):
            study.tell(pull.id, lab.carry_out(pull))
        study.withdraw(slow[2].id, refund=True, reason="never carried out")
        drive(study, lab, most=4, worker="quick")
        study.amend(6, {**lab.carry_out(quick[1]), "Y": 1 - int(lab.carry_out(quick[1])["Y"])})
        drive(study, lab, worker="quick")
        study.withdraw(study.outcomes()[-2]["id"], refund=False, reason="the sample was lost")
        study.withdraw(study.outcomes()[-1]["id"], refund=True)
        study.extend(10.5)  # which pays for one pull more than is made of it
        drive(study, lab, most=6, worker="quick")


MAKERS = {"": make_index, "-phases": make_phases}


def summary(study: Study) -> dict[str, object]:
    """What must be the same for ever: money, pulls, and what is asked next."""
    found = study.status()
    return {
        "policy": study.policy,
        "budget": [round(number, 9) for number in found.budget],
        "pulls": [[arm.arm, arm.pulls, arm.open] for arm in found.arms],
        "events": [event.kind for event in study.log()],
        "outcomes": [[row["id"], row["intervention"], row["Y"]] for row in study.outcomes()],
        "next": [[pull.id, str(pull.arm)] for pull in study.ask(2, worker="new", ttl="1h")],
    }


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_file_of_an_earlier_version_opens(path: Path, folder: Path) -> None:
    copy = shutil.copy(path, folder / path.name)
    with Study.open(copy, clock=lambda: 1_790_000_000.0) as study:
        assert summary(study) == json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


CUT = 29  # an amendment in the middle of both histories
CONTINUED = {  # what version 0.1.0 (commit aa09620) asked next, from the whole history and from its first events
    ("study-0.1.0", None): (
        "do(X=1) do(W=1) do() do(X=1) do(W=0) do(Z=0) do() do(Z=1) do(X=1) do(X=0) "
        "do() do(Z=1) do(X=1) do(W=1) do() do(X=0) do(X=1) do(X=1) do() do(W=0)"
    ),
    ("study-0.1.0", CUT): (
        "do() do(W=1) do() do(X=0) do() do(W=1) do(Z=1) do() do(W=0) do(Z=0) "
        "do(W=1) do() do(W=0) do(X=0) do(X=1) do() do(W=0) do(X=0) do(X=1) do()"
    ),
    ("study-0.1.0-phases", None): "do(Z=0) do(X=1) " * 10,
    ("study-0.1.0-phases", CUT): (
        "do() do() do(Z=0) do(Z=0) do(X=1) do(X=1) do(W=1) do(W=1) do(Z=0) do(Z=0) "
        "do(Z=0) do(Z=0) do(X=1) do(X=1) do(X=1) do(X=1) do(Z=0) do(X=1) do(Z=0) do(X=1)"
    ),
}


@pytest.mark.parametrize(("name", "cut"), CONTINUED)
@pytest.mark.parametrize("reopened", [False, True])
def test_a_study_of_an_earlier_version_goes_on_with_the_same_pulls(
    name: str, cut: int | None, reopened: bool, folder: Path
) -> None:
    """Its events do not say what the policy remembers. Closed and opened again after the first pulls, some do."""
    copy = Path(shutil.copy(FOLDER / f"{name}.db", folder / f"{name}.db"))
    if cut is not None:
        with contextlib.closing(sqlite3.connect(copy)) as base, base:
            base.execute("DELETE FROM event WHERE number > ?", (cut,))
            base.execute("DELETE FROM snapshot")
    arms, opened = list[str](), Study.open(copy, clock=lambda: 1_790_000_000.0)
    opened.extend(45)
    for most in (5, 15) if reopened else (20,):
        with opened as study:
            arms += drive(study, laboratory(study.problem, 4), most, worker="later")
        opened = Study.open(copy, clock=lambda: 1_790_000_000.0)
    opened.close()
    assert arms == CONTINUED[name, cut].split()


def test_this_version_has_its_golden_files() -> None:
    assert {f"study-{dobandit.__version__}{kind}" for kind in MAKERS} <= {path.stem for path in GOLDEN}


def test_the_golden_files_have_everything_that_can_happen() -> None:
    seen: set[str] = set()
    for path in GOLDEN:
        seen |= set(json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["events"])
    assert seen == {"created", "asked", "leased", "told", "recorded", "amended", "withdrawn", "extended", "observed"}


def test_nothing_is_ever_unpickled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever opens, reads and exports a study, or reads an export, does so where nothing can be run."""
    for path in GOLDEN:
        everything(path, folder / "imports")  # which unmarshals modules, and may
    calls: list[str] = []
    for place, name in (
        *((pickle, name) for name in ("load", "loads", "Unpickler", "_Unpickler")),
        *((marshal, name) for name in ("load", "loads")),
        *((builtins, name) for name in ("eval", "exec", "compile")),
        (np, "load"),
    ):
        monkeypatch.setattr(place, name, forbidden(name, calls))
    for path in GOLDEN:
        everything(path, folder / "forbidden")
    assert calls == []


def forbidden(name: str, calls: list[str]) -> Callable[..., None]:
    def refuse(*_: object, **__: object) -> None:
        calls.append(name)
        raise AssertionError(f"a study made its reader call {name}")

    return refuse


def everything(path: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    copy = shutil.copy(path, folder / path.name)
    with Study.open(copy) as study, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about policies that have no rule for logs
        study.status(), study.best(), study.explain(1), study.plot()
        for ending in ("csv", "json", "parquet"):
            study.export(folder / f"{path.stem}.{ending}")
        for ending in ("csv", "parquet"):
            study.observe(folder / f"{path.stem}.{ending}")
        study.withdraw(study.ask(1, worker="new")[0].id)


def test_nothing_that_could_unpickle_is_imported() -> None:
    """No module of the room, nor of those that read files for it, can run what it reads."""
    for folder in ("study", "evidence", "problem"):
        for file in (Path(dobandit.__file__).parent / folder).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            imported = {alias.name.split(".")[0] for node in ast.walk(tree) for alias in getattr(node, "names", [])}
            imported |= {str(getattr(node, "module", "")).split(".")[0] for node in ast.walk(tree)}
            called = {getattr(node.func, "id", "") for node in ast.walk(tree) if isinstance(node, ast.Call)}
            assert not imported & {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}, file
            assert not called & {"eval", "exec", "compile", "__import__"}, file


if __name__ == "__main__":
    for kind, make in MAKERS.items():
        made = FOLDER / f"study-{dobandit.__version__}{kind}.db"
        if made.exists():
            continue
        make(made)
        twin = made.with_suffix(".twin")
        shutil.copy(made, twin)
        with Study.open(twin, clock=lambda: 1_790_000_000.0) as opened:
            made.with_suffix(".json").write_text(json.dumps(summary(opened), indent=1) + "\n", encoding="utf-8")
        twin.unlink()
    sys.exit()
