"""What the scripts of this folder share: their options, a clock, and packages that may be missing."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")


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


def can_compare(package: str, smoke: bool) -> bool:
    """Whether a package of the extra [bench] is there. A smoke run without it goes on and says what it leaves out."""
    if find_spec(package) is not None:
        return True
    if not smoke:
        raise SystemExit(f"{package} is not installed: run `make bench`, or pip install -e '.[bench]'")
    print(f"LEFT OUT: the comparison with {package}, which is not installed (extra [bench])")
    return False
