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

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.end


class Attempts:
    """As many numbers as are wanted, fewer if the time is over; then `left` is how many are missing."""

    def __init__(self, extent: Extent, number: int) -> None:
        self._extent, self._number, self.left = extent, number, number

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if not self.left or self._extent.is_over:
            raise StopIteration
        self.left -= 1
        return self._number - self.left - 1


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
    left: int = 0  # what was not tried because the time was over

    @property
    def ok(self) -> bool:
        return self.met and bool(self.tried) and not any(self[2:7]) and not self.left

    @property
    def found(self) -> str:
        """What was measured, and whether the time was enough."""
        cut = f"tried {self.tried:,} of {self.tried + self.left:,}: out of time" if self.left else ""
        return "; ".join(filter(None, (cut, self.measured)))

    def __str__(self) -> str:
        return " | ".join(f"{name} {text}".strip() for name, text in zip(HEAD, _row(self), strict=True) if text)


def total(what: str, lines: Sequence[Line], measured: str, goal: str, left: int = 0) -> Line:
    """Many lines in one."""
    counts = {name: sum(getattr(line, name) for line in lines) for name in Line._fields[1:7]}
    return Line(what, **counts, measured=measured, goal=goal, left=left)


HEAD = ("", "tried", "lost", "doubled", "hung", "memory", "failed", "measured", "goal", "")


def _row(line: Line) -> tuple[str, ...]:
    counts = (f"{n:,}" for n in line[1:7])
    return (line.what, *counts, line.found, line.goal, "ok" if line.ok else "NOT MET")


def shown(lines: Iterable[Line]) -> str:
    """The lines as a table in Markdown."""
    rows = [HEAD, *map(_row, lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    written = [" | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
    rule = " | ".join("-" * max(width, 3) for width in widths)
    return "\n".join(f"| {text} |" for text in (written[0], rule, *written[1:]))
