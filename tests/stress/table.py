"""One line of the table for every kind of attack, and how much of it is run."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Extent(NamedTuple):
    """How much is run: a share of the full numbers, from a seed, until a moment of the clock `time.monotonic`."""

    seed: int = 1
    share: float = 1.0
    end: float = math.inf

    def part(self, left: int) -> Extent:
        """The first of several parts that are left: it may take its share of the time."""
        now = time.monotonic()
        return self._replace(end=now + (self.end - now) / left)

    def number(self, full: int) -> int:
        return max(1, round(full * self.share))

    def until_the_end(self, full: int) -> Iterator[int]:
        """As many numbers as are wanted, fewer if the time is over."""
        for i in range(self.number(full)):
            if time.monotonic() > self.end:
                return
            yield i


class Line(NamedTuple):
    """What was tried, and what came of it; `failed` is an exit code or an error that must not be."""

    what: str
    tried: int
    lost: int = 0
    doubled: int = 0
    hung: int = 0
    over: int = 0  # the memory limit
    failed: int = 0
    measured: str = ""
    goal: str = ""
    met: bool = True  # what was measured meets the goal

    @property
    def ok(self) -> bool:
        return (
            self.met and bool(self.tried) and not (self.lost or self.doubled or self.hung or self.over or self.failed)
        )


def total(what: str, lines: Sequence[Line], measured: str, goal: str) -> Line:
    """Many lines in one."""
    counts = {name: sum(getattr(line, name) for line in lines) for name in Line._fields[1:7]}
    return Line(what, **counts, measured=measured, goal=goal)


HEAD = ("", "tried", "lost", "doubled", "hung", "memory", "failed", "measured", "goal", "")


def shown(lines: Iterable[Line]) -> str:
    """The lines as a table in Markdown."""
    rows = [
        HEAD,
        *((line.what, *(f"{n:,}" for n in line[1:7]), *line[7:9], "ok" if line.ok else "NOT MET") for line in lines),
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    written = [" | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
    rule = " | ".join("-" * max(width, 3) for width in widths)
    return "\n".join(f"| {text} |" for text in (written[0], rule, *written[1:]))
