"""What the commands that simulate share: the seed, and the processes that do the work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import click

from dobandit.simulation import processes

SEED = click.option("--seed", default=0, show_default=True, help="The seed of worlds, costs and outcomes.")
WORKERS = click.option("--workers", type=click.IntRange(1), help="Number of processes; default: one for each core.")


@contextmanager
def executor(workers: int | None, default: int | None = None) -> Iterator[ProcessPoolExecutor | None]:
    """A pool of processes, one for each core unless told otherwise; None where a single process does the work."""
    wanted = workers or default or os.cpu_count() or 1
    if wanted == 1:
        yield None
        return
    with processes(wanted) as pool:
        yield pool
