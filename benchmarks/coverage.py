"""How often the 95 % interval of an effect covers the truth, and how wide it is.

    python benchmarks/coverage.py [--trials 500]

Every trial has its own model with hidden causes, whose tables are drawn uniformly ("ordinary") or sharpened until most
probabilities are close to 0 or 1 ("extreme"), and a sample of it. Trials in which X=x never occurs are left out.
"Ideal" is the width of an interval that knew the error of the estimate: 3.92 times its root mean square.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import dobandit as db
from _script import options
from dobandit.estimate.observational.from_rows import estimates
from dobandit.evidence import open_source
from dobandit.graph import Graph

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import named_graphs as named
from tests.models import Model, marginal, random_admg, random_model

GRAPHS = {  # none: random ones
    "observed": [Graph("X -> W; Y")],
    "adjustment": [named.BACK_DOOR, Graph("{Z1, Z2, Z3} -> {X, Y}; X -> Y")],
    "front door": [named.FRONT_DOOR, Graph("Z -> {X, M, Y}; X -> M -> Y; X <-> Y")],
    "napkin": [named.NAPKIN],
    "c-factor": [],
    "any": [],
}
SHARP = {"ordinary": 1, "extreme": 5}  # to this power
SIZES = (20, 200, 1000, 5000)


def main() -> None:
    asked = options(__doc__, trials=500)
    print(f"{'formula':12}{'tables':10}{'rows':>6}{'covered':>9}{'width':>8}{'median':>8}{'ideal':>8}")
    for kind in GRAPHS:
        for tables in SHARP:
            for rows in SIZES[:1] if asked.smoke else SIZES:
                print(f"{kind:12}{tables:10}{rows:>6}{measure(kind, tables, rows, 3 if asked.smoke else asked.trials)}")


def measure(kind: str, tables: str, rows: int, trials: int) -> str:
    tried = (trial(kind, tables, rows, seed) for seed in range(trials))
    mean, low, high, truth = np.array([found for found in tried if found]).T
    covered = (low <= truth + 1e-9) & (truth <= high + 1e-9)
    ideal = 3.92 * np.sqrt(np.mean((mean - truth) ** 2))
    return f"{covered.mean():>9.1%}{(high - low).mean():>8.3f}{np.median(high - low):>8.3f}{ideal:>8.3f}"


def trial(kind: str, tables: str, rows: int, seed: int) -> tuple[float, float, float, float] | None:
    """The estimate, its interval and the truth."""
    rng = np.random.default_rng([list(GRAPHS).index(kind), SHARP[tables], seed])
    graph, do, on = question(kind, rng)
    model = sharpened(random_model(graph, rng), SHARP[tables])
    x, joint = int(rng.integers(2)), model.joint()
    counts = rng.multinomial(rows, joint.ravel() / joint.sum())
    columns = dict(zip(graph.variables, np.indices(joint.shape).reshape(joint.ndim, -1), strict=True))
    if not counts[columns[do] == x].any():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", db.estimate.SparseDataWarning)
        (found,) = estimates(db.Problem(graph, on, budget=1), open_source(columns, counts), [db.Arm.of({do: x})])
    return found.mean, found.low, found.high, float(marginal(model.joint({do: x}), graph, on)[1])


def question(kind: str, rng: np.random.Generator) -> tuple[Graph, str, str]:
    """A graph, what is set, and the outcome, identifiable by a formula of the kind."""
    if GRAPHS[kind]:
        return GRAPHS[kind][rng.integers(len(GRAPHS[kind]))], "X", "Y"
    while True:
        graph = random_admg(rng, 3, 6)
        on = graph.variables[-1]
        causes = sorted(v for v in graph.ancestors(on) if db.is_identifiable(graph, v, on))
        if not causes:
            continue
        do = str(rng.choice(causes))
        if kind in ("any", db.identify(graph, do, on).method):
            return graph, do, on


def sharpened(model: Model, power: int) -> Model:
    tables = {v: t**power / (t**power).sum(axis=-1, keepdims=True) for v, t in model.tables.items()}
    return replace(model, tables=tables)


if __name__ == "__main__":
    main()
