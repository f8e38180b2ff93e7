"""`reproduce`: rerun the panels of the paper, in pieces that are kept."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dobandit.errors import SimulationError
from dobandit.paper.blocks import PIECE, Block, Blocks, Job, compute, cut
from dobandit.paper.bound_curves import bounds_beside, bounds_trials
from dobandit.paper.panels import PANELS, Panel, panels_of
from dobandit.paper.published import Point, points
from dobandit.plots import Curve, curves_figure
from dobandit.policies import name_of, policy
from dobandit.simulation import ARRAYS, Progress, Results, Submits, check_trials, processes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRIALS = 100  # as in the paper


@dataclass(frozen=True)
class Reproduced(Results):
    """The results of a panel that was rerun, and the paper's own curves."""

    panel: Panel
    seed: int
    seconds: float  # of computing, on however many processes

    @property
    def published(self) -> dict[str, Curve]:
        """The paper's curve for every policy that has one, where it has points."""
        found = {}
        for name in self.regret:
            there = [(x, *point) for x, point in zip(self.grid, self.published_points(name), strict=True) if point]
            if there:
                found[name] = Curve(name, *zip(*there, strict=True))
        return found

    def published_points(self, policy: str) -> list[Point | None]:
        """The paper's points at the places of the grid; None where it has none."""
        there = points(self.panel.name, policy)
        return [there.get(x) for x in self.grid]

    def plot(
        self,
        title: str | None = None,
        *,
        policies: Sequence[str] | None = None,
        log: bool = False,
        axes: Axes | None = None,
        bounds: bool = False,
    ) -> Figure:
        """The curves, the published ones dotted.

        Parameters
        ----------
        title
            Above the figure; by default the figure of the paper.
        policies, log, axes
            As for `Results.plot`.
        bounds
            Whether to draw the bounds of the theorems, averaged over some of the trials.
        """
        return curves_figure(
            [self.curves[name] for name in policies or self.policies],
            xlabel=self.panel.x_label,
            ylabel=f"{self.objective} regret",
            title=title or self.panel.figure,
            log=log,
            axes=axes,
            published=[self.published[name] for name in policies or self.policies if name in self.published],
            bounds=bounds_beside(self.panel, self.seed, bounds_trials(self.trials)) if bounds else (),
        )


def reproduce(
    panels: Iterable[str | Panel] | None = None,
    trials: int = TRIALS,
    policies: Sequence[str] | None = None,
    seed: int = 0,
    *,
    out: str | PathLike[str] | None = None,
    executor: Submits | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[Reproduced]:
    """Rerun panels of the paper.

    Work is cut into pieces; results are the same bits however often it was interrupted. A program that calls this needs
    the usual `if __name__ == "__main__":`, because processes import it.

    Parameters
    ----------
    panels
        Names of panels or figures; default: all thirteen panels.
    trials
        How many trials for each policy.
    policies
        In place of the paper's. Panels of another objective than all of these are left out.
    seed
        Of worlds, costs and outcomes.
    out
        A folder that keeps finished pieces, where the next call finds them.
    executor
        Anything with `submit`, on which pieces run; default: processes of our own.
    workers
        How many processes; default: one for each core, and 1 starts none.
    progress
        Called with a panel's name and the share of its work that is done.

    Returns
    -------
    list of Reproduced
        One for each panel.
    """
    wanted = chosen_panels(PANELS if panels is None else panels)
    jobs = jobs_of(wanted, trials, policies, seed)
    found = dict(_work(jobs, Blocks(Path(out)) if out is not None else None, executor, workers, progress))
    pieces = {id(p): [(job, found[i]) for i, job in enumerate(jobs) if job.panel is p] for p in wanted}
    return [_joined(p, seed, pieces[id(p)]) for p in wanted if pieces[id(p)]]


def chosen_panels(names: Iterable[str | Panel]) -> list[Panel]:
    """The panels that are meant, each once; a figure means all of its panels."""
    found = [panel for name in names for panel in ([name] if isinstance(name, Panel) else panels_of(name))]
    return [panel for i, panel in enumerate(found) if panel not in found[:i]]


def jobs_of(panels: Sequence[Panel], trials: int, policies: Sequence[str] | None, seed: int) -> list[Job]:
    """All the work there is."""
    check_trials(trials)
    if policies and (idle := [p for p in policies if not any(_fits(p, one) for one in panels)]):
        raise SimulationError(f"policies: {idle[0]} is for {policy(idle[0]).objective} regret, and no panel is")
    return [job for p in panels for name in _policies(p, policies) for job in cut(p, name, seed, trials)]


def sizes(jobs: Iterable[Job]) -> Mapping[str, float]:
    """How much work every panel is, roughly, by its name."""
    total = defaultdict[str, float](float)
    for job in jobs:
        total[job.panel.name] += _size(job)
    return total


def _policies(panel: Panel, names: Sequence[str] | None) -> list[str]:
    """The policies to run on a panel, written in the one way that counts."""
    return list(dict.fromkeys(name_of(policy(p)) for p in (names or panel.policies) if not names or _fits(p, panel)))


def _fits(name: str, panel: Panel) -> bool:
    return policy(name).serves(panel.objective)


def _work(
    jobs: Sequence[Job], blocks: Blocks | None, executor: Submits | None, workers: int | None, progress: Progress | None
) -> Iterator[tuple[int, Block]]:
    """What every job found, in the order of completion, with the place of the job."""
    total, done = sizes(jobs), defaultdict[str, float](float)

    def tell(job: Job) -> None:
        done[job.panel.name] += _size(job)
        if progress is not None:
            progress(job.panel.name, done[job.panel.name] / total[job.panel.name])

    kept = {i: block for i, job in enumerate(jobs) if blocks and (block := blocks.find(job))}
    todo = sorted(set(range(len(jobs))) - set(kept), key=lambda i: -_size(jobs[i]))
    for i, block in chain(kept.items(), _computed({i: jobs[i] for i in todo}, executor, workers)):
        if blocks and i not in kept:
            blocks.keep(jobs[i], block)
        yield i, block
        tell(jobs[i])


def _computed(jobs: Mapping[int, Job], executor: Submits | None, workers: int | None) -> Iterator[tuple[int, Block]]:
    """The jobs, carried out here, on an executor, or on processes of our own."""
    count = min(workers or os.cpu_count() or 1, len(jobs))
    if executor is None and count <= 1:
        yield from ((i, compute(job)) for i, job in jobs.items())
        return
    with nullcontext(executor) if executor else processes(count) as pool:
        futures = {pool.submit(compute, job): i for i, job in jobs.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            if executor is not None:  # processes of our own are ended by their pool
                for future in futures:
                    future.cancel()


def _size(job: Job) -> float:
    """Roughly how many seconds of an ordinary core it takes. The largest pieces go first, so that all processes finish
    at about the same time. Cumulative regret takes a decision at every pull, simple regret one in every phase."""
    panel = job.panel
    cells = len(panel.grid) * len(panel.experiment.graph.variables)
    return job.trials / PIECE * (4.0 if panel.objective == "cumulative" else 0.3 + cells / 1500)


def _joined(panel: Panel, seed: int, pieces: Sequence[tuple[Job, Block]]) -> Reproduced:
    names, problem = list(dict.fromkeys(job.policy for job, _ in pieces)), panel.problem()
    arrays: dict[str, Any] = {
        field: {name: np.concatenate([b.arrays[field] for job, b in pieces if job.policy == name]) for name in names}
        for field in ARRAYS
    }
    return Reproduced(
        objective=panel.objective,
        axis=panel.axis,
        grid=panel.grid,
        arms=tuple(map(str, problem.arms)),
        optimum=pieces[0][1].optimum,
        independencies={name: tuple(policy(name).compile(problem).independencies) for name in names},
        panel=panel,
        seed=seed,
        seconds=sum(block.seconds for _, block in pieces),
        **arrays,
    )
