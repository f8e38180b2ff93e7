"""Faults at system calls: each command of a study meets a full disk, a broken disk or its end at one of its calls.

strace injects them into a process that is forked with everything imported, so that a case takes a fraction of a second.
Where strace is not installed, nothing is tried.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dobandit.cli import main
from dobandit.errors import DobanditError
from dobandit.study import Study, verify
from tests.stress.places import quick_folder
from tests.stress.table import Extent, Line, total
from tests.study.driving import SMALL, drive, laboratory

CALLS = ("write", "pwrite64", "fsync", "fdatasync", "link", "rename", "unlink", "openat", "ftruncate", "fcntl")
FAULTS = ("error=ENOSPC", "error=EIO", "signal=KILL")
PATIENCE = 60.0  # seconds until a command has hung
KNOWN = (0, 2, 3, 4, 5, -signal.SIGKILL)
PROBLEM_FILE = """
budget = 60
reward = "Y"
[graph]
edges = "Z -> X -> Y; Z -> Y; X <-> W; W -> Y"
[costs]
default = 1.7
"""
OUTCOME = ("Z=1", "X=1", "W=1", "Y=1")  # pull 5 sets X to 1


class Case(NamedTuple):
    """A command, and how often its effect is in the study or file. Doing it again has no other effect."""

    name: str
    arguments: Sequence[str]
    effects: Callable[[Path], int]


def _events(kind: str) -> Callable[[Path], int]:
    """How many events of this kind there are beyond those of the sound study."""

    def number(folder: Path) -> int:
        with Study.open(folder / "s.db") as study:
            return sum(event.kind == kind for event in study.log()) - BEFORE[kind]

    return number


def _rows(folder: Path) -> int:
    return int((folder / "out.csv").exists() and len((folder / "out.csv").read_text().splitlines()) == 1 + 4)


def _made(folder: Path) -> int:
    with contextlib.suppress(DobanditError), Study.open(folder / "new.db") as study:
        return study.last_event
    return 0


def _unchanged(folder: Path) -> int:
    """Whether the study is what it was; reading it has no other effect."""
    with Study.open(folder / "s.db") as study:
        return int(Counter(event.kind for event in study.log()) == BEFORE)


def _drawn(folder: Path) -> int:
    picture = folder / "out.svg"
    return int(picture.exists() and picture.read_text().rstrip().endswith("</svg>"))


BEFORE = Counter(created=1, asked=5, told=4)
CASES = (
    Case("init", ("study", "init", "{0}/new.db", "{0}/p.toml"), _made),
    Case("ask", ("study", "ask", "{0}/s.db", "--worker", "new"), _events("asked")),
    Case("tell", ("study", "tell", "{0}/s.db", "5", *OUTCOME), _events("told")),
    Case("observe", ("study", "observe", "{0}/s.db", "{0}/log.csv"), _events("observed")),
    Case("record", ("study", "record", "{0}/s.db", "do()", *OUTCOME, "--name", "own"), _events("recorded")),
    Case("amend", ("study", "amend", "{0}/s.db", "2", "Y=1", "Z=0", "W=0"), _events("amended")),
    Case("withdraw", ("study", "withdraw", "{0}/s.db", "1", "--refund"), _events("withdrawn")),
    Case("extend", ("study", "extend", "{0}/s.db", "5", "--name", "grant"), _events("extended")),
    Case("stop", ("study", "stop", "{0}/s.db", "--probability", "0.9"), _events("stopping")),
    Case("tell --file", ("study", "tell", "{0}/s.db", "--file", "{0}/told.csv"), _events("told")),
    *(Case(name, ("study", name, "{0}/s.db"), _unchanged) for name in ("status", "pulls", "best", "log", "verify")),
    Case("explain", ("study", "explain", "{0}/s.db", "3"), _unchanged),
    Case("plot", ("study", "plot", "{0}/s.db", "--out", "{0}/out.svg"), _drawn),
    Case("export", ("study", "export", "{0}/s.db", "{0}/out.csv"), _rows),
)


def prepared(folder: Path) -> None:
    """What the commands need: a problem, a log, and a study with four outcomes and an open pull."""
    (folder / "p.toml").write_text(PROBLEM_FILE)
    (folder / "told.csv").write_text("id,Z,X,W,Y\n5,1,1,1,1\n")
    (folder / "log.csv").write_text("Z,X,W,Y\n1,0,1,0\n0,0,1,1\n")
    with Study.create(folder / "s.db", SMALL, "f-kube") as study:
        drive(study, laboratory(), most=4)
        study.ask()


def ran(case: Case, folder: Path, *traced: str) -> int | None:
    """The exit code of a command in a process of its own under strace; None: it has hung."""
    arguments = [text.format(folder) for text in case.arguments]
    waiting, go = os.pipe()
    child = os.fork()
    if not child:
        os.close(go)
        os.read(waiting, 1)
        _command(arguments)
    os.close(waiting)
    tracer = subprocess.Popen(["strace", "-f", "-p", str(child), *traced], stderr=subprocess.PIPE, text=True)
    assert tracer.stderr is not None
    tracer.stderr.readline()  # it is attached
    os.close(go)
    end = time.monotonic() + PATIENCE
    while (found := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.002)
    if found[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    tracer.communicate()
    return os.waitstatus_to_exitcode(found[1]) if found[0] else None


def _command(arguments: list[str]) -> None:
    """The whole life of a process that was forked."""
    code = 1
    try:
        code = exit_code(arguments)
    finally:
        os._exit(code)


def exit_code(arguments: list[str]) -> int:
    """The exit code of a command that is run in this process."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main(arguments)
    except SystemExit as exit:
        return exit.code if isinstance(exit.code, int) else 1
    return 1


def calls_of(case: Case, folder: Path) -> list[tuple[str, int]]:
    """The calls that a command makes, each with its number among those of its name. Files of the kernel are left out:
    no disk can fail there, and DuckDB ends the process if it cannot read how many processors it may use."""
    ran(case, folder, "-o", str(folder / "trace"), "-e", f"trace={','.join(CALLS)}")
    made, found = Counter[str](), list[tuple[str, int]]()
    for call, rest in re.findall(r"^\d+ +(\w+)\((.*)$", (folder / "trace").read_text(), re.MULTILINE):
        made[call] += 1
        if not re.search(r'"/(proc|sys)/', rest):
            found.append((call, made[call]))
    return found


def tried(case: Case, folder: Path, fault: str, call: str, number: int) -> Line:
    """One fault, and what is in the study after it and after the command was done again."""
    code = ran(case, folder, "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={number}")
    failed, lost = code is not None and code not in KNOWN, False
    try:
        there = case.effects(folder)
        lost = (code == 0 and not there) or not verify(folder / "s.db").ok
        again = _again(case, folder)
        after = case.effects(folder)
        lost, doubled = lost or not after or again not in (0, 2, 4), after > 1
    except DobanditError:
        lost, doubled = True, False
    return Line(f"{case.name} {fault} {call} {number}", 1, lost, doubled, code is None, failed=failed)


def _again(case: Case, folder: Path) -> int:
    """The exit code of the same command without a fault."""
    child = os.fork()
    if not child:
        _command([text.format(folder) for text in case.arguments])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(extent: Extent) -> list[Line]:
    if shutil.which("strace") is None:
        return [Line("faults at system calls", 0, measured="strace is not installed", goal="0 lost")]
    rng, found = random.Random(extent.seed), list[Line]()
    with quick_folder() as sound:
        prepared(sound)
        faults = []
        for case in CASES:
            with copy_of(sound) as folder:
                exit_code([text.format(folder) for text in case.arguments])  # imports what the command needs
            with copy_of(sound) as folder:
                calls = calls_of(case, folder)
                assert case.effects(folder) == 1, case.name
            faults += [(case, fault, call, k) for call, k in calls for fault in FAULTS]
        rng.shuffle(faults)
        number = max(len(CASES), round(extent.share * len(faults)))
        for case, fault, call, k in faults[:number]:
            if extent.is_over:
                break
            with copy_of(sound) as folder:
                found.append(tried(case, folder, fault, call, k))
    wrong = [line.what for line in found if not line.ok]
    measured = "; ".join(wrong[:3]) or f"of {len(faults):,}, {len(CASES)} commands"
    return [total("faults at system calls", found, measured, "0 lost", number - len(found))]


@contextlib.contextmanager
def copy_of(sound: Path) -> Iterator[Path]:
    with quick_folder() as folder:
        shutil.copytree(sound, folder, dirs_exist_ok=True)
        yield folder
