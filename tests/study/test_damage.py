"""Studies from broken disks and from strangers: they open, or a sentence says what is wrong; never anything else."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dobandit.errors import StorageError, StudyError
from dobandit.problem import Problem
from dobandit.study import Study
from dobandit.study.books import Books
from dobandit.study.opening import _check_counts
from dobandit.study.plain import array_from_plain
from dobandit.study.stores import Snapshot, open_store
from dobandit.study.stores.protocol import FORMAT, VERSION
from tests.conftest import Ran
from tests.study.conftest import Places
from tests.study.driving import SMALL, drive, forge, laboratory

Run = Callable[..., Ran]
PROBLEM = Problem("X -> Y; X <-> Y", {"variable": "Y", "range": [0, 2]}, budget=40, default_cost=2.5)
MUTATIONS = 100  # of every kind
ODD: list[Any] = [None, True, False, -1, 0, 1, 7, 10**30, -0.5, 1e308, float("nan"), float("inf")]
ODD += ["", "0", "x", "ä", [], [[]], {}]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study in which everything has happened."""
    path = tmp_path_factory.mktemp("sound") / "s.db"
    moments = iter(range(1_700_000_000, 1_800_000_000, 60))
    with Study.create(path, PROBLEM, "paper-cumulative", clock=lambda: float(next(moments))) as study:
        for _ in range(5):
            for pull in study.ask(2):
                study.tell(pull.id, {"X": "0", "Y": 0.5 * (pull.id % 3), **pull.set})
        study.ask(2, worker="slow", ttl="1s")
        study.ask(2, worker="slow", ttl="1s")
        study.ask(2, worker="quick")
        study.record("do(X=1)", {"X": 1, "Y": 1.25})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # this policy has no rule for logs
            study.observe({"X": [0, 1, 1], "Y": [0, 1, 2]}, name="log")
        study.amend(3, {"X": 1, "Y": 2})
        study.withdraw(4, refund=True)
        study.extend(5)
        (pull,) = study.ask(1, worker="quick")
        study.tell(pull.id, {"X": 1, "Y": 1, **pull.set})
    return path


def use(path: Path) -> None:
    """Whatever reads what is written in a study."""
    with Study.open(path, clock=lambda: 1_790_000_000.0) as study:
        study.status()
        study.best()
        study.outcomes()
        study.explain(1)
        study.explain(12)
        study.ask(3, worker="new", ttl="1d")


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in plain data: what holds it, and its key there."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def another_value(base: sqlite3.Connection, rng: random.Random) -> None:
    """Some value of some event, or its key, is another one."""
    number, text = rng.choice(base.execute("SELECT number, content FROM event").fetchall())
    content = json.loads(text)
    holder, key = rng.choice(list(places(content)))
    if isinstance(holder, dict) and rng.random() < 0.2:
        holder[rng.choice(["", "x", *holder])] = holder.pop(key)
    else:
        holder[key] = rng.choice([*ODD, *(h[k] for h, k in places(json.loads(text)))])
    base.execute("UPDATE event SET content = ? WHERE number = ?", (json.dumps(content), number))


def another_text(base: sqlite3.Connection, rng: random.Random) -> None:
    """The text of an event is cut, flipped or nested too deeply, or another event's."""
    rows = base.execute("SELECT number, content FROM event").fetchall()
    number, text = rng.choice(rows)
    data, place = bytearray(text.encode()), rng.randrange(len(text.encode()))
    data[place] ^= 1 << rng.randrange(8)
    broken = rng.choice([bytes(data), bytes(data[:place]), b"[" * 100_000, rng.choice(rows)[1].encode()])
    base.execute("UPDATE event SET content = CAST(? AS TEXT) WHERE number = ?", (broken, number))


def another_column(base: sqlite3.Connection, rng: random.Random) -> None:
    """Something beside the content of an event is another one, or the event is gone."""
    (number,) = rng.choice(base.execute("SELECT number FROM event").fetchall())
    kinds = [kind for (kind,) in base.execute("SELECT kind FROM event")]
    values: dict[str, list[Any]] = {
        "number": [0, -1, 1000, 2**62],
        "time": [-1e300, 1e300, "soon", b"x", 0],
        "kind": ["", "mystery", 5, b"\xff", *kinds],
        "pull": [None, 0, -1, 1, 2, 9, 2**62, "x", b"x"],
    }
    column = rng.choice(list(values))
    if rng.random() < 0.1:
        base.execute("DELETE FROM event WHERE number = ?", (number,))
    else:
        base.execute(f"UPDATE OR IGNORE event SET {column} = ? WHERE number = ?", (rng.choice(values[column]), number))


@pytest.mark.parametrize("change", [another_value, another_text, another_column])
def test_events_that_were_changed(
    change: Callable[[sqlite3.Connection, random.Random], None], sound: Path, folder: Path
) -> None:
    refused = 0
    for seed in range(MUTATIONS):
        path = Path(shutil.copy(sound, folder / f"{seed}.db"))
        with contextlib.closing(sqlite3.connect(path)) as base, base:
            change(base, random.Random(seed))
            if seed % 2:  # the others are refused for their hash
                with contextlib.suppress(sqlite3.Error, UnicodeError):
                    forge(base)
        refused += refuses(path)
    assert refused > MUTATIONS / 4  # not all of them matter


def test_files_that_were_changed(sound: Path, folder: Path) -> None:
    data, refused = sound.read_bytes(), 0
    for seed in range(MUTATIONS):
        rng, changed = random.Random(seed), bytearray(data)
        start = rng.choice([0, 0, rng.randrange(len(data))])  # the header most of all
        for place in rng.sample(range(start, min(start + 100, len(data))), 3):
            changed[place] = rng.randrange(256)
        path = folder / f"{seed}.db"
        path.write_bytes(changed if rng.random() < 0.9 else changed[: rng.randrange(len(data))])
        refused += refuses(path)
    assert refused > MUTATIONS / 4


def refuses(path: Path) -> bool:
    """Whether a study is refused with a sentence; any other error is the test's."""
    try:
        use(path)
    except (StudyError, StorageError) as error:
        said = str(error)
    else:
        return False
    assert len(said.splitlines()) == 1
    return True


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DELETE FROM event", "events are missing"),
        ("DELETE FROM event WHERE number = 4", "events are missing"),
        ("UPDATE event SET content = '{}' WHERE number = 3", "event 3 makes no sense: told has no outcome"),
        ("UPDATE event SET content = 'x' WHERE number = 3", "event 3 makes no sense"),
        ("UPDATE event SET content = replace(content, 'f-kube', 'f-cube') WHERE number = 1", "policy f-cube"),
        ("UPDATE event SET content = replace(content, '60.0', '-6.0') WHERE number = 1", "expected a positive number"),
        ('UPDATE event SET content = replace(content, \'["Z","X"]\', \'["Y","Z"]\') WHERE number = 1', "cycle"),
        ("UPDATE event SET content = json_set(content, '$.arm', 99) WHERE number = 2", "make no sense"),
        *(
            (
                f"UPDATE event SET content = json_set(content, '$.source', {source}) WHERE number = 4",
                f"event 4 replaces pull {source}, which did not exist",
            )
            for source in (0, 2, 3)
        ),
        ("UPDATE event SET kind = 'mystery' WHERE number = 3", "only a newer version"),
        ("DROP TABLE snapshot", "damaged"),
        (
            "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END",
            "it has commands in it",
        ),
    ],
)
def test_a_sentence_says_what_is_wrong(folder: Path, change: str, message: str, dobandit: Run) -> None:
    path = folder / "s.db"
    with Study.create(path, SMALL, "f-kube") as study:
        drive(study, laboratory(), most=5)
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute(change)
        if change.startswith("UPDATE"):
            forge(base)
    ran = dobandit("study", "status", path)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (4, "", 1), ran
    assert message in ran.err


def test_damage_behind_a_snapshot_is_found_when_it_is_read(folder: Path) -> None:
    path = folder / "s.db"
    with Study.create(path, SMALL, "f-kube") as study:
        drive(study, laboratory())
        assert len(study.log()) > 64
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE event SET content = json_set(content, '$.arm', 99) WHERE number = 2")
    with Study.open(path) as study:
        for read in (
            study.log,
            study.outcomes,
            study.plot,
            lambda: study.explain(1),
            lambda: study.export(folder / "x.csv"),
        ):
            with pytest.raises(StudyError, match="is damaged: event 2 is not what was written there"):
                read()
    assert not (folder / "x.csv").exists()


def test_damage_that_comes_while_a_study_is_open(folder: Path) -> None:
    path = folder / "s.db"
    with Study.create(path, SMALL, "f-kube") as study:
        drive(study, laboratory(), most=5)
        with contextlib.closing(sqlite3.connect(path)) as base, base:
            base.execute("INSERT INTO event SELECT 12, time, kind, 9, content, hash FROM event WHERE number = 11")
        for use_it in (study.ask, study.status, lambda: study.tell(1, {})):
            with pytest.raises(StudyError, match="is damaged"):
                use_it()
        with contextlib.closing(sqlite3.connect(path)) as base, base:
            base.execute("DELETE FROM event WHERE number = 12")
        assert study.ask()[0].id == 6


@pytest.mark.parametrize(
    "change",
    [
        "'$.state', 'x'",
        "'$.state.target', 5",
        "'$.state.target.kind', '<i8'",
        "'$.state.target.shape', json('[7, 1]')",
        "'$.state.phase.data', 'AQAAAAAAAIA='",  # a negative number, from which phases would be counted for ever
        "'$.state.phase.data', '/////////38='",  # the last of all phases
        "'$.state.active.data', '?'",
    ],
)
def test_a_state_that_does_not_fit_is_worked_out_again(folder: Path, change: str) -> None:
    """It may be damaged, or of another version of the policy: the outcomes say what the policy would remember."""
    problem = Problem(SMALL.graph, "Y", 60, "simple", default_cost=1.7)
    whole = Study.create(":memory:", problem, "sh-rr")
    expected = drive(whole, laboratory(problem))
    path = folder / "s.db"
    with Study.create(path, problem, "sh-rr") as study:
        arms = drive(study, laboratory(problem), most=12)
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        last = "SELECT max(number) FROM event WHERE content LIKE '%\"target\"%'"
        assert base.execute(f"UPDATE event SET content = json_set(content, {change}) WHERE number = ({last})").rowcount
        base.execute("DELETE FROM snapshot")
        forge(base)
    with contextlib.suppress(StudyError), Study.open(path) as study:
        assert arms + drive(study, laboratory(problem)) == expected
        return
    assert change.endswith("'x'")  # which is no state at all


# -- snapshots -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "form", "beyond", "counts"),
    [
        (VERSION, FORMAT, 0, True),
        ("0.0.9", FORMAT, 0, False),
        (VERSION, FORMAT + 1, 0, False),
        (VERSION, FORMAT - 1, 0, False),
        (VERSION, FORMAT, 1, False),
        (VERSION, FORMAT, 1000, False),
    ],
)
def test_a_snapshot_counts_if_it_is_ours(lasting: Places, version: str, form: int, beyond: int, counts: bool) -> None:
    """This one says that there is more money than there is, so that one sees whether it was read."""
    place = lasting()
    with Study.create(place, SMALL, "f-kube") as study:
        drive(study, laboratory(), most=5)
        books, total = Books.folded(study.log()), study.status().budget.total
    books.number, books.total = books.number + beyond, total + 1000
    with contextlib.closing(open_store(place)) as store, store.writing() as access:
        access.save_snapshot(Snapshot(books.number, version, json.dumps(books.to_plain()), form))
    with Study.open(place) as study:
        assert study.status().budget.total == total + 1000 * counts
        assert study.ask()[0].id == 6


def test_a_snapshot_of_other_tables_is_not_read(lasting: Places) -> None:
    """Another version may count other tables of the same size. This one has more money, too, so that it would show."""
    place = lasting()
    with Study.create(place, SMALL, "f-kube") as study:
        drive(study, laboratory(), most=5)
        books, total = Books.folded(study.log()), study.status().budget.total
    books.total = total + 1000
    plain = books.to_plain()
    for tally in plain["tallies"]:
        tally["tables"] = "of another version"
    with contextlib.closing(open_store(place)) as store, store.writing() as access:
        access.save_snapshot(Snapshot(books.number, VERSION, json.dumps(plain)))
    with Study.open(place) as study:
        assert study.status().budget.total == total


@pytest.mark.parametrize(
    "change",
    [
        "text = replace(text, '\"total\": 60.0', '\"total\": 90.0')",
        "text = substr(text, 1, 100)",
        "text = x'ff'",
        "number = 60",
        "version = version || 'x'",
        "version = '0.1.0'",
    ],
)
def test_a_damaged_snapshot_is_left_alone(folder: Path, change: str) -> None:
    path = folder / "s.db"
    with Study.create(path, SMALL, "f-kube") as study:
        drive(study, laboratory())
        before = study.status()
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        assert base.execute(f"UPDATE snapshot SET {change}").rowcount == 1
    with Study.open(path) as study:
        assert study.status() == before


def test_arrays_of_other_kinds_are_no_part_of_a_study() -> None:
    with pytest.raises(StudyError, match="an array of '<f4' is not part of any study: the file is damaged"):
        array_from_plain({"kind": "<f4", "shape": [1], "data": "AAAAAA=="})


def test_an_arm_with_fewer_outcomes_than_none_makes_no_sense(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    shutil.copy(sound, path)
    with Study.open(path) as study, study._session.reading() as (_, books):
        _check_counts(books)
        books.tallies[0].evidence.told[0, 1] = -1.0
        with pytest.raises(ValueError, match="do not add up"):
            _check_counts(books)
