"""Studies: ask and tell on SQLite with synchronous=FULL beside Optuna's RDB storage and beside SQLite alone; the time
to ask after 10,000 pulls; a million logged rows; the commands of a study.

    python benchmarks/studies.py
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dobandit as db
from _script import can_compare, options, record, timed
from dobandit.problem import Value
from dobandit.study import chain
from dobandit.study.decisions import decide
from dobandit.study.events import Row
from dobandit.study.remembering import remember
from dobandit.study.stores import LAST
from dobandit.study.stores.schema import make_tables
from scale import Measured, run

SMALL = db.Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=10**9, default_cost=2)
EIGHT = db.Problem(
    "Z1 -> {X1, Y}; Z2 -> {X2, Y}; X1 -> M -> Y; X1 <-> Y; X2 -> X3 -> Y; W -> X3; X2 <-> W",
    "Y",
    budget=10**9,
    default_cost=2,
)
EIGHT_SIMPLE = db.Problem(EIGHT.graph, "Y", budget=10**9, objective="simple", default_cost=2)


class Extent(NamedTuple):
    """How much is run."""

    seconds: float = 3.0  # of asking and telling
    batch: int = 50
    pairs: int = 5
    history: int = 10_000  # pulls before an ask is timed
    together: int = 500  # of these in a batch
    asks: int = 100
    rows: int = 1_000_000


LIMIT = 60  # CPU seconds of a command
SMOKE = Extent(seconds=0.02, batch=5, pairs=1, history=10, together=5, asks=2, rows=100)


def per_second(step: Callable[[], object], seconds: float) -> float:
    """How often a step is made in a second."""
    start = time.perf_counter()
    for number in itertools.count(1):
        step()
        if (spent := time.perf_counter() - start) > seconds:
            return number / spent
    raise AssertionError


def outcome(problem: db.Problem, set_to: dict[str, str], rng: np.random.Generator) -> dict[str, Value]:
    return {**{v: int(rng.random() < 0.5) for v in problem.graph.variables}, **set_to}


def ours(path: Path, seconds: float, n: int = 1) -> float:
    rng = np.random.default_rng(0)
    drawn = itertools.cycle([outcome(SMALL, {}, rng) for _ in range(1000)])  # before: to draw is not to tell
    with db.Study.create(path, SMALL, "f-kube") as study:

        def step() -> None:
            pulls = study.ask(n)
            study.tell_many([(pull.id, {**next(drawn), **pull.set}) for pull in pulls])

        return n * per_second(step, seconds)


def of_optuna(path: Path, seconds: float) -> float:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(storage=f"sqlite:///{path}", sampler=optuna.samplers.RandomSampler(seed=0))

    def step() -> None:
        trial = study.ask({"arm": optuna.distributions.CategoricalDistribution(list(map(str, SMALL.arms)))})
        study.tell(trial, 1.0)

    return per_second(step, seconds)


def of_sqlite(path: Path, seconds: float) -> float:
    """Two transactions that write a row each and nothing else: what the disk allows."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")
        base.execute("CREATE TABLE t (x)")

        def step() -> None:
            for _ in range(2):
                base.execute("BEGIN IMMEDIATE")
                base.execute("INSERT INTO t VALUES (1)")
                base.execute("COMMIT")

        return per_second(step, seconds)


def of_same_rows(path: Path, rows: list[Row]) -> float:
    """CPU seconds of SQLite alone for an ask and tell: a transaction for each row, with the question for what others
    have written; the hashes are there already. Snapshots, of which there is one in 64 events, are left out."""
    new = "SELECT number, time, kind, pull, content, hash FROM event WHERE number > ? AND number <= ? ORDER BY number"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
        make_tables(base)
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")
        start = time.process_time()
        for row in rows:
            base.execute("BEGIN IMMEDIATE")
            base.execute(new, (row[0] - 2, LAST)).fetchall()
            base.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", row)
            base.execute("COMMIT")
        return 2 * (time.process_time() - start) / len(rows)


def of_texts(rows: list[Row]) -> float:
    """CPU seconds of the JSON and the hashes of an ask and tell."""
    as_text = json.JSONEncoder(separators=(",", ":")).encode
    contents = [json.loads(row.content) for row in rows]
    start = time.process_time()
    for row, content in zip(rows, contents, strict=True):
        as_text(content)
        chain.link("", row.hash or "", row)
    return 2 * (time.process_time() - start) / len(rows)


def of_decision(path: Path, times: int) -> float:
    """CPU seconds of a decision, with all outcomes counted."""
    with db.Study.open(path) as study, study._session.reading() as (access, books):
        remember(books, access)
        start = time.process_time()
        for _ in range(times):
            decide(books)
        return (time.process_time() - start) / times


def where_time_goes(folder: Path, extent: Extent) -> str:
    """Of the processor time of an ask and tell one by one, what is left if nothing but the rows, their texts and hashes
    and the decision took any; and its ratio to two bare transactions, which ours cannot get below."""
    told, bare = folder / "told.db", folder / "bare.db"
    start = time.process_time()
    pairs = extent.seconds * ours(told, extent.seconds)
    whole = (time.process_time() - start) / pairs
    start = time.process_time()
    pairs = extent.seconds * of_sqlite(bare, extent.seconds)
    alone = (time.process_time() - start) / pairs
    with contextlib.closing(sqlite3.connect(told)) as base:
        rows = [Row(*row) for row in base.execute("SELECT * FROM event ORDER BY number")]
    parts = {
        "SQLite": of_same_rows(folder / "rows.db", rows),
        "JSON and hashes": of_texts(rows),
        "the decision": of_decision(told, extent.history),
    }
    shown = ", ".join(f"{what} {1e6 * seconds:.0f}" for what, seconds in parts.items())
    return (
        f"CPU microseconds of an ask and tell one by one: {1e6 * whole:.0f}, of which {shown}, "
        f"which alone take {sum(parts.values()) / alone:.1f} times as long as two bare transactions ({1e6 * alone:.0f})"
    )


def time_to_ask(path: Path, problem: db.Problem, extent: Extent) -> str:
    """Milliseconds of an ask, of an ask and tell, and of opening, after many pulls under the recommended policy."""
    rng = np.random.default_rng(0)
    with db.Study.create(path, problem) as study:
        name = study.policy
        for _ in range(extent.history // extent.together):
            study.tell_many([(pull.id, outcome(problem, pull.set, rng)) for pull in study.ask(extent.together)])
        asks, both = [], []
        for _ in range(extent.asks):
            start = time.perf_counter()
            (pull,) = study.ask()
            asks.append(time.perf_counter() - start)
            study.tell(pull.id, outcome(problem, pull.set, rng))
            both.append(time.perf_counter() - start)
    opening, _ = timed(lambda: db.Study.open(path).close())
    times = {"ask": statistics.median(asks), "ask and tell": statistics.median(both), "opening": opening}
    shown = ", ".join(f"{what} {1000 * seconds:.1f} ms" for what, seconds in times.items())
    return f"{name}, {len(problem.graph.variables)} variables, after {extent.history:,} pulls: {shown}"


def time_to_observe(path: Path, number: int) -> float:
    rng = np.random.default_rng(0)
    rows = {v: rng.integers(0, 2, number) for v in EIGHT.graph.variables}
    with db.Study.create(path, EIGHT, "f-kube") as study:
        return timed(lambda: study.observe(rows, name="log"))[0]


def processor_time(path: Path, extent: Extent) -> float:
    """The seconds of the processor for some pulls in batches."""
    rng, start = np.random.default_rng(0), time.process_time()
    with db.Study.create(path, SMALL, "f-kube") as study:
        for _ in range(extent.asks):
            study.tell_many([(pull.id, outcome(SMALL, pull.set, rng)) for pull in study.ask(extent.batch)])
    return time.process_time() - start


def cost_of_hashes(folder: Path, extent: Extent) -> float:
    """How much more of the processor an ask and tell takes because every event has a hash: the median of some pairs."""
    ratios = []
    for i in range(extent.pairs):
        plain, hashed = folder / f"plain-{i}.db", folder / f"hashed-{i}.db"
        without = _without_hashes(partial(processor_time, plain, extent))
        ratios.append(processor_time(hashed, extent) / without)
    return statistics.median(ratios)


def _without_hashes(work: Callable[[], float]) -> float:
    """What the work measures if hashes take no time."""
    link = chain.link
    chain.link = lambda study, previous, row: "0" * 64
    try:
        return work()
    finally:
        chain.link = link


def of_commands(folder: Path, extent: Extent) -> None:
    """The processor time of the commands of a study, each a process of its own: the best of some runs, and the same of
    loading the libraries that all of them need."""
    dobandit, problem, study = [sys.executable, "-m", "dobandit"], folder / "shop.toml", folder / "shop.db"
    run([*dobandit, "init", "--quiet", "--example", "shop", problem], LIMIT)
    run([*dobandit, "study", "init", "--quiet", study, problem], LIMIT)
    one_thread = "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'"  # as the commands load them
    libraries = [sys.executable, "-c", f"{one_thread}; import numpy, sqlite3, click, rich.console, rich.table"]
    spent: dict[str, list[float]] = {"ask": [], "tell": [], "status": []}
    alone = min(seconds_of(run(libraries, LIMIT)) for _ in range(extent.pairs))
    for number in range(1, 1 + extent.pairs):
        spent["ask"].append(seconds_of(run([*dobandit, "study", "ask", study], LIMIT)))
        with db.Study.open(study) as opened:
            values = {**dict.fromkeys(opened.problem.graph.variables, "0"), **opened.ask()[0].set}
        told = [f"{name}={value}" for name, value in values.items()]
        spent["tell"].append(seconds_of(run([*dobandit, "study", "tell", study, number, *told], LIMIT)))
        spent["status"].append(seconds_of(run([*dobandit, "study", "status", study], LIMIT)))
    print(
        "commands on the shop, CPU seconds: " + ", ".join(f"{name} {min(s):.3f}" for name, s in spent.items()), end=""
    )
    print(f"; libraries alone {alone:.3f}")
    for name, seconds in spent.items():
        record(f"CPU seconds of dobandit study {name}", min(seconds), 0.25)


def seconds_of(measured: Measured | None) -> float:
    assert measured is not None, "it takes too long"
    return measured.seconds


def compare(folder: Path, where: str, extent: Extent, with_optuna: bool) -> None:
    seconds, batch = extent.seconds, extent.batch
    mine, many = ours(folder / "a.db", seconds), ours(folder / "b.db", seconds, batch)
    bare = of_sqlite(folder / "d.db", seconds)
    print(f"ask and tell, {where}, synchronous=FULL, f-kube:")
    print(f"  {mine:,.0f} per second one by one, {many:,.0f} in batches of {batch}; ", end="")
    if with_optuna:
        theirs = of_optuna(folder / "c.db", seconds)
        print(f"Optuna {theirs:,.0f}: ratio {mine / theirs:.0f}; ", end="")
    print(f"two bare SQLite transactions {bare:,.0f}")
    if "memory" in where:
        record(f"bare SQLite transactions to ask and tell, {where}", bare / mine, 4)


def main() -> None:
    warnings.simplefilter("ignore")
    smoke = options(__doc__).smoke
    extent, with_optuna = SMOKE if smoke else Extent(), can_compare("optuna", smoke)
    with tempfile.TemporaryDirectory() as disk:
        compare(Path(disk), "on this disk", extent, with_optuna)
        of_commands(Path(disk), extent)
        print(time_to_ask(Path(disk) / "e.db", EIGHT, extent))
        print(time_to_ask(Path(disk) / "f.db", EIGHT_SIMPLE, extent))
        print(f"observe {extent.rows:,} rows in memory: {time_to_observe(Path(disk) / 'g.db', extent.rows):.1f} s")
    if Path("/dev/shm").is_dir():
        with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
            compare(Path(memory), "on a disk that is memory", extent, with_optuna)
            print(f"  {where_time_goes(Path(memory), extent)}")
            ratio = cost_of_hashes(Path(memory), extent)
            print(f"  with hashes, batches of {extent.batch} take {ratio:.2f} of the processor time without")


if __name__ == "__main__":
    main()
