"""The effects of all arms as a table: as records, as a frame, and for people to read.

>>> import dobandit as db
>>> log = {"Z": [0, 0, 0, 1, 1, 1], "X": [0, 0, 1, 0, 1, 1], "Y": [0, 1, 1, 0, 0, 1]}
>>> problem = db.Problem("Z -> X -> Y; Z -> Y", reward="Y", budget=100, intervenable=["X"])
>>> print(db.effects(problem, log))
arm       mean Y        95% interval   rows   method
do(X=1)     0.75    0.2274 to 0.9683      6   adjustment
do()         0.5    0.1876 to 0.8124      6   observed
do(X=0)     0.25   0.03167 to 0.7726      6   adjustment
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dobandit.errors import counted
from dobandit.estimate.observational.agreeing_means import Bounds, assumed
from dobandit.estimate.observational.from_rows import Effect, estimates
from dobandit.estimate.observational.partial import arm_bounds
from dobandit.estimate.observational.question import Question, arm_of
from dobandit.estimate.observational.ruled_out import RuledOut, ruled_out
from dobandit.evidence import NONE_MISSING, Data, MissingRows, Weights, frame, open_source
from dobandit.markup import html_table
from dobandit.numerals import interval, number
from dobandit.printable import printable
from dobandit.problem import Arm, Goal, Problem, Value

if TYPE_CHECKING:
    from rich.console import Group

WIDTH = 100  # columns of the plain text


@dataclass(frozen=True, repr=False)
class Effects:
    """One effect for each question; `naive` and `truth` are shown beside them if they are given."""

    questions: Sequence[Question]
    found: Sequence[Effect]
    reward: str
    goal: Goal
    level: float
    bounds: Sequence[Bounds | None] = ()
    naive: Sequence[float] | None = None
    truth: Sequence[float] | None = None

    @property
    def left_out(self) -> float:
        """The number of rows that do not count, because something was done in them."""
        return self.found[0].left_out if self.found else 0

    @property
    def missing(self) -> MissingRows:
        """The numbers of rows in which values are missing: dropped, and with that as a value."""
        return self.found[0].missing if self.found else NONE_MISSING

    def to_dicts(self) -> list[dict[str, Any]]:
        """A record for each arm: what observations cannot tell is None, and its method "none"."""
        return [
            {
                "arm": str(question.arm),
                "versus": None if question.versus is None else str(question.versus),
                "mean": _known(effect.mean),
                "low": _known(effect.low),
                "high": _known(effect.high),
                "n": effect.n,
                "method": effect.method,
                "bounds": None if bounds is None else vars(bounds),
                **({"fits": [fit.to_dict() for fit in effect.fits]} if effect.fits else {}),
            }
            for (question, effect), bounds in zip(self, self._bounds, strict=True)
        ]

    @property
    def _bounds(self) -> Sequence[Bounds | None]:
        return self.bounds or [None] * len(self)

    @property
    def ruled_out(self) -> list[RuledOut | None]:
        """Why an option cannot be the best, for those that observations do not identify; None for all others."""
        names = [str(question.arm) for question in self.questions]
        among = [k for k, bounds in enumerate(self._bounds) if bounds is not None]
        return ruled_out(self.goal, names, [self._ends(k) for k in range(len(self))], among)

    def _ends(self, k: int) -> tuple[float, float] | None:
        """The interval of an effect, or the bounds where it is not identifiable."""
        effect, bounds = self.found[k], self._bounds[k]
        if bounds is not None:
            return bounds.low, bounds.high
        return None if math.isnan(effect.low) else (effect.low, effect.high)

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame, or a polars one where pandas is not installed."""
        records = self.to_dicts()
        columns = (
            {name: [record[name] for record in records] for name in records[0] if name != "fits"} if records else {}
        )
        return frame({name: _column(name, values) for name, values in columns.items()})

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[tuple[Question, Effect]]:
        return zip(self.questions, self.found, strict=True)

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
        for i, name in enumerate(heads := self._heads()):
            shown.add_column(Text(printable(name)), justify="left" if i in (0, len(heads) - 1) else "right")
        for cells in self._cells():
            shown.add_row(*(Text(printable(cell)) for cell in cells))
        return Group(shown, *(Text(printable(note), style="dim") for note in self.notes()))

    def __str__(self) -> str:
        from rich.console import Console

        screen = Console(width=WIDTH, color_system=None, force_terminal=False)
        with screen.capture() as text:
            screen.print(self)
        return "\n".join(line.rstrip() for line in text.get().rstrip().splitlines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._heads(), self._cells(), self.notes())

    def notes(self) -> list[str]:
        """What a reader has to know about the numbers, in sentences."""
        found = []
        if (versus := self._versus) is not None:
            found.append(f"difference: mean {self.reward} with the arm, minus mean {self.reward} with {versus}")
        if self.naive is not None:
            what = "mean of" if versus is None else "difference between"
            found.append(f"naive: the {what} the rows that happened to have these values, confounding included")
        if any(bounds is not None for bounds in self._bounds):
            found.append("bounds: observations do not identify the mean; whatever the hidden causes are, it lies here")
            found += assumed(self._bounds)
            arms = zip(self.questions, self.ruled_out, strict=True)
            found += [reason.told(str(question.arm), self.goal) for question, reason in arms if reason is not None]
        fits = dict.fromkeys(str(fit) for effect in self.found for fit in effect.fits)
        if fits:
            found.append("doubly-robust: tables cannot hold all that is adjusted for, so models stand in for them")
        found += fits
        if self.left_out:
            rows = counted(self.left_out, "row")
            found.append(f"{rows} with an intervention left out: only plain observations count")
        found += filter(None, [self.missing.told()])
        return found

    @property
    def _versus(self) -> Arm | None:
        return self.questions[0].versus if self.questions else None

    def _heads(self) -> list[str]:
        mean = f"mean {self.reward}" if self._versus is None else "difference"
        extras = [name for name, values in (("naive", self.naive), ("true", self.truth)) if values is not None]
        return ["arm", mean, f"{self.level:.0%} interval", "rows", *extras, "method"]

    def _cells(self) -> list[list[str]]:
        """The texts of every row, the best arm first."""
        order = sorted(range(len(self)), key=lambda i: _rank(self.found[i].mean, self.goal))
        return [self._row(i) for i in order]

    def _row(self, i: int) -> list[str]:
        effect, bounds = self.found[i], self._bounds[i]
        numbers, method = ["", "", ""], "not identifiable"
        if effect.method != "none":
            numbers = [number(effect.mean), interval(effect.low, effect.high), f"{effect.n:,}"]
            method = effect.method
        elif bounds is not None:
            numbers, method = ["", interval(bounds.low, bounds.high), ""], f"{bounds.method} bounds"
        extras = [number(values[i]) for values in (self.naive, self.truth) if values is not None]
        return [str(self.questions[i].arm), *numbers, *extras, method]


def effects(
    problem: Problem,
    data: Data,
    weights: Weights = None,
    level: float = 0.95,
    versus: Mapping[str, Value] | None = None,
) -> Effects:
    """The effects of all arms of a problem, estimated from observations and the graph.

    Parameters
    ----------
    problem
        The problem, whose values the rows must have.
    data, weights, level
        As for `effect`.
    versus
        An intervention that all arms are compared with, such as ``{"X": 0}``; an empty mapping is doing nothing.

    Returns
    -------
    Effects
        A table with a row for each arm. It prints itself; `to_dicts()` and `to_frame()` give its numbers. An arm whose
        effect observations cannot tell has no mean, the method "none", and `bounds` of its mean if the ends of the
        reward are known. Differences have no bounds.
    """
    other = None if versus is None else arm_of(versus)
    source = open_source(data, weights)
    found = estimates(problem, source, problem.arms, level, other)
    bounds = arm_bounds(problem, source, problem.arms, level) if other is None else ()
    return Effects([Question(arm, other) for arm in problem.arms], found, problem.reward, problem.goal, level, bounds)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _column(name: str, values: list[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    return np.array(values, dtype=float if name in ("mean", "low", "high", "n") else object)


def _rank(mean: float, goal: Goal) -> float:
    return math.inf if math.isnan(mean) else -mean if goal == "max" else mean
