"""A history that can be verified: whatever is changed in it afterwards shows."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from dobandit.errors import DobanditError, StudyError
from dobandit.study import Study, verify
from tests.conftest import Ran
from tests.study.conftest import Places
from tests.study.driving import SMALL, drive, forge, laboratory

Run = Callable[..., Ran]
GOLDEN = Path(__file__).parent / "golden"
FLIPS = 60


def edit(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        for statement in statements:
            base.execute(statement)


@pytest.fixture
def path(folder: Path) -> Path:
    """A study with snapshots and corrections."""
    made = folder / "s.db"
    with Study.create(made, SMALL, "f-kube") as study:
        drive(study, laboratory())
        study.amend(3, {"Y": 1 - int(study.outcomes()[2]["Y"])})
        study.withdraw(5, refund=True)
        drive(study, laboratory(), most=3)
    return made


def test_a_sound_study_is_verified(lasting: Places) -> None:
    place = lasting()
    with Study.create(place, SMALL, "paper-cumulative") as study:
        drive(study, laboratory())
        found = study.verify()
        assert found == verify(place)
        assert (found.ok, found.faults, found.since) == (True, (), 1)
        assert (found.study, found.head, found.events) == (study.id, study.status().head, len(study.log()))
        heads = [event.hash for event in study.log()]
        assert len({*heads}) == len(heads)
        assert study.verify(head=heads[7][:12]).ok
        assert verify(place, against=place).ok


def test_a_hash_covers_the_study_the_number_the_hash_before_it_and_all_that_is_said(path: Path) -> None:
    """As it is written in files: another formula would make every study look damaged."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        rows = base.execute("SELECT number, time, kind, pull, content, hash FROM event ORDER BY number").fetchall()
    study, before = json.loads(rows[0][4])["id"], ""
    for number, time, kind, pull, content, found in rows:
        said = [study, str(number), before, repr(time), kind, str(pull), content]
        before = hashlib.sha256("\n".join(said).encode()).hexdigest()
        assert found == before


CHANGED = "event {} is not what was written there, or does not follow the event before it"


def test_an_event_after_the_snapshot_that_was_changed_is_refused_when_the_study_is_opened(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as base:
        ((last, kept),) = base.execute("SELECT max(event.number), max(snapshot.number) FROM event, snapshot").fetchall()
    assert kept < last
    edit(path, f"UPDATE event SET time = time + 0.5 WHERE number = {last}")
    with pytest.raises(StudyError, match=CHANGED.format(last)):
        Study.open(path)


@pytest.mark.parametrize("read", [Study.log, Study.outcomes, lambda study: study.explain(3)])
def test_an_event_before_it_is_refused_when_it_is_read(path: Path, read: Callable[[Study], object]) -> None:
    edit(path, "UPDATE event SET time = time + 0.5 WHERE number = 6")
    with Study.open(path) as study, pytest.raises(StudyError, match=CHANGED.format(6)):
        read(study)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (['UPDATE event SET content = replace(content, \'"Y":"0"\', \'"Y":"1"\') WHERE number = 7'], "event 7 is not"),
        (["UPDATE event SET time = time + 1 WHERE number = 7"], "event 7 is not what was written"),
        (["UPDATE event SET hash = NULL WHERE number = 7"], "event 7 has no hash"),
        (["DELETE FROM event WHERE number = 7"], "event 7 is missing: the next one is 8"),
        (
            [f"UPDATE event SET number = {n} WHERE number = {m}" for n, m in ((-1, 8), (8, 10), (10, -1))],
            "event 8 is not what was written there, or does not follow",
        ),
        (["DROP INDEX event_of_pull", "CREATE INDEX event_of_pull ON event (pull) WHERE pull IS NOT NULL"], None),
    ],
)
def test_what_was_changed_is_named(path: Path, changes: list[str], fault: str | None, dobandit: Run) -> None:
    edit(path, *changes)
    ran = dobandit("study", "verify", path, "--json")
    found = json.loads(ran.out)
    assert (found["ok"], ran.code) == ((False, 4) if fault else (True, 0))
    assert fault is None or fault in found["faults"][0]
    assert {*found} >= {"study", "events", "head", "ok", "faults"}


def test_totals_that_were_changed_are_found_even_with_their_checksum(path: Path) -> None:
    from dobandit.study.stores.protocol import checksum

    with contextlib.closing(sqlite3.connect(path)) as base, base:
        (text,) = base.execute("SELECT text FROM snapshot ORDER BY number DESC").fetchone()
        other = text.replace('"total": 60.0', '"total": 90.0')
        base.execute(
            "UPDATE snapshot SET text = ?, version = replace(version, ?, ?)", (other, checksum(text), checksum(other))
        )
    assert "are not what the events add up to" in verify(path).faults[0]


def test_a_history_that_was_forged_is_told_by_its_head(path: Path) -> None:
    """Hashes can be computed again; then the head is another one, and people who wrote it down know."""
    known = verify(path).head
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE event SET time = time + 1 WHERE number = 7")
        base.execute("DELETE FROM snapshot")
        forge(base)
    assert verify(path).ok
    assert "no event has the hash" in verify(path, head=known).faults[0]


def test_a_lost_tail_is_told_by_a_known_head(path: Path) -> None:
    copy = Path(shutil.copy(path, path.with_name("copy.db")))
    known = verify(path).head
    edit(copy, "DELETE FROM event WHERE number > 40", "DELETE FROM snapshot")
    assert verify(copy).ok  # it is a study as it once was
    assert f"no event has the hash {known}" in verify(copy, head=known).faults[0]
    assert verify(copy, against=path).ok


def test_copies_that_went_different_ways(path: Path, folder: Path) -> None:
    copy, other = shutil.copy(path, folder / "copy.db"), folder / "other.db"
    number = verify(path).events
    for place, more in ((path, 2), (copy, 1)):
        with Study.open(place) as study:
            study.extend(5.0)
            drive(study, laboratory(), most=more)
    (fault,) = verify(path, against=copy).faults
    assert f"the same up to event {number}, then this one has 5 events of its own and the other 3" in fault
    Study.create(other, SMALL, "f-kube").close()
    assert "not a copy of this study" in verify(path, against=other).faults[0]


@pytest.mark.parametrize("head", ["", "x" * 20, "abc", 7])
def test_what_is_no_head(path: Path, head: str) -> None:
    with pytest.raises(DobanditError, match="a head is a hash"):
        verify(path, head=head)


@pytest.mark.parametrize("name", ["study-0.1.0", "study-0.1.0-phases"])
def test_an_older_study_gets_its_hashes_with_the_first_write(name: str, folder: Path) -> None:
    path = Path(shutil.copy(GOLDEN / f"{name}.db", folder / "s.db"))
    before = verify(path)
    assert (before.ok, before.since) == (True, before.events + 1)
    with Study.open(path) as study:
        assert study.head == before.head
        study.extend(1.0)
    after = verify(path, head=before.head)
    assert (after.ok, after.since, after.study) == (True, before.events + 1, before.study)
    edit(path, "UPDATE event SET time = time + 1 WHERE number = 3", "DELETE FROM snapshot")
    assert f"event {before.events + 1} is not what was written" in verify(path).faults[0]  # its hash covers the past


def test_flipped_bits_are_never_silent(path: Path, folder: Path) -> None:
    """Either `verify` finds a fault, or every answer is what it was."""
    data, expected, rng = path.read_bytes(), answers(path), random.Random(5)
    changed = folder / "flipped.db"
    for _ in range(FLIPS):
        flipped = bytearray(data)
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        changed.write_bytes(flipped)
        try:
            is_sound = verify(changed).ok
        except StudyError:
            continue
        assert not is_sound or answers(changed) == expected


def answers(path: Path) -> list[object]:
    with Study.open(path, clock=lambda: 1_900_000_000.0) as study:
        return [study.status(), study.best(), study.outcomes(), study.log(), study.explain(9), study.pulls()]
