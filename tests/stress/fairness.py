"""Many processes that write to one SQLite file: they share evenly, and none waits long."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from dobandit.problem import Problem
from dobandit.study import Study
from tests.stress.places import quick_folder
from tests.stress.table import Extent, Line

PROCESSES = 32
PROBLEM = Problem("X -> Y; X <-> Y", "Y", budget=10**9, default_cost=2.5)


def work(place: Path, name: str, begin: float, seconds: float) -> tuple[int, float]:
    """Ask and tell for some time; how often, and the longest time of one of them."""
    done, longest = 0, 0.0
    with Study.open(place) as study:
        time.sleep(max(0.0, begin - time.time()))
        while time.time() < begin + seconds:
            start = time.monotonic()
            (pull,) = study.ask(worker=name)
            middle = time.monotonic()
            study.tell(pull.id, {"X": "0", "Y": "1", **pull.set})
            done, longest = done + 1, max(longest, middle - start, time.monotonic() - middle)
    return done, longest


def run(extent: Extent) -> list[Line]:
    seconds, processes = max(2.0, 30 * extent.share), PROCESSES if extent.share >= 0.1 else 8
    with quick_folder() as folder:
        place = folder / "s.db"
        Study.create(place, PROBLEM, "f-kube").close()
        begin = time.time() + 0.1 * processes
        children = [_forked(folder, place, i, begin, seconds) for i in range(processes)]
        failed = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)
        found = [json.loads(file.read_text()) for file in folder.glob("worker-*")]
        with Study.open(place) as study:
            doubled = study.last_event - 1 - 2 * sum(done for done, _ in found) if not failed else 0
    numbers = [done for done, _ in found]
    jain = sum(numbers) ** 2 / (len(numbers) * sum(n * n for n in numbers))
    longest = max(wait for _, wait in found)
    return [
        Line(
            f"{processes} processes on SQLite",
            sum(numbers),
            doubled=doubled,
            failed=failed,
            measured=f"Jain {jain:.3f}, longest wait {longest:.2f} s",
            goal="0.95, 5 s",
            met=jain >= 0.95 and longest < 5,
        )
    ]


def _forked(folder: Path, place: Path, number: int, begin: float, seconds: float) -> int:
    child = os.fork()
    if not child:
        code = 1
        try:
            found = work(place, f"worker {number}", begin, seconds)
            (folder / f"worker-{number}").write_text(json.dumps(found))
            code = 0
        finally:
            os._exit(code)
    return child
