"""What the scripts of this folder share: their options, a clock, their figures, and packages that may be missing."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Literal, NamedTuple, TypeVar

T = TypeVar("T")
FIGURES = "DOBANDIT_FIGURES"  # names the file that figures are written to, one to a line


class Figure(NamedTuple):
    """What was measured, and what is aimed at."""

    what: str
    value: float
    goal: float
    better: Literal["lower", "higher"] = "lower"

    @property
    def is_met(self) -> bool:
        return self.value <= self.goal if self.better == "lower" else self.value >= self.goal


def record(what: str, value: float, goal: float, better: Literal["lower", "higher"] = "lower") -> None:
    """Keep a figure for the table of `all.py`; nothing where that does not run."""
    if path := os.environ.get(FIGURES):
        with Path(path).open("a", encoding="utf-8") as file:
            print(json.dumps(Figure(what, value, goal, better)._asdict()), file=file)


def options(doc: str | None, **defaults: int | str) -> argparse.Namespace:
    """The options of a script: `--smoke`, and one for each default, of its type."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="run everything once in tiny sizes, as the tests do")
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"default: {default}")
    asked = parser.parse_args()
    if asked.smoke:
        print("smoke run: tiny sizes, so the numbers below mean nothing")
    return asked


def timed(work: Callable[[], T], times: int = 1) -> tuple[float, T]:
    """The seconds of the fastest of some runs, since other work on a machine only makes them slower; and the result."""
    seconds = []
    for _ in range(times):
        start = perf_counter()
        result = work()
        seconds.append(perf_counter() - start)
    return min(seconds), result


def used(*command: str) -> tuple[float, float]:
    """The CPU time in seconds and the peak memory in MB of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=settled())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def settled() -> dict[str, str]:
    """The environment of commands that are measured: modules are compiled once, as they are where it is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def can_compare(package: str, smoke: bool) -> bool:
    """Whether a package of the extra [bench] is there. A smoke run without it goes on and says what it leaves out."""
    if find_spec(package) is not None:
        return True
    if not smoke:
        raise SystemExit(f"{package} is not installed: run `make bench`, or pip install -e '.[bench]'")
    print(f"LEFT OUT: the comparison with {package}, which is not installed (extra [bench])")
    return False
