"""Work in pieces: what a policy does in some trials of a panel, computed anywhere and kept in a folder.

A piece that is kept counts only if it was written to the end, for exactly this work and by this very program; files
are arrays of numbers and text, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dobandit import __version__
from dobandit.arrays import Array
from dobandit.files import DRAFT, make_folder, replacing, storing
from dobandit.paper.panels import Panel
from dobandit.simulation import ARRAYS, simulate, simulate_costs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


PIECE = 64  # trials; a whole block of chance
ABANDONED = 10.0  # seconds; writing a piece takes an instant, so an older half-written file is a killed run's
# What the numbers come from. A change anywhere else leaves the pieces valid.
SOURCES = (
    "certainty chance.py elimination.py estimate evidence graph identification paper/blocks.py paper/panels.py "
    "policies problem simulation worlds"
).split()


class Job(NamedTuple):
    """A policy on some trials of a panel."""

    panel: Panel
    policy: str
    seed: int
    first: int  # the number of the first trial
    trials: int

    @property
    def key(self) -> str:
        """All that the numbers depend on, as text."""
        parts = {
            "version": __version__,
            "source": source(),
            "numpy": np.__version__,
            **self.panel.setting(),
            **self._asdict(),
            "panel": self.panel.name,
        }
        return json.dumps(parts, sort_keys=True)

    @property
    def file(self) -> str:
        """The name of its file: readable in front, and another one for every key."""
        plain = "".join(c if c.isalnum() or c == "-" else "_" for c in self.policy)
        digest = blake2b(self.key.encode(), digest_size=8).hexdigest()
        return f"{self.panel.name}.{plain}.{self.first}-{self.first + self.trials - 1}.{digest}.npz"


class Block(NamedTuple):
    """What a job found."""

    arrays: Mapping[str, Array]  # of its policy, by the names that they have in `Results`
    optimum: str  # what the regret is measured against
    seconds: float


def cut(panel: Panel, policy: str, seed: int, trials: int) -> list[Job]:
    """The jobs of a policy on a panel."""
    return [Job(panel, policy, seed, first, min(PIECE, trials - first)) for first in range(0, trials, PIECE)]


def compute(job: Job) -> Block:
    """Do the work, here or wherever an executor runs it."""
    start = time.perf_counter()
    panel, asked = job.panel, ([job.policy], job.trials, job.seed)
    problem, world = panel.problem(), panel.experiment.world()
    if panel.axis == "budget":
        results = simulate(problem, world, *asked, panel.grid, first=job.first)
    else:
        results = simulate_costs(problem, world, panel.grid, *asked, first=job.first)
    arrays = {field: getattr(results, field)[job.policy] for field in ARRAYS}
    return Block(arrays, results.optimum, time.perf_counter() - start)


class Blocks:
    """A folder of finished pieces."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with storing(folder):
            make_folder(folder)
            self._tidy()

    def keep(self, job: Job, block: Block) -> None:
        with replacing(self.folder / job.file) as draft:
            about = {"key": job.key, "optimum": block.optimum, "seconds": block.seconds}
            contents: dict[str, Any] = {**block.arrays, **{name: np.array(said) for name, said in about.items()}}
            # An interrupt in the middle of an archive ends in an error about the archive. Only the main thread has any.
            with ThreadPoolExecutor(1) as writer:
                writer.submit(np.savez_compressed, draft, **contents).result()

    def _tidy(self) -> None:
        """Remove the drafts of runs that were killed while they wrote them."""
        for draft in self.folder.glob(f"{DRAFT}*"):
            with suppress(FileNotFoundError):
                if time.time() - draft.stat().st_mtime > ABANDONED:
                    shutil.rmtree(draft, ignore_errors=True)

    def find(self, job: Job) -> Block | None:
        """The piece as it was kept; None if it is not there or anything about it is wrong."""
        try:
            with (self.folder / job.file).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                if str(kept["key"]) != job.key:
                    return None
                arrays = {field: kept[field] for field in ARRAYS}
                block = Block(arrays, str(kept["optimum"]), float(kept["seconds"]))
        except Exception:  # truncated, foreign, spoilt, unreadable: in every case the work is done again
            return None
        shape = (job.trials, len(job.panel.grid))
        right = (array.shape[:2] == shape and np.isfinite(array).all() for array in arrays.values())
        return block if all(right) else None


@cache
def source() -> str:
    """A digest of the program that makes the numbers."""
    digest = blake2b(digest_size=8)
    for name, text in _texts(files("dobandit"), SOURCES):
        digest.update(f"{name}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()


def _texts(folder: Traversable, names: list[str]) -> Iterator[tuple[str, bytes]]:
    for name in sorted(names):
        item = folder.joinpath(name)
        if item.is_dir() and name != "__pycache__":
            yield from _texts(item, [inside.name for inside in item.iterdir()])
        elif name.endswith(".py"):
            yield name, item.read_bytes()
