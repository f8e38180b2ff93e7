"""How often the 95 % interval of an effect on revenue covers the truth: few buy, and what they spend is log-normal.

    python benchmarks/revenue.py [--trials 1000]

Every trial has 2,000 rows. "Effect" is what `db.effect` says, "study" what `status` says of the same arm after
`observe`; the means are shares of the truth. In the problems "one parent" and "several parents", the campaign X is
confounded; in the latter, revenue also depends on the region A, so that its table has 16 rows. In the problem "own
rewards", the effect is not identifiable, and all rows are experiments.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import dobandit as db
from _script import options

ROWS = 2000
Columns = dict[str, object]
Answer = tuple[float, float, float]  # mean and interval


class Case(NamedTuple):
    """A problem, its log-normal sd, how to draw its rows, and the mean revenue of do(X=0) and do(X=1)."""

    name: str
    problem: db.Problem
    sd: float
    rows: Callable[[np.random.Generator, float], Columns]
    buying: tuple[float, float]
    log_spent: tuple[float, float]

    @property
    def truth(self) -> list[float]:
        buyers = zip(self.buying, self.log_spent, strict=True)
        return [share * np.exp(spent + self.sd**2 / 2) for share, spent in buyers]


def one_parent(rng: np.random.Generator, sd: float) -> Columns:
    z = rng.integers(2, size=ROWS)
    x = (rng.random(ROWS) < 0.3 + 0.4 * z).astype(int)
    bought = rng.random(ROWS) < 0.02 + 0.03 * x + 0.03 * z
    return {"Z": z, "X": x, "Y": np.where(bought, rng.lognormal(3, sd, ROWS), 0.0)}


def several_parents(rng: np.random.Generator, sd: float) -> Columns:
    a, b = rng.choice(4, ROWS, p=[0.4, 0.3, 0.2, 0.1]), rng.integers(2, size=ROWS)
    x = (rng.random(ROWS) < 0.3 + 0.4 * b).astype(int)
    bought = rng.random(ROWS) < 0.05
    return {"A": a, "B": b, "X": x, "Y": np.where(bought, rng.lognormal(3.5 + x, sd, ROWS), 0.0)}


def own_rewards(rng: np.random.Generator, sd: float) -> Columns:
    x = rng.integers(2, size=ROWS)
    bought = rng.random(ROWS) < 0.03 + 0.04 * x
    arms = np.where(x == 1, "do(X=1)", "do(X=0)")
    return {"X": x, "Y": np.where(bought, rng.lognormal(3, sd, ROWS), 0.0), "intervention": arms}


def cases() -> list[Case]:
    def asked(graph: str, **more: list[str]) -> db.Problem:
        return db.Problem(graph, {"variable": "Y"}, budget=100, objective="simple", domains=more)

    one, several = asked("Z -> {X, Y}; X -> Y"), asked("A; B -> X; {A, B, X} -> Y", A=["0", "1", "2", "3"])
    return [
        *(Case("one parent", one, sd, one_parent, (0.035, 0.065), (3, 3)) for sd in (0.5, 1.0)),
        *(Case("several parents", several, sd, several_parents, (0.05, 0.05), (3.5, 4.5)) for sd in (0.5, 1.0)),
        Case("own rewards", asked("X -> Y; X <-> Y"), 1.0, own_rewards, (0.03, 0.07), (3, 3)),
    ]


def main() -> None:
    asked = options(__doc__, trials=1000)
    trials = 10 if asked.smoke else asked.trials
    said = f"{'covers':>9}{'mean':>7}{'width':>7}"
    print(f"{'problem':17}{'log-normal sd':>14}{'arm':>9}{'| effect':>10}{said}{'| study':>10}{said}")
    for case in cases():
        answers = [trial(case, seed) for seed in range(trials)]
        for x, truth in enumerate(case.truth):
            effects, told = ([answer[kind][x] for answer in answers if answer[kind]] for kind in (0, 1))
            print(f"{case.name:17}{case.sd:>14g}{f'do(X={x})':>9}{summary(effects, truth)}{summary(told, truth)}")


def summary(answers: list[Answer], truth: float) -> str:
    if not answers:
        return f"{'|':>4}{'–':>15}{'–':>7}{'–':>7}"
    mean, low, high = np.array(answers).T
    covered = ((low <= truth) & (truth <= high)).mean()
    return f"{'|':>4}{covered:>15.1%}{mean.mean() / truth:>7.2f}{(high - low).mean():>7.2f}"


def trial(case: Case, seed: int) -> tuple[list[Answer], list[Answer]]:
    """What effects and a study say of both arms; no effects where they are not identifiable."""
    data = case.rows(np.random.default_rng([int(10 * case.sd), seed]), case.sd)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        is_logged = "intervention" not in data
        found = [db.effect(case.problem, data, {"X": x}, "Y") for x in (0, 1)] if is_logged else []
        study = db.Study.create(":memory:", case.problem)
        study.observe(data, name="log")
        arms = {arm.arm: arm for arm in study.status().arms}
    told = [arms[f"do(X={x})"] for x in (0, 1)]
    return [(e.mean, e.low, e.high) for e in found], [(arm.mean, arm.low, arm.high) for arm in told]


if __name__ == "__main__":
    main()
