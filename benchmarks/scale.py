"""How processor time and memory grow with the number of variables, beside their targets.

All graphs are trees in which every variable acts on the reward: plain, with a hidden cause for every five variables
(`hidden`), or with as many hidden causes of any two variables (`far`), which make the graph as wide as it is long.
Every figure is that of a process of its own, with its start; compile, means and decide are timed inside.

usage: python benchmarks/scale.py [--only check] [--limit 120]
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from _graphs import confounded_tree
from _script import options, record, settled
from dobandit.graph import Graph

GROWTH = (100, 200, 400)  # variables between which exponents are measured
EXPONENTS = {"compile causal-explore": 1.6, "decide causal-explore": 1.6}  # the largest that are aimed at; others: 1.3


class Line(NamedTuple):
    """A figure that is measured, and what it should be."""

    job: str
    kind: str  # plain, hidden or far
    size: int
    seconds: float | None = None  # the target
    megabytes: float | None = None


class Measured(NamedTuple):
    seconds: float
    megabytes: float


LINES = (
    *(Line("check", "plain", n, {200: 0.6, 1000: 3.0}.get(n)) for n in (100, 200, 400, 500, 1000)),
    *(Line("check", "hidden", n) for n in (100, 200, 500, 1000)),
    *(Line("check --data", "hidden", n, {1000: 30.0}.get(n)) for n in (100, 1000)),
    *(Line("init + ask", "plain", n, {200: 1.5, 1000: 8.0}.get(n)) for n in (100, 200, 400, 500, 1000)),
    *(
        Line("init + ask", kind, n, *{100: (2.0, 300), 500: (10.0, 1000)}.get(n, ()))
        for kind in ("hidden", "far")
        for n in (100, 200, 500)
    ),
    *(Line("means", "plain", n) for n in (*GROWTH, 1000)),
    *(Line("means", "hidden", n, {200: 3.0}.get(n)) for n in (*GROWTH, 1000)),
    *(
        Line(f"{what} {policy}", "plain", n)
        for what in ("compile", "decide")
        for policy in ("causal-thompson", "causal-explore")
        for n in GROWTH
    ),
)
SMOKE = (
    *(Line(job, "hidden", 5) for job in ("check", "check --data")),
    Line("init + ask", "plain", 5, 1.5),
    Line("means", "far", 5),
    *(Line(f"{what} causal-explore", "plain", n) for what in ("compile", "decide") for n in (4, 8)),
)
DECISIONS = {"causal-thompson": 200, "causal-explore": 40}  # that are timed together: some clocks are coarse
RUNS = 3  # of these, of which the fastest counts
ROWS = 2000  # of a log
ENOUGH = 0.3  # seconds of exact means that are timed together


def measured(line: Line, limit: int) -> Measured | None:
    """The processor time and the peak memory of a job; None if it takes longer than the limit."""
    if line.job not in ("check", "check --data", "init + ask"):
        return run([sys.executable, __file__, "--inside", json.dumps(line)], limit)
    with tempfile.TemporaryDirectory() as folder:
        problem, study = Path(folder, "problem.toml"), Path(folder, "study.db")
        problem.write_text(f'budget = 100000\nreward = "Y"\n[graph]\nedges = """\n{_graph(line).to_text()}\n"""\n')
        dobandit = [sys.executable, "-m", "dobandit"]
        if line.job == "check":
            return run([*dobandit, "check", problem], limit)
        if line.job == "check --data":
            log = Path(folder, "log.csv")
            _write_rows(log, _graph(line).variables)
            return run([*dobandit, "check", problem, "--data", log], limit)
        first = run([*dobandit, "study", "init", study, problem], limit)
        second = first and run([*dobandit, "study", "ask", study], limit)
        if first is None or second is None:
            return None
        return Measured(first.seconds + second.seconds, max(first.megabytes, second.megabytes))


def run(command: Sequence[object], limit: int) -> Measured | None:
    """A command. If it prints JSON with the seconds of a part of it, these count."""
    started = subprocess.Popen(
        [*map(str, command)],
        env=settled(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )
    out, error = started.stdout, started.stderr
    assert out is not None
    assert error is not None
    printed, complaint = out.read(), error.read()
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode < 0:
        return None
    if started.returncode:
        raise SystemExit(complaint)
    inside = json.loads(printed)["seconds"] if "--inside" in command else None
    return Measured(used.ru_utime + used.ru_stime if inside is None else inside, used.ru_maxrss / 1024)


def inside(line: Line) -> float:
    """The processor time of a job that is a part of a process."""
    from dobandit import worlds
    from dobandit.policies import policy
    from dobandit.problem import Problem
    from pooled import decision

    graph = _graph(line)
    if line.job == "means":
        problem, spent = Problem(graph, "Y", budget=1000), list[float]()
        while sum(spent) < ENOUGH:
            world = worlds.random(graph, seed=1)
            spent.append(_seconds(partial(world.means, problem)))
        return sum(spent) / len(spent)
    what, name = line.job.split()
    problem = Problem(graph, "Y", budget=10**6, objective=policy(name).objective, default_cost=2)
    if what == "compile":
        return _seconds(lambda: policy(name).compile(problem))
    made = policy(name).compile(problem)
    return min(decision(made, DECISIONS[name], before=200) for _ in range(RUNS)) / 1000


def _graph(line: Line) -> Graph:
    return confounded_tree(line.size, 0 if line.kind == "plain" else line.size // 5, line.kind != "far")


def _write_rows(path: Path, names: Sequence[str]) -> None:
    """A log in which the variables have nothing to do with each other."""
    rows = np.random.default_rng(1).integers(0, 2, (ROWS, len(names))).astype(str)
    path.write_text("\n".join(map(",".join, [list(names), *rows.tolist()])) + "\n", encoding="utf-8")


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def exponents(found: dict[Line, Measured | None], sizes: Sequence[int]) -> None:
    """How fast the jobs that are timed inside grow."""
    for job, kind in dict.fromkeys((line.job, line.kind) for line in found):
        times = [(n, at.seconds) for n in sizes if (at := found.get(_found(found, job, kind, n))) is not None]
        if len(times) == len(sizes) and " + " not in job and not job.startswith("check"):
            (first, start), *_, (last, end) = [(n, max(t, 1e-6)) for n, t in times]  # a clock may be coarse
            grows, aim = math.log(end / start) / math.log(last / first), EXPONENTS.get(job, 1.3)
            what = f"{job}, {kind}: exponent {first} to {last}"
            _show(what, f"{grows:.2f}", f"{aim}", grows / aim)
            record(what, grows, aim)


def _found(found: dict[Line, Measured | None], job: str, kind: str, size: int) -> Line:
    return next((line for line in found if line[:3] == (job, kind, size)), Line(job, kind, size))


def _show(what: str, value: str, target: str = "", ratio: float | None = None) -> None:
    print(f"{what:52} {value:>12} {target:>10} {'' if ratio is None else f'{ratio:.2f}':>8}", flush=True)


def main() -> None:
    asked = options(__doc__, only="", limit=120, inside="")
    if asked.inside:
        print(json.dumps({"seconds": inside(Line(*json.loads(asked.inside)))}))
        return
    lines = SMOKE if asked.smoke else LINES
    print(f"{'':52} {'measured':>12} {'target':>10} {'ratio':>8}")
    found: dict[Line, Measured | None] = {}
    for line in lines:
        if asked.only in line.job:
            at = found[line] = measured(line, asked.limit)
            what = f"{line.job}, {line.kind}, {line.size:,} variables"
            if at is None:
                _show(what, f"> {asked.limit} s", f"{line.seconds or ''}")
                continue
            _show(what, f"{at.seconds:.3g} s", f"{line.seconds or ''}", line.seconds and at.seconds / line.seconds)
            if line.seconds:
                record(f"CPU seconds of {what}", at.seconds, line.seconds)
            if line.megabytes:
                record(f"megabytes of {what}", at.megabytes, line.megabytes)
            _show("", f"{at.megabytes:.0f} MB", f"{line.megabytes or ''}",
                  line.megabytes and at.megabytes / line.megabytes)  # fmt: skip
    exponents(found, (4, 8) if asked.smoke else GROWTH)


if __name__ == "__main__":
    main()
