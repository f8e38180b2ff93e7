"""What the commands that simulate share: seed, processes, the folder of results, and how far the work is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

import click

from dobandit.errors import DobanditError, StorageError
from dobandit.files import make_folder, storing
from dobandit.simulation import BATCH, BLOCK, Cluster, Submits, cluster, processes

Report = Callable[[str, float], None]  # what is worked on, and the share of it that is done
SEED = click.option("--seed", default=0, show_default=True, help="The seed of worlds, costs and outcomes.")
WORKERS = click.option("--workers", type=click.IntRange(1), help="Number of processes; default: one for each core.")
CLUSTER = click.option(
    "--cluster", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:8786, or local:8 for eight processes here."
)
ROUND, PULL, TRIAL = 3e-5, 2e-7, 1e-4  # seconds that quick policies take, on a usual machine
DAY = 86400.0
ALL = "all"  # in place of the name of a policy: every one that fits


class Crew(NamedTuple):
    """What does the work: an executor (none: this process), and how many workers it has."""

    executor: Submits | None = None
    workers: int = 1

    def batch(self, trials: int) -> int:
        """How many trials to a job, in whole blocks, so that every worker gets a share. Results do not depend on it."""
        blocks = -(-trials // BLOCK)
        return min(BATCH, -(-blocks // self.workers) * BLOCK)


@contextmanager
def crew(workers: int | None, address: str | None, default: int | None = None) -> Iterator[Crew]:
    """A cluster, or a pool of processes: one for each core unless told otherwise."""
    wanted = workers or default or os.cpu_count() or 1
    with on_cluster(address, workers) as found:
        if found is not None:
            yield Crew(found, found.workers)
        elif wanted == 1:
            yield Crew()
        else:
            with processes(wanted) as pool:
                yield Crew(pool, wanted)


def on_cluster(address: str | None, workers: int | None) -> AbstractContextManager[Cluster | None]:
    """The cluster at an address; nothing without one."""
    if address is not None and workers is not None:
        raise click.UsageError("--workers and --cluster exclude each other: a cluster has its own workers")
    return nullcontext() if address is None else cluster(address)


def check_length(pulls: float, trials: int, runs: int) -> None:
    """Refuse a simulation that takes longer than a day even with quick policies: so many pulls in each of the trials,
    for so many policies and worlds."""
    seconds = runs * (pulls * (ROUND + trials * PULL) + trials * TRIAL)
    if seconds > DAY:
        raise DobanditError(
            f"{runs * pulls * trials:,.0f} pulls would take about {seconds / 3600:,.0f} hours; choose smaller "
            "budgets or fewer trials"
        )


@contextmanager
def ready(folder: Path | None, figures: bool) -> Iterator[None]:
    """Work whose results go to a folder: it is made, and figures are tried, before hours of work are lost.

    If the work fails, the folders that were made for it are removed again.
    """
    if folder is None:
        yield
        return
    if figures:
        from dobandit.plots import plain_style

        with plain_style():  # says so if matplotlib is missing
            pass
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        with writing(folder):
            make_folder(folder)
        yield
    except BaseException:
        for place in new:
            with suppress(OSError):
                place.rmdir()  # only if it is empty
        raise


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """What the file system refuses, as a sentence."""
    with storing(folder):
        try:
            yield
        except (FileExistsError, NotADirectoryError):
            raise StorageError(f"{folder}: cannot be written: a file is in the way; name a folder") from None


@contextmanager
def progress(parts: Sequence[str], quiet: bool, first: str = "", again: int = 0) -> Iterator[Report | None]:
    """A bar on stderr with the time that is left, if there is a terminal to see it. It shows `first` until a part
    begins; parts are expected to be done again so many times, for instance with another log."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(first, total=len(parts) + again)
        shares, done = dict.fromkeys(parts, 0.0), 0

        def report(part: str, share: float) -> None:
            nonlocal done
            done += share < shares[part]  # it was finished, and starts again
            shares[part] = share
            bar.update(task, description=part, completed=done + sum(shares.values()))

        yield report
