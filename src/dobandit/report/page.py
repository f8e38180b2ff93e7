"""What a report says, before it is decided how it looks: sections of text, tables and pictures.

In texts, `names` stand between backticks, and nothing else is markup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGAINST = {  # what regret is measured against
    "knapsack": "the best way to spend the budget (knapsack)",
    "fractional": "the budget times the best mean per cost",
    "best arm": "the best arm",
}


class Table(NamedTuple):
    """Rows of texts. The first columns hold words, the others numbers, which stand to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


class Picture(NamedTuple):
    """A drawing, by a name for its file, and what it shows."""

    name: str
    svg: bytes
    shows: str
    png: bytes = b""  # the same, for a file beside the page

    @classmethod
    def of(cls, figure: Figure, name: str, shows: str) -> Picture:
        from dobandit.plots import to_bytes

        return cls(name, to_bytes(figure, "svg"), shows, to_bytes(figure, "png"))


class Points(NamedTuple):
    """A list of short texts."""

    texts: Sequence[str]


Part = str | Table | Picture | Points


class Section(NamedTuple):
    title: str
    parts: Sequence[Part]


class Page(NamedTuple):
    """A report: what it is about, under which settings, and its sections."""

    title: str
    lead: str
    facts: Mapping[str, str]
    sections: Sequence[Section]

    @property
    def pictures(self) -> list[Picture]:
        return [part for section in self.sections for part in section.parts if isinstance(part, Picture)]


def mean_text(mean: float, se: float, digits: int) -> str:
    """`14.6 ± 0.8`; a single trial has no standard error."""
    return f"{mean:.{digits}f}" + ("" if math.isnan(se) else f" ± {se:.{digits}f}")


def versions() -> dict[str, str]:
    """What made the numbers."""
    import platform

    import numpy

    from dobandit import __version__

    return {"dobandit": __version__, "NumPy": numpy.__version__, "Python": platform.python_version()}
