"""Our policies against all others on the classes of worlds: what is run for the page, and how two compare."""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dobandit
from dobandit.policies import policies_for
from dobandit.problem import Objective
from dobandit.report.page import mean_text
from dobandit.simulation import ARRAYS, Submits, standard_error
from dobandit.suite import WORLDS, Comparison, compare

Array = NDArray[np.float64]

NETWORKS = Path(dobandit.__file__).parent / "examples" / "networks"
THOMPSON, EXPLORE, PAPER = "causal-thompson", "causal-explore", "paper-cumulative"
OURS: Mapping[Objective, str] = {"cumulative": THOMPSON, "simple": EXPLORE}
SINGLE = tuple(name for name, source in WORLDS.items() if source.offers is None)  # arms of single variables
STRUCTURAL = tuple(name for name in WORLDS if name.startswith("structural-"))


class Extent(NamedTuple):
    """What is run, but for the number of trials."""

    worlds: tuple[str, ...] = SINGLE
    pairs: tuple[str, ...] = ("pairs", "pairs-bow")  # where variables are set together
    structural: tuple[str, ...] = STRUCTURAL
    times: int = 10  # trials where they are cheap, for every trial elsewhere: the mean is that of few unlucky runs
    closer: int = (
        5  # of ours for every trial of the others: how soon it settles is decided by few wrong recommendations
    )
    budgets: Mapping[str, tuple[float, ...]] | None = None  # by objective; None: those of the suite
    curve: tuple[float, ...] = (100.0, 400.0, 1600.0, 6400.0)
    long: tuple[float, float] = (10_000.0, 20_000.0)
    wrong: tuple[float, float] = (4_000.0, 8_000.0)
    rounds: tuple[float, float] = (5_000.0, 10_000.0)  # on the structural graphs
    explored: tuple[float, ...] = (200.0, 400.0, 800.0, 1_600.0, 3_200.0)  # by ours, where pairs are set
    others: tuple[float, ...] = (3_200.0, 6_400.0, 12_800.0)  # of the others there: many arms take long to tell apart
    networks: tuple[str, ...] = ("asia.bif?hide=smoke&reward=dysp", "greenhouse.bif?hide=season&reward=harvest")


SMOKE = Extent(
    worlds=("n6", "rand"), pairs=("pairs",), structural=("structural-iv",), times=2, closer=2,
    budgets={"cumulative": (30.0,), "simple": (25.0, 50.0)}, curve=(25.0, 50.0), long=(30.0, 60.0), wrong=(30.0, 60.0),
    rounds=(30.0, 60.0), explored=(25.0, 50.0), others=(25.0, 50.0), networks=("asia.bif?hide=smoke&reward=dysp",),
)  # fmt: skip


class Bench(NamedTuple):
    """How much is run, by whom, and the folder that keeps what was played."""

    trials: int
    long: int
    seed: int
    extent: Extent
    kept: Path
    executor: Submits | None

    def run(self, world: str, objective: Objective, policies: Sequence[str], trials: int, **rest: Any) -> Comparison:
        """A comparison: the one that was kept, or a new one."""
        start = time.perf_counter()
        if self.extent.budgets:
            rest = {"budgets": self.extent.budgets[objective], **rest}
        told = [Path(world).name, objective, *policies, *map(str, rest.values()), str(trials), str(self.seed)]
        path = self.kept / (re.sub(r"[^A-Za-z0-9]+", "-", "-".join(told)) + ".pickle")
        if path.exists():
            found: Comparison = pickle.loads(path.read_bytes())
            return found
        rest |= {"trials": trials, "seed": self.seed, "executor": self.executor}
        found = compare(world, objective, policies=policies, **rest)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".part").write_bytes(pickle.dumps(found))
        path.with_suffix(".part").replace(path)  # whole or not at all
        print(f"{path.stem}: {time.perf_counter() - start:.0f} s", flush=True)
        return found


class Duel(NamedTuple):
    """Ours against all others on the same trials of a class, of which ours may have more."""

    name: str
    ours: Comparison
    found: Comparison  # what the others did

    @property
    def where(self) -> str:
        return f"{self.found.world} ({self.found.costs})"

    @property
    def others(self) -> list[str]:
        return list(self.found.policies)

    def regret(self, name: str, at: int) -> Array:
        """Of a policy at a budget, by trial, on the trials of all."""
        found = self.ours if name == self.name else self.found
        return found.regret[name][: self.found.trials, at]

    def told(self, at: int, digits: int = 1) -> str:
        """Our regret at a budget, in all of our trials."""
        return told(self.ours.regret[self.name][:, at], digits)

    def best_other(self, at: int) -> str:
        return min(self.others, key=lambda name: float(self.regret(name, at).mean()))


def first(found: Comparison, trials: int) -> Comparison:
    """The first trials alone, which are the same as if no more had been asked for."""
    arrays: dict[str, Any] = {
        field: {name: of[:trials] for name, of in getattr(found, field).items()} for field in ARRAYS
    }
    return replace(found, means=found.means[:trials], prices=found.prices[:trials], **arrays)


def duels(bench: Bench, objective: Objective, often: Sequence[str] = (), closer: int = 1) -> list[Duel]:
    ours = OURS[objective]
    others = [name for name in policies_for(objective) if name != ours]
    found = []
    for world in bench.extent.worlds:
        trials = bench.trials * (bench.extent.times if world in often else 1)
        of_ours = bench.run(world, objective, [ours], trials * closer)
        found.append(Duel(ours, of_ours, bench.run(world, objective, others, trials)))
    return found


def told(regret: Array, digits: int = 1) -> str:
    return mean_text(float(regret.mean()), standard_error(regret), digits)


def growth(regret: Array) -> str:
    before, after = regret.mean(axis=0)
    return f"{after / before - 1:+.0%}" if before > 0 else "none"
