"""The examples of docs/scaling.md: on processes, and on a real Dask cluster, each part of it a process of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask.distributed import Client

import dobandit as db
from dobandit.cli import main
from dobandit.errors import SimulationError
from dobandit.simulation import Results, cluster

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


def test_commands_run_on_a_cluster(scheduler: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = str(files("dobandit") / "examples" / "shop.toml")
    commands = [
        ["run", shop, "--trials", "130", "--policy", "uniform", "--policy", "successive-rejects"],
        ["suite", "n5", "--objective", "simple", "--policy", "uniform", "--trials", "2", "--budget", "100"],
        ["reproduce", "fig3-cost", "--trials", "2", "--policy", "uniform", "--out", str(tmp_path / "out")],
    ]
    for typed in commands:
        found = []
        for where in ("--workers=1", f"--cluster={scheduler}"):
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
            with pytest.raises(SystemExit, match="0"):
                main([*typed, "--json", "--quiet", where])
            found.append(json.loads(capsys.readouterr().out))
        here, there = found
        assert untimed(here) == untimed(there)


def untimed(document: dict[str, Any]) -> dict[str, Any]:
    """The document of a command without how long its work took."""
    panels = [untimed(panel) for panel in document.get("panels", [])]
    return {**{key: value for key, value in document.items() if key != "seconds"}, "panels": panels}


def test_the_work_of_a_lost_worker_is_done_by_another(scheduler: str) -> None:
    problem = db.Problem("Z -> X -> Y; Z -> Y", "Y", budget=200, default_cost=1.5)
    world = db.worlds.random(problem.graph, seed=1)
    with Client(scheduler) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(2, timeout=PATIENCE)
        lost = sorted(client.run(os.getpid).values())[0]
    done: list[str] = []

    def kill_one(name: str, _: float) -> None:
        if not done:
            os.kill(lost, signal.SIGKILL)
        done.append(name)

    with cluster(scheduler) as found:
        there = db.simulate(problem, world, ["f-kube", "ucb"], 512, executor=found, batch=64, progress=kill_one)
    here = db.simulate(problem, world, ["f-kube", "ucb"], 512)
    assert len(done) == 16
    for name in here.policies:
        np.testing.assert_array_equal(here.regret[name], there.regret[name])
        np.testing.assert_array_equal(here.pulls[name], there.pulls[name])


@pytest.mark.parametrize(
    ("typed", "code", "sentence"),
    [
        ("--cluster local", 2, "'local' is not an address; write tcp://host:8786, or local:8"),
        ("--cluster tcp://127.0.0.1:9", 5, "no scheduler answers at this address"),
        ("--cluster local:2 --workers 2", 2, "--workers and --cluster exclude each other"),
    ],
)
def test_clusters_that_are_not_there(
    typed: str, code: int, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dobandit.simulation.clusters.PATIENCE", 0.5)
    with pytest.raises(SystemExit, match=str(code)):
        main(["suite", "n5", *typed.split()])
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_workers_with_another_version_are_refused(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their results might be other bits."""
    monkeypatch.setattr("dobandit.simulation.clusters._VERSION", "'0.0.1'")
    with (
        pytest.raises(SimulationError, match=r"its workers must have dobandit .*, as here; theirs is 0\.0\.1"),
        cluster(scheduler),
    ):
        pass


def test_the_example_on_processes(tmp_path: Path) -> None:
    """As a file, because the processes import it again."""
    (tmp_path / "example.py").write_text(ON_PROCESSES, encoding="utf-8")
    ran = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    problem = db.Problem("Z -> X -> Y; Z -> Y", "Y", budget=200, default_cost=1.5)
    here = db.simulate(problem, db.worlds.random(problem.graph, seed=1), ["f-kube", "ucb"], trials=256)
    assert ran.stdout == f"{here.summary()}\n"
