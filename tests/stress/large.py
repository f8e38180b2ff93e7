"""A study of 200,000 events: a correction while others ask, and what reading it costs."""

from __future__ import annotations

import math
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from operator import methodcaller
from pathlib import Path

import numpy as np

from dobandit.problem import Problem
from dobandit.study import Event, Study, facts, verify
from dobandit.study.plain import array_to_plain
from dobandit.study.stores import open_store
from tests.stress.places import quick_folder
from tests.stress.table import Extent, Line

EVENTS, TOGETHER = 200_000, 5000
SHORTEST = 1.0  # seconds: in fewer, a rate is chance
PROBLEM = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=10**9, default_cost=2)


def history(number: int, seed: int) -> Iterator[Event]:
    """Events as a study has them that asks and tells: pulls of all arms, told one after the other."""
    rng, names = np.random.default_rng(seed), PROBLEM.graph.variables
    for pull in range(1, number // 2 + 1):
        arm, index = pull % len(PROBLEM.arms), array_to_plain(rng.random(len(PROBLEM.arms)))
        why = {"reason": "index", "index": index}
        values = dict(zip(names, map(str, rng.integers(0, 2, len(names)).tolist()), strict=True))
        outcome = values | dict(PROBLEM.arms[arm].settings)
        begun = 1_700_000_000.0 + pull
        yield Event(2 * pull, begun, facts.Asked(pull, arm, 1, "policy", "lab", None, why, {}))
        yield Event(2 * pull + 1, begun + 0.5, facts.Told(pull, outcome))


def made(place: Path | str, number: int, seed: int, policy: str = "f-kube") -> None:
    events = history(number, seed)
    with Study.create(place, PROBLEM, policy, clock=lambda: 1_700_000_000.0) as study:
        head, store = study.head, open_store(str(place))
        while chunk := list(islice(events, TOGETHER)):
            with store.writing() as access:
                head = access.append(chunk, head)
            with study._session.writing() as transaction:
                transaction.keep()  # a snapshot, as it is made on the way
        store.close()


class Asker:
    """A process that asks and tells until it is stopped, and writes down when each of them was done."""

    def __init__(self, place: Path, times: Path) -> None:
        self._times, self._child = times, os.fork()
        if not self._child:
            try:
                self._work(place)
            finally:
                os._exit(1)

    def _work(self, place: Path) -> None:
        with Study.open(place) as study, self._times.open("w", buffering=1) as out:
            while True:
                (pull,) = study.ask(worker="asker")
                study.tell(pull.id, {**dict.fromkeys(PROBLEM.graph.variables, "1"), **pull.set})
                out.write(f"{time.time()}\n")

    def done(self, start: float, end: float) -> int:
        """How often it was done between two moments."""
        lines = self._times.read_text().splitlines()[:-1] if self._times.exists() else []
        return sum(start < float(line) < end for line in lines)

    def stop(self) -> None:
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


def amended(place: Path, seconds: float) -> tuple[float, float]:
    """The seconds of an amendment of an early outcome while another process asks, and the share of its rate that this
    one keeps meanwhile, or in the second in which it happens."""
    asker = Asker(place, place.with_name("times"))
    try:
        while not asker.done(0, math.inf):
            time.sleep(0.05)
        start = time.time()
        time.sleep(seconds)
        before = asker.done(start, time.time()) / seconds
        start = time.time()
        with Study.open(place) as study:
            told = study.log(pull=50)[-1].content["outcome"]
            study.amend(50, {"Y": 1 - int(told["Y"])})
        took = time.time() - start
        window = max(took, SHORTEST)
        time.sleep(window - took)
        during = asker.done(start, start + window) / window
    finally:
        asker.stop()
    return took, during / before


def cost(place: Path, work: Callable[[Study], object]) -> tuple[float, float]:
    """The seconds of the processor and the megabytes that a new process takes for it, with opening: one that is forked
    would also have the memory of this one."""
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        return processes.submit(_spent, place, work).result()


def _spent(place: Path, work: Callable[[Study], object]) -> tuple[float, float]:
    start = time.process_time()
    with Study.open(place) as study:
        work(study)
    return time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(extent: Extent) -> Iterator[Line]:
    number = extent.number(EVENTS)
    with quick_folder() as folder:
        place = folder / "s.db"
        made(place, number, extent.seed)
        readings: dict[str, Callable[[Study], object]] = {
            "explain": methodcaller("explain", number // 4),
            "log": methodcaller("log", most=20),
            "export": methodcaller("export", folder / "out.csv"),
        }
        for what, work in readings.items():
            used, memory = cost(place, work)
            measured, met = f"{used:.1f} s, {memory:.0f} MB", used < 1.5 and memory < 150
            yield Line(f"{what}, {number:,} events", 1, measured=measured, goal="1.5 s, 150 MB", met=met)
        seconds, kept = amended(place, max(0.5, 5 * extent.share))
        measured, met = f"{seconds:.1f} s, the others keep {100 * kept:.0f}% of their rate", seconds < 5 and kept >= 0.5
        lost = not verify(place).ok
        yield Line(f"amend, {number:,} events", 1, lost, measured=measured, goal="5 s, 50%", met=met)
