"""What a simulation found, and how it is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices
from dobandit.errors import SimulationError, counted, listing
from dobandit.evidence import frame, write_table
from dobandit.graph import Independence
from dobandit.markup import html_table
from dobandit.numerals import amount
from dobandit.plots import Curve, curves_figure
from dobandit.policies import contradiction_told, violation_told
from dobandit.problem import Axis, Objective
from dobandit.simulation.spending import Stopping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")
R = TypeVar("R", bound="Results")
ARRAYS = ("regret", "spent", "pulls", "recommended", "contradictions", "violations")  # the fields that hold arrays


@dataclass(frozen=True, repr=False)
class Results:
    """Regret, money and pulls of every policy, in every trial, for every budget (or every cost of intervening).

    What `simulate`, `suite.compare` and `paper.reproduce` return; the latter two add fields of their own.
    """

    objective: Objective
    axis: Axis  # what varies along the grid
    grid: tuple[float, ...]
    arms: tuple[str, ...]
    optimum: str  # "knapsack" or "fractional" (cumulative regret), or "best arm" (simple regret)
    regret: Mapping[str, Array]  # axes: trial, place on the grid
    spent: Mapping[str, Array]
    pulls: Mapping[str, Array]  # axes: trial, place on the grid, arm
    recommended: Mapping[str, Indices]  # place among the arms
    contradictions: Mapping[str, Array]  # axes: trial, place on the grid, arm; see `warnings`
    violations: Mapping[str, Array]  # axes: trial, place on the grid, independence; see `warnings`
    independencies: Mapping[str, tuple[Independence, ...]]  # implied by the graph, which outcomes may violate
    estimated: str | None = field(default=None, kw_only=True)  # how well the means of the arms are known; None: exactly
    stopping: Stopping | None = field(default=None, kw_only=True)  # what a stopping rule did, if there was one

    @property
    def policies(self) -> tuple[str, ...]:
        return tuple(self.regret)

    @property
    def trials(self) -> int:
        return len(next(iter(self.regret.values())))

    @property
    def rounds(self) -> int:
        """All pulls of all policies, at the last place of the grid."""
        return int(sum(pulls[:, -1].sum() for pulls in self.pulls.values()))

    def summary(self) -> list[dict[str, float | str]]:
        """One row for each policy and place on the grid: means over the trials, and the regret's standard error."""
        return [
            {
                "policy": name,
                self.axis: x,
                "regret": float(self.regret[name][:, j].mean()),
                "se": standard_error(self.regret[name][:, j]),
                "spent": float(self.spent[name][:, j].mean()),
                "rounds": float(self.pulls[name][:, j].sum(axis=1).mean()),
            }
            for name in self.policies
            for j, x in enumerate(self.grid)
        ]

    def savings(self) -> list[dict[str, Any]]:
        """What the stopping rule saved, and how often the answer was right: one row for each policy and budget, see
        `Stopping.summary`. Empty without a rule."""
        return [] if self.stopping is None else self.stopping.summary(self.grid, self.spent)

    def warnings(self) -> list[str]:
        """Sentences about what to keep in mind: means that are estimated, and where data contradicted the graph at the
        last place of the grid, one for each policy and arm or implied independence."""
        found = [self.estimated] if self.estimated else []
        for name in self.policies:
            for arm, z in zip(self.arms, self.contradictions[name][:, -1].T, strict=True):
                if z.any():
                    found.append(f"{name}: {arm}: {contradiction_told(float(z.max()))} {self._often(z)}")
            for independence, z in zip(self.independencies[name], self.violations[name][:, -1].T, strict=True):
                if z.any():
                    found.append(f"{name}: {violation_told(independence, float(z.max()))} {self._often(z)}")
        return found

    def _often(self, z: Array) -> str:
        return f"(in {int((z > 0).sum())} of {self.trials} trials)"

    def quantiles(self, q: Sequence[float] = (0.1, 0.5, 0.9)) -> dict[str, Array]:
        """Quantiles of the regret over the trials, with axes (quantile, budget)."""
        return {name: np.quantile(regret, q, axis=0) for name, regret in self.regret.items()}

    @property
    def curves(self) -> dict[str, Curve]:
        """Mean regret of every policy along the grid, with standard errors."""
        return {
            name: Curve(name, self.grid, regret.mean(axis=0).tolist(), [standard_error(r) for r in regret.T])
            for name, regret in self.regret.items()
        }

    def plot(
        self,
        title: str | None = None,
        *,
        policies: Sequence[str] | None = None,
        log: bool = False,
        axes: Axes | None = None,
    ) -> Figure:
        """Mean regret along the grid, with a band of one standard error on each side.

        Parameters
        ----------
        title
            Above the figure.
        policies
            The policies to draw, in this order; default: all.
        log
            Whether the regret has a logarithmic axis.
        axes
            Axes of matplotlib to draw in, for instance of `plt.subplots`; default: a figure of its own.

        Returns
        -------
        Figure
            A figure of matplotlib.
        """
        if unknown := [name for name in policies or () if name not in self.regret]:
            raise SimulationError(
                f"there is no policy {unknown[0]} in these results; there are {listing(self.policies)}"
            )
        curves, ylabel = [self.curves[name] for name in policies or self.policies], f"{self.objective} regret"
        title = title or self._usual_title
        return curves_figure(curves, xlabel=self.axis, ylabel=ylabel, title=title, log=log, axes=axes)

    @property
    def _usual_title(self) -> str | None:
        """What stands above a figure of these results."""
        return None

    def __repr__(self) -> str:
        places = amount(self.grid[0]) + (f" to {amount(self.grid[-1])}" if len(self.grid) > 1 else "")
        what = f"{self.objective} regret of {listing(self.policies)}"
        return f"<Results: {what}, {self.axis} {places}, {counted(self.trials, 'trial')}>"

    def _repr_html_(self) -> str:
        """For notebooks: the summary, the least regret first."""
        rows = sorted(self.summary(), key=lambda row: (row[self.axis], row["regret"]))
        shown = {"policy": "", self.axis: "g", "regret": ".4g", "se": ".2g", "spent": ".4g", "rounds": ".1f"}
        cells = [[f"{row[name]:{form}}" for name, form in shown.items()] for row in rows]
        heads = ["policy", self.axis, f"mean {self.objective} regret", "± s.e.", "spent", "pulls"]
        return html_table(heads, cells, [f"Means over {self.trials:,} trials.", *self.warnings()])

    def columns(self) -> dict[str, NDArray[Any]]:
        """Tidy results: one row for each policy, trial and place on the grid."""

        def all_of(found: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
            return np.concatenate([found[name].reshape(len(cells), -1) for name in self.policies])

        cells = [(i, x) for i in range(self.trials) for x in self.grid]
        trials, places = zip(*(cells * len(self.policies)), strict=True)
        table = {
            "policy": np.repeat(np.array(self.policies, dtype=object), len(cells)),
            "trial": np.array(trials),
            self.axis: np.array(places),
            "regret": all_of(self.regret)[:, 0],
            "spent": all_of(self.spent)[:, 0],
            "recommended": np.array(self.arms, dtype=object)[all_of(self.recommended)[:, 0]],
        }
        pulls = all_of(self.pulls).astype(np.int64)
        stopped = {} if self.stopping is None else {"stopped": all_of(self.stopping.early)[:, 0]}
        return table | stopped | {f"pulls {arm}": pulls[:, k] for k, arm in enumerate(self.arms)}

    def to_frame(self) -> Any:
        """The tidy results as a pandas DataFrame, or a polars one where pandas is not installed."""
        return frame(self.columns())

    def write(self, path: str | PathLike[str]) -> None:
        """The tidy results as a CSV, JSON or Parquet file, by the ending of its name."""
        write_table(path, self.columns())


def joined(parts: Sequence[R]) -> R:
    """Several results as one: other policies in the same trials, or further trials of the same policies.

    Where their problems have different arms, the result has the arms of all; a trial never pulls an arm that it lacks.
    """
    arms = _union(part.arms for part in parts)
    names = _union(part.policies for part in parts)
    independencies = {name: _union(part.independencies.get(name, ()) for part in parts) for name in names}
    wide = [_widened(part, arms, independencies) for part in parts]
    arrays: dict[str, Any] = {
        field: {
            name: np.concatenate([getattr(part, field)[name] for part in wide if name in part.regret]) for name in names
        }
        for field in ARRAYS
    }
    return replace(wide[0], independencies=independencies, **arrays)


def _widened(part: R, arms: tuple[str, ...], independencies: Mapping[str, tuple[Independence, ...]]) -> R:
    """The same results with more arms and more independencies."""
    place = np.array([arms.index(arm) for arm in part.arms])
    return replace(
        part,
        arms=arms,
        pulls={name: spread(found, part.arms, arms) for name, found in part.pulls.items()},
        recommended={name: place[found] for name, found in part.recommended.items()},
        contradictions={name: spread(found, part.arms, arms) for name, found in part.contradictions.items()},
        violations={
            name: spread(found, part.independencies[name], independencies[name])
            for name, found in part.violations.items()
        },
    )


def _union(parts: Iterable[Iterable[T]]) -> tuple[T, ...]:
    """All that occurs, in the order of its first occurrence."""
    return tuple(dict.fromkeys(chain.from_iterable(parts)))


def spread(values: Array, labels: Sequence[T], wider: Sequence[T], missing: float = 0.0) -> Array:
    """Values whose last axis has these labels, with the places of more labels.

    >>> spread(np.array([[1.0, 2.0]]), ["a", "c"], ["a", "b", "c"])
    array([[1., 0., 2.]])
    """
    found = np.full((*values.shape[:-1], len(wider)), missing)
    found[..., [wider.index(label) for label in labels]] = values
    return found


def standard_error(values: Array) -> float:
    """Of the mean; a single trial has none."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
