"""Which functions each test calls: a plugin of pytest, for the run without a mutant."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

FOLDER = "MUTANTS_CALLS"  # in the environment: where the records go
_called: set[CodeType] = set()
_began: list[float] = []


class Called(NamedTuple):
    """A test, the functions that it calls ("file:line"), and the seconds that it takes of the processor: the same on a
    busy machine."""

    test: str
    functions: frozenset[str]
    seconds: float


def read(folder: Path) -> list[Called]:
    """What was recorded of every test, by one process or several."""
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines()]
    return [Called(test, frozenset(functions), seconds) for test, functions, seconds in map(json.loads, lines)]


def pytest_runtest_logstart() -> None:
    _called.clear()
    _began[:] = [_spent()]
    threading.settrace(_note)
    sys.settrace(_note)


def pytest_runtest_logfinish(nodeid: str) -> None:
    sys.settrace(None)
    source = Path.cwd() / "src"
    files = {code: Path(code.co_filename) for code in _called.copy()}  # threads of the test may still be alive
    found = [f"{f.relative_to(source).as_posix()}:{c.co_firstlineno}" for c, f in files.items() if source in f.parents]
    if found:
        with Path(os.environ[FOLDER], f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps([nodeid, found, _spent() - _began[0]]) + "\n")


def _spent() -> float:
    """Of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def _note(frame: FrameType, event: str, argument: object) -> None:
    _called.add(frame.f_code)
