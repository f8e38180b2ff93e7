"""Study files of earlier versions stay readable, and no file can run code.

`python -m tests.study.test_golden` writes the file of this version, once, when a version is made.
"""

from __future__ import annotations

import ast
import json
import shutil
import sys
import warnings
from pathlib import Path

import pytest

import dobandit
from dobandit import worlds
from dobandit.problem import Arm, Problem
from dobandit.study import Study
from tests.study.driving import Laboratory, drive, laboratory

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.db"))
PROBLEM = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=60, default_cost=1.7)


def make(path: Path) -> None:
    """A study in which everything has happened that can happen."""
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


def test_this_version_has_a_golden_file() -> None:
    assert any(path.stem == f"study-{dobandit.__version__}" for path in GOLDEN)


def test_nothing_is_ever_unpickled() -> None:
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
    made = Path(__file__).parent / "golden" / f"study-{dobandit.__version__}.db"
    made.parent.mkdir(exist_ok=True)
    make(made)
    twin = made.with_suffix(".twin")
    shutil.copy(made, twin)
    with Study.open(twin, clock=lambda: 1_790_000_000.0) as opened:
        made.with_suffix(".json").write_text(json.dumps(summary(opened), indent=1) + "\n", encoding="utf-8")
    twin.unlink()
    sys.exit()
