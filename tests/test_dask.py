"""The examples of docs/scaling.md: on processes, and on a real Dask cluster, each part of it a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobandit as db
from dobandit.simulation import Results

PAGE = Path(__file__).parent.parent / "docs" / "scaling.md"
ON_PROCESSES, ON_DASK = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
PATIENCE = 60  # seconds until a cluster that does not come up is given up


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """The address of a cluster on loopback, gone when the test is over."""
    contact = tmp_path / "scheduler.json"
    common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(contact)]
    worker = ["worker", "--no-nanny", "--nthreads", "1", "--local-directory", str(tmp_path), *common]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        processes.append(start(["scheduler", "--port", "0", *common], tmp_path / "scheduler.log"))
        address = address_in(contact, processes[0], tmp_path / "scheduler.log")
        processes += [start([*worker, "--name", name], tmp_path / f"{name}.log") for name in ("one", "two")]
        yield address
    finally:
        for process in processes:  # at once: a worker that is asked to stop first talks to its scheduler
            process.kill()
        for process in processes:
            process.wait()


def start(arguments: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        command = [str(Path(sys.executable).with_name("dask")), *arguments]
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)


def address_in(contact: Path, process: subprocess.Popen[bytes], log: Path) -> str:
    """What the scheduler writes as soon as it listens."""
    give_up = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < give_up:
        try:
            return str(json.loads(contact.read_text(encoding="utf-8"))["address"])
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.05)
    raise AssertionError(f"no scheduler came up:\n{log.read_text(encoding='utf-8')}")


def test_a_cluster_gives_the_same_bits(scheduler: str) -> None:
    from dask.distributed import Client

    with Client(scheduler) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(2, timeout=PATIENCE)
        assert ON_DASK.count("tcp://scheduler:8786") == 1
        names: dict[str, Any] = {}
        exec(ON_DASK.replace("tcp://scheduler:8786", scheduler), names)
        ran = client.run(eval, "__import__('os').getpid(), 'dobandit.simulation.engine' in __import__('sys').modules")
    there: Results = names["results"]
    here = db.simulate(names["problem"], names["world"], there.policies, there.trials, budgets=there.grid)
    for name in here.policies:
        for field in ("regret", "spent", "pulls", "recommended"):
            np.testing.assert_array_equal(getattr(here, field)[name], getattr(there, field)[name])
    pids = {pid for pid, _ in ran.values()}
    assert len(pids | {os.getpid()}) == 3
    assert all(worked for _, worked in ran.values())  # both took a share


def test_the_example_on_processes(tmp_path: Path) -> None:
    """As a file, because the processes import it again."""
    (tmp_path / "example.py").write_text(ON_PROCESSES, encoding="utf-8")
    ran = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    problem = db.Problem("Z -> X -> Y; Z -> Y", "Y", budget=200, default_cost=1.5)
    here = db.simulate(problem, db.worlds.random(problem.graph, seed=1), ["f-kube", "ucb"], trials=256)
    assert ran.stdout == f"{here.summary()}\n"
