"""Bits that flip in the file of a study: `study verify` reports it, or all answers are as they were."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

from dobandit.errors import DobanditError
from dobandit.study import Study, verify
from tests.stress.places import quick_folder
from tests.stress.table import Attempts, Extent, Line
from tests.study.driving import SMALL, drive, laboratory


def sound_study(path: Path) -> None:
    """A study of some hundred events, with corrections, logs and snapshots."""
    with Study.create(path, SMALL, "paper-cumulative") as study:
        drive(study, laboratory(), most=20)
        study.amend(3, {"Y": "1"})
        study.withdraw(4, refund=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # this policy has no rule for logs
            study.observe({v: [0, 1, 1] for v in SMALL.graph.variables}, name="log")
        study.extend(5.0, name="grant")
        drive(study, laboratory(), most=10)


def answers(path: Path) -> tuple[Any, ...]:
    with Study.open(path) as study:
        return study.status(), study.best(), study.outcomes(), study.pulls(), study.explain(12), study.ask(2)


def is_silent(path: Path, expected: tuple[Any, ...]) -> bool:
    """Whether a damaged study passes for sound, and answers something else."""
    try:
        if not verify(path).ok:
            return False
    except DobanditError:
        return False
    try:
        return answers(path) != expected
    except DobanditError:
        return False  # it is said when it is used


def run(extent: Extent) -> list[Line]:
    rng, silent, tried = random.Random(extent.seed), 0, 0
    attempts = Attempts(extent, extent.number(2000))
    with quick_folder() as folder:
        sound_study(folder / "sound.db")
        original, damaged = (folder / "sound.db").read_bytes(), folder / "damaged.db"
        (folder / "same.db").write_bytes(original)
        expected = answers(folder / "same.db")
        for i in attempts:
            tried = i + 1
            content = bytearray(original)
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            for beside in folder.glob("damaged.db*"):
                beside.unlink()
            damaged.write_bytes(content)
            silent += is_silent(damaged, expected)
    found = Line("bit flips in a study file", tried, silent, measured=f"{silent} silent", goal="0 silent")
    return [found._replace(left=attempts.left)]
