"""What every store must do."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import random
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dobandit.cli import main
from dobandit.errors import DobanditError, FileError, StorageError, StudyError
from dobandit.problem import Problem
from dobandit.study import Study, facts
from dobandit.study.events import Event
from dobandit.study.stores import Access, Snapshot, Store, create_store, open_store, postgres, shown, sqlite
from dobandit.study.stores.addresses import address_of
from dobandit.study.stores.sqlite import SqliteStore
from tests.conftest import Ran
from tests.study.conftest import Places
from tests.study.driving import SMALL, drive, laboratory

Run = Callable[..., Ran]
CREATED = Event(1, 0.5, facts.Created({"ä": [0.1, 1e300]}, "f-kube", 3))
OF_PULL_1 = facts.Asked(1, arm=0, repeats=1, source="policy", worker="me", expires=None)
ASKED = Event(2, 1.25, OF_PULL_1)
TOLD = Event(3, 2.0, facts.Told(1, {"X": "1"}))


class Broken(Exception):
    pass


@pytest.fixture
def store(stored: str) -> Iterator[Store]:
    with contextlib.closing(create_store(stored, CREATED)) as made:
        yield made


def append(access: Access, *events: Event) -> None:
    (*_, last) = access.events()
    access.append(events, last.hash)


def plain(events: Iterable[Event]) -> list[Event]:
    """Events without their hashes."""
    return [event._replace(hash="") for event in events]


def test_what_is_appended_is_read(store: Store) -> None:
    with store.writing() as access:
        append(access, ASKED, TOLD)
        assert plain(access.events(2)) == [TOLD]
    with store.reading() as access:
        assert plain(access.events(0, 1)) == [CREATED]
        assert plain(access.events(1, 2)) == [ASKED]
        assert plain(access.events()) == [CREATED, ASKED, TOLD]
        assert plain(access.events(3)) == []
        assert plain(access.events_of(1)) == [ASKED, TOLD]
        assert access.events_of(2) == []
        assert access.snapshot() is None
        _, second, third = (event.hash for event in access.events())
        assert access.is_last(3, third)
        assert not any([access.is_last(3, second), access.is_last(2, second), access.is_last(4, third)])


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(Broken), store.writing() as access:  # noqa: PT012
        append(access, ASKED)
        access.save_snapshot(Snapshot(2, "1", "x"))
        raise Broken
    with store.reading() as access:
        assert plain(access.events()) == [CREATED]
        assert access.snapshot() is None


@pytest.mark.parametrize(
    "wrong",
    [
        ASKED._replace(time=float("nan")),
        *(
            Event(2, 1.25, facts.Asked(**{**vars(OF_PULL_1), **wrong}))
            for wrong in ({"pull": None}, {"worker": 7}, {"expires": "soon"}, {"arm": None}, {"source": "mood"})
        ),
        Event(2, 1.25, facts.Told(1, {"X": 1})),  # type: ignore[dict-item]
        Event(2, 0.0, facts.Extended(float("inf"))),
    ],
)
def test_what_could_not_be_read_is_not_written(store: Store, wrong: Event) -> None:
    with pytest.raises(DobanditError, match="cannot be written down"), store.writing() as access:
        append(access, wrong)
    with store.reading() as access:
        assert plain(access.events()) == [CREATED]


def test_the_last_snapshot_counts(store: Store) -> None:
    for number in (1, 2):
        with store.writing() as access:
            access.save_snapshot(Snapshot(number, "0.1", f"text {number}"))
    with store.reading() as access:
        assert access.snapshot() == Snapshot(2, "0.1", "text 2")


def test_opened_again_it_is_the_same(lasting: Places) -> None:
    place = lasting()
    with contextlib.closing(create_store(place, CREATED)) as store, store.writing() as access:
        append(access, ASKED)
    with contextlib.closing(open_store(place)) as store, store.reading() as access:
        assert plain(access.events()) == [CREATED, ASKED]


def test_a_place_that_is_taken_or_empty(lasting: Places) -> None:
    place = lasting()
    with pytest.raises(StudyError, match="there is no study"):
        open_store(place)
    create_store(place, CREATED).close()
    with pytest.raises(StudyError, match="exists already"):
        create_store(place, CREATED)


# -- SQLite files ----------------------------------------------------------------------------------


def test_files_that_are_no_study(folder: Path) -> None:
    text, base, empty = folder / "a.txt", folder / "b.db", folder / "c.db"
    text.write_text("This is a text and not a database, and it is long enough to have a header.\n" * 30)
    with contextlib.closing(sqlite3.connect(base)) as other:
        other.execute("CREATE TABLE t (x)")
    empty.touch()
    for path in (text, base, empty):
        before = path.read_bytes()
        with pytest.raises(StudyError, match="not a study"):
            Study.open(path)
        assert path.read_bytes() == before


def test_a_damaged_file(folder: Path) -> None:
    path = folder / "s.db"
    with Study.create(path, SMALL, "f-kube") as study:
        drive(study, laboratory())
    data = bytearray(path.read_bytes())
    data[4096:] = random.Random(1).randbytes(len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(StudyError, match="damaged"):
        Study.open(path)


def test_a_newer_schema_is_refused(folder: Path) -> None:
    path = folder / "s.db"
    Study.create(path, SMALL, "f-kube").close()
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(StudyError, match="newer version"):
        Study.open(path)


# -- a disk that is full, a folder that is not there -------------------------------------------------

needs_limits = pytest.mark.skipif(not hasattr(os, "fork"), reason="a process with a limit of its own is forked")


def run_with_room_for(size: int, *arguments: object) -> tuple[int, str]:
    """A command in a process that cannot make any file larger than this; its exit code and what it says."""
    import resource

    ear, mouth = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            sys.stderr, sys.stdout = os.fdopen(mouth, "w"), io.StringIO()
            main(list(map(str, arguments)))
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(mouth)
    with os.fdopen(ear) as said:
        text = said.read()
    return os.WEXITSTATUS(os.waitpid(child, 0)[1]), text


@pytest.fixture
def problem(folder: Path) -> Path:
    path = folder / "p.toml"
    path.write_text('budget = 4000\nreward = "Y"\ngraph.edges = "X -> Y; X <-> Y"\n')
    return path


@needs_limits
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_half_of_a_study_on_a_full_disk(folder: Path, problem: Path) -> None:
    for size in (0, 1000, 4096, 8192, 12288, 16384, 20480, 32767):
        code, said = run_with_room_for(size, "study", "init", folder / "s.db", problem, "--policy", "f-kube")
        assert (code, len(said.splitlines())) == (5, 1), (size, said)
        assert "s.db: cannot be written" in said
        assert list(folder.iterdir()) == [problem], size
    code, said = run_with_room_for(100_000, "study", "init", folder / "s.db", problem, "--policy", "f-kube")
    assert code == 0, said


@needs_limits
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_full_disk_leaves_a_study_as_it_was(folder: Path, problem: Path) -> None:
    path, outcomes = folder / "s.db", folder / "o.csv"
    with Study.create(path, Problem.load(problem), "f-kube") as study:
        rows = [f"{pull.id},{pull.set.get('X', 0)},1" for pull in study.ask(300)]
        before = study.status(), study.log()
    outcomes.write_text("\n".join(["id,X,Y", *rows]))
    commands: list[tuple[object, ...]] = [("ask", path, "-n", 900), ("tell", path, "--file", outcomes)]
    for size in (0, 4096, 20480, 33000):
        for command in commands:
            code, said = run_with_room_for(size, "study", *command)
            assert (code, len(said.splitlines())) == (5, 1), (size, command, said)
            assert "s.db: cannot be written" in said
            with Study.open(path) as study:
                assert (study.status(), study.log()) == before
    for command in commands:
        assert run_with_room_for(1_000_000, "study", *command)[0] == 0


@needs_limits
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_half_of_a_figure_on_a_full_disk(folder: Path, problem: Path) -> None:
    figure = folder / "p.svg"
    figure.write_text("the old one")
    assert run_with_room_for(2000, "check", problem, "--plot", figure)[0] == 5
    assert set(folder.iterdir()) == {problem, figure}
    assert figure.read_text() == "the old one"


@pytest.mark.parametrize("pragma", ["max_page_count = 1", "query_only = 1"])
def test_a_full_or_read_only_disk_changes_nothing(folder: Path, pragma: str) -> None:
    """SQLite itself is told to find no room, or to find the file read-only, while a study is open."""
    path = folder / "s.db"
    study = Study.create(path, SMALL, "f-kube")
    drive(study, laboratory(), most=3)
    before, connection = study.status(), study._session._store._connection  # type: ignore[attr-defined]
    connection.execute(f"PRAGMA {pragma}")
    with pytest.raises(StorageError, match="cannot be written"):
        extend_often(study)
    connection.execute("PRAGMA query_only = 0")
    connection.execute("PRAGMA max_page_count = 1000000")
    extended = sum(event.kind == "extended" for event in study.log())
    assert study.status().budget.total == before.budget.total + extended
    assert arms_and_money(study) == arms_and_money(Study.open(path))


def refusing(number: int) -> Callable[..., None]:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


def test_what_fails_before_a_study_can_be_seen_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.link", refusing(errno.ENOSPC))
    with pytest.raises(StorageError, match="cannot be written: no space left"):
        SqliteStore.create(folder / "s.db", CREATED)
    assert list(folder.iterdir()) == []


def used_meanwhile(place: str, failure: BaseException, calls: pytest.MonkeyPatch) -> Callable[..., None]:
    """A step that takes long enough for another worker to ask and tell, and then fails."""

    def step(*_: object, **__: object) -> None:
        calls.undo()
        with Study.open(place) as other:
            (pull,) = other.ask()
            other.tell(pull.id, {v: pull.set.get(v, 0) for v in other.problem.graph.variables})
        raise failure

    return step


@pytest.mark.parametrize("failure", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["link", "replace", "fsync"])
def test_what_fails_once_a_study_can_be_seen_leaves_it(
    step: str, failure: BaseException, folder: Path, problem: Path, dobandit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker has used it by then: neither the study nor an outcome is taken away, and the answer says so."""
    path, owner = folder / "s.db", Path if step == "replace" else os
    done, fails = getattr(owner, step), used_meanwhile(str(folder / "s.db"), failure, monkeypatch)
    if step == "replace":  # which gives the name where there are no links
        monkeypatch.setattr(os, "link", refusing(errno.EPERM))
    monkeypatch.setattr(owner, step, lambda *given: (done(*given), fails()))
    ran = dobandit("study", "init", path, problem, "--policy", "f-kube")
    assert ran.code == (130 if isinstance(failure, KeyboardInterrupt) else 5)
    assert len(ran.err.strip().splitlines()) == 1
    assert f"the study {path} was made" in ran.err
    assert set(folder.iterdir()) == {problem, path}
    with Study.open(path) as study:
        assert study.status().told == 1


@pytest.mark.parametrize("links", [True, False])
def test_of_two_who_make_a_study_one_is_refused(folder: Path, links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one was quicker by a moment, and has an outcome already."""
    path = folder / "s.db"
    if not links:
        monkeypatch.setattr(os, "link", refusing(errno.EPERM))

    def write(*given: Any) -> None:
        monkeypatch.setattr(sqlite, "write_new", written)
        with Study.create(path, SMALL, "f-kube") as other:
            drive(other, laboratory(), most=1)
        written(*given)

    written = sqlite.write_new
    monkeypatch.setattr(sqlite, "write_new", write)
    with pytest.raises(StudyError, match="exists already"):
        Study.create(path, SMALL, "ucb")
    assert list(folder.iterdir()) == [path]
    with Study.open(path) as study:
        assert (study.policy, study.status().told) == ("f-kube", 1)


def test_a_study_that_was_made_and_cannot_be_opened(lasting: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    place = lasting()
    fails = used_meanwhile(place, StorageError("lost; nothing was changed"), monkeypatch)
    for kind in (SqliteStore, postgres.PostgresStore):
        monkeypatch.setattr(kind, "_check", fails)
    with pytest.raises(StorageError, match=r"was made, but then this failed: lost; check it with"):
        Study.create(place, SMALL, "f-kube")
    with Study.open(place) as study:
        assert study.status().told == 1


def test_a_file_system_without_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study is made, and never over a file that was made meanwhile."""
    monkeypatch.setattr("os.link", refusing(errno.EPERM))
    path, other = folder / "s.db", folder / "other"
    Study.create(path, SMALL, "f-kube").close()
    with Study.open(path) as study:
        assert study.ask()[0].id == 1
    other.write_text("mine")
    exported = folder / "x.csv"
    with Study.open(path) as study:
        study.export(exported)
        exported.write_text("mine")
        monkeypatch.setattr(Path, "exists", lambda _: False)
        with pytest.raises(FileError, match="exists already"):
            study.export(exported)
    with pytest.raises(StudyError, match="exists already"):
        SqliteStore.create(other, CREATED)
    assert other.read_text() == exported.read_text() == "mine"
    assert set(folder.iterdir()) == {path, other, exported}


def test_an_old_study_is_not_brought_back(folder: Path, problem: Path, dobandit: Run) -> None:
    """Its file was removed while it was open, or its user was killed: what is left of it stays, and is not used."""
    path = folder / "s.db"
    init = ("study", "init", path, problem, "--policy", "ucb")
    with Study.create(path, SMALL, "f-kube") as old:
        old.ask()
        path.unlink()
        left = {file: file.read_bytes() for file in folder.iterdir()}
        assert folder / "s.db-wal" in left
        ran = dobandit(*init)
        assert (ran.code, len(ran.err.splitlines())) == (4, 1)
        assert "is left over from another study; move it away first" in ran.err
        assert {file: file.read_bytes() for file in folder.iterdir()} == left
    for ending in ("-wal", "-shm", "-journal"):
        beside = folder / f"s.db{ending}"
        beside.touch()
        assert dobandit(*init).code == 4
        beside.unlink()
    assert dobandit(*init).code == 0


class Interrupting:
    """A connection whose user is interrupted when a transaction has just begun."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *values: object) -> Any:
        found = self._connection.execute(sql, *values)
        if sql.startswith("BEGIN"):
            signal.raise_signal(signal.SIGINT)
        return found


def test_an_interruption_while_waiting_leaves_no_transaction(lasting: Places) -> None:
    """The signal comes while the lock is waited for, and Python hears of it when the lock is there."""
    place = lasting()
    with Study.create(place, SMALL, "f-kube") as study, Study.open(place) as other:
        (pull,) = study.ask()
        kept: Any = study._session._store
        for use in (lambda: study.extend(1), study.status):
            connection, kept._connection = kept._connection, Interrupting(kept._connection)
            with pytest.raises(KeyboardInterrupt):
                use()
            kept._connection = connection
            other.extend(2)
        assert study.status().budget.total == 64
        assert study.tell(pull.id, laboratory().carry_out(pull)).spent == 1


def test_names_that_are_too_long(folder: Path) -> None:
    for use in (Study.open, lambda path: Study.create(path, SMALL)):
        with pytest.raises(StorageError, match="file name too long"):
            use(folder / ("x" * 300))
    Study.create(folder / ("x" * 240), SMALL).close()  # a long one that the disk can hold


def test_every_answer_is_on_the_disk(folder: Path) -> None:
    """The journal and the care that a study is written with, when it is made and when it is opened."""
    made = SqliteStore.create(folder / "s.db", CREATED)
    for store in (made, SqliteStore.open(folder / "s.db")):
        with contextlib.closing(store):
            asked = [
                store._connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("journal_mode", "synchronous", "trusted_schema")
            ]
            assert asked == ["wal", 2, 0]  # 2 is FULL


def test_a_folder_that_is_not_there(folder: Path) -> None:
    with pytest.raises(FileError, match="its folder does not exist"):
        Study.create(folder / "nowhere" / "s.db", SMALL)


# -- PostgreSQL --------------------------------------------------------------------------------------


def test_an_unreachable_server() -> None:
    with pytest.raises(StorageError, match=r"postgresql://me:\*\*\*@127.0.0.1:1/x: the database did not answer"):
        Study.open("postgresql://me:secret@127.0.0.1:1/x")


def test_a_connection_that_is_lost_at_the_last_moment(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is unknown then whether it counts, and the error says so; the same again is safe."""
    import psycopg

    with Study.create(f"{server}#lost-{os.getpid()}", SMALL, "f-kube") as study:
        drive(study, laboratory(), most=3)
        kept: Any = study._session._store
        append = kept.append

        def cut() -> None:
            with psycopg.connect(server, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 10000)", (kept._connection.info.backend_pid,))

        def append_and_cut(*events: object) -> str:
            head: str = append(*events)
            cut()
            return head

        def cut_and_append(*events: object) -> None:
            cut()
            append(*events)

        monkeypatch.setattr(kept, "append", append_and_cut)
        with pytest.raises(StorageError, match="it is unknown whether this counts; do the same again") as lost:
            study.ask(2, worker="lab")
        assert "nothing was changed" not in str(lost.value)
        monkeypatch.setattr(kept, "append", cut_and_append)
        with pytest.raises(StorageError, match="nothing was changed"):
            study.ask(2, worker="lab")
        monkeypatch.undo()
        for _ in range(2):
            assert [pull.id for pull in study.ask(2, worker="lab")] == [4, 5]


def test_a_worker_that_stops_does_not_make_the_others_wait_for_ever(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its laptop is closed in the middle of a transaction; the server does not wait for it to wake up."""
    place = f"{server}#stopped-{os.getpid()}"
    with Study.create(place, SMALL, "f-kube") as stopped, Study.open(place) as other:
        monkeypatch.setattr(postgres, "_BEGIN_WRITING", postgres._BEGIN_WRITING.replace("60s", "500ms"))
        wakes_up = pytest.raises(StorageError, match="idle-in-transaction timeout; nothing was changed")
        with wakes_up, stopped._session._store.writing() as access:
            monkeypatch.undo()
            assert other.extend(1) == 61
            append(access, ASKED)
        assert stopped.extend(1) == 62


def test_a_connection_that_is_lost_while_a_study_is_made(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    def insert_and_cut(connection: Any, *rest: Any) -> None:
        insert(connection, *rest)
        with psycopg.connect(server, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 10000)", (connection.info.backend_pid,))

    place, insert = f"{server}#made-{os.getpid()}", postgres._insert
    monkeypatch.setattr(postgres, "_insert", insert_and_cut)
    with pytest.raises(StorageError, match="it is unknown whether this counts; do the same again"):
        Study.create(place, SMALL, "f-kube")
    monkeypatch.undo()
    Study.create(place, SMALL, "f-kube").close()


def test_damaged_tables(server: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as base:
        base.execute(f"CREATE DATABASE broken_{os.getpid()}")
    address = server.replace("/postgres?", f"/broken_{os.getpid()}?")
    with Study.create(address, SMALL, "f-kube") as study:
        drive(study, laboratory(), most=3)
    for change in (
        "UPDATE dobandit_event SET content = '[]' WHERE number = 3",
        "DELETE FROM dobandit_event WHERE number = 3",
        "ALTER TABLE dobandit_event RENAME COLUMN content TO words",
        "DROP TABLE dobandit_event",
    ):
        with psycopg.connect(address) as base:
            base.execute(change)
        with pytest.raises(StudyError, match="is damaged"):
            Study.open(address)


NEAR_MISSES = [  # of an address; in quotes, with spaces, as a path, in the words of other programs
    "postgresql+psycopg://me:SECRET@127.0.0.1:1/x",
    "POSTGRESQL://me:SECRET@127.0.0.1:1/x",
    " Postgres://me:SECRET@127.0.0.1:1/x\n",
    "psql://me:SECRET@127.0.0.1/x",
    "psql://127.0.0.1/x?user=me&password=SECRET",
    "postgresql:/me:SECRET@127.0.0.1/x",
    "postgresql:me:SECRET",
    "postgresql:\\\\me:SECRET@127.0.0.1",
    "'postgresql://me:SECRET@127.0.0.1/x'",
    "//me:SECRET@127.0.0.1/x",
    "me:SECRET@127.0.0.1/x",
    "/home/me/postgresql:/me:SECRET@127.0.0.1/x",
    "mysql://me:SECRET@127.0.0.1/x",
    "host=127.0.0.1 user=me password=SECRET",
    "postgresql://me:SECRET@127.0.0.1/\0",
]


@given(st.text("#@/:%? &=+[]\\'\"é", max_size=3), st.text("#@/:%? &=+[]\\'\"é", max_size=3))
@example("", "#")
@example("", "@")
@example("12/", "")
@settings(deadline=None)
def test_passwords_are_never_shown(before: str, after: str) -> None:
    """Whatever is in it, and wherever it stands: the text that is shown, or the complaint, has nothing of it."""
    password = f"{before}s3cr{after}t0p"
    places = [
        f"postgresql://me:{password}@127.0.0.1:1/x#name",
        f"postgres://me:{password}@/x?host=/nowhere",
        f"postgresql://127.0.0.1:1/x?password={password.replace('#', '%23')}#name",  # # is where the name begins
        f"postgresql://:{password}@127.0.0.1:1",
        *(text.replace("SECRET", password) for text in NEAR_MISSES),
    ]
    for place in places:
        try:
            said = repr(Study.open(place)) + shown(place)
        except DobanditError as error:
            said = "".join(traceback.format_exception(error))
        assert "s3cr" not in said
        assert "t0p" not in said


@pytest.mark.parametrize(
    "password", ["s3cr#t0p", "s3cr%23t0p", "s3cr@t0p", "s3cr/t0p", "s3cr t0p", "s3cr%t0p", "12/t0p"]
)
def test_nor_by_what_goes_wrong(password: str, dobandit: Run) -> None:
    ran = dobandit("study", "status", f"postgresql://me:{password}@127.0.0.1:1/x#name")
    assert ran.code in (2, 5)
    assert len(ran.err.splitlines()) == 1
    assert "s3cr" not in ran.err
    assert "t0p" not in ran.err


@pytest.mark.parametrize("place", NEAR_MISSES[:-1])
@pytest.mark.parametrize(
    "command",
    [
        ("study", "status", "ADDRESS"),
        ("study", "status", "ADDRESS", "--json"),
        ("study", "init", "p.toml", "ADDRESS"),
        ("study", "observe", "s.db", "ADDRESS"),
        ("study", "explain", "1", "ADDRESS"),
        ("study", "tell", "1", "ADDRESS", "X=1"),
        ("study", "ADDRESS", "status"),
        ("study", "status", "s.db", "ADDRESS"),
        ("study", "export", "s.db", "ADDRESS"),
    ],
)
def test_nor_by_commands_that_are_mistyped(
    place: str, command: tuple[str, ...], dobandit: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Study.create("s.db", SMALL, "f-kube").close()
    ran = dobandit(*(place.replace("SECRET", "s3cret") if part == "ADDRESS" else part for part in command))
    assert ran.code in (2, 4, 5)
    assert "s3cret" not in ran.err + ran.out
    assert [path.name for path in folder.iterdir()] == ["s.db"]


def test_nor_by_a_traceback() -> None:
    arguments = ["study", "init", "p.toml", "postgresql://me:s3cret@127.0.0.1/x", "--debug"]
    ran = subprocess.run([sys.executable, "-m", "dobandit", *arguments], capture_output=True, text=True)
    assert ran.returncode == 2
    assert "Traceback" in ran.stderr
    assert "s3cret" not in ran.stderr


@pytest.mark.parametrize(
    "name", ["run:3.db", "2026-01-01T10:00.db", "C:\\x.db", "./mysql:3.db", "me@lab:3.db", "postgres.db", "./a:b@c.db"]
)
def test_colons_in_the_names_of_files(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    Study.create(name, SMALL, "f-kube").close()
    assert [path.name for path in folder.iterdir()] == [name.removeprefix("./")]
    assert shown(name) == name


def test_addresses_in_capitals_and_with_spaces_around_them() -> None:
    assert address_of(" POSTGRESQL://me:Ab@h/x#Lab\n") == address_of("postgresql://me:Ab@h/x#Lab")


def test_parts_of_an_address() -> None:
    assert address_of("postgresql://me:a%23b@h:5/x#lab 7") == (
        "postgresql://me:a%23b@h:5/x",
        "lab 7",
        "postgresql://me:***@h:5/x#lab 7",
    )
    assert address_of("postgres://me:a#b@h") == ("postgresql://me:a#b@h", "study", "postgresql://me:***@h/")
    assert shown("study.db#1") == "study.db#1"


def extend_often(study: Study) -> None:
    for _ in range(2000):
        study.extend(1)


def arms_and_money(study: Study) -> object:
    found = study.status()
    return found.budget, [(arm.arm, arm.pulls, arm.open) for arm in found.arms]
