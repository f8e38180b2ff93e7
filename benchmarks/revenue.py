"""How often the 95 % interval of an effect on revenue covers the truth: few buy, and what they spend is log-normal.

    python benchmarks/revenue.py [--trials 1000]

Every trial has 2,000 rows in which a campaign X and the segment Z of customers are confounded. "Effect" is what
`db.effect` says, "study" what `status` says of the same arm after `observe`.
"""

from __future__ import annotations

import warnings

import numpy as np

import dobandit as db
from _script import options

ROWS = 2000
PROBLEM = db.Problem("Z -> {X, Y}; X -> Y", {"variable": "Y"}, budget=100, objective="simple")
STUDY_EVERY = 5  # trials of which one is also asked through a study, which takes longer


def main() -> None:
    asked = options(__doc__, trials=1000)
    trials = 10 if asked.smoke else asked.trials
    print(f"{'log-normal sd':14}{'arm':>9}{'effect':>9}{'width':>8}{'study':>9}{'width':>8}")
    for sd in (0.5, 1.0):
        effects, answers = zip(*(trial(sd, seed) for seed in range(trials)), strict=True)
        for x in (0, 1):
            told = [answer[x] for answer in answers if answer]
            print(f"{sd:<14g}{f'do(X={x})':>9}{summary([e[x] for e in effects])}{summary(told)}")


def summary(intervals: list[tuple[float, float, float]]) -> str:
    low, high, truth = np.array(intervals).T
    return f"{((low <= truth) & (truth <= high)).mean():>9.1%}{(high - low).mean():>8.2f}"


def trial(sd: float, seed: int) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
    """The intervals of both arms with the truth: of effects, and in some trials of a study."""
    rng = np.random.default_rng([int(10 * sd), seed])
    z = rng.integers(2, size=ROWS)
    x = (rng.random(ROWS) < 0.3 + 0.4 * z).astype(int)
    bought = rng.random(ROWS) < buying(x, z)
    data = {"Z": z, "X": x, "Y": np.where(bought, rng.lognormal(3, sd, ROWS), 0.0)}
    truth = [float(np.mean([buying(v, s) for s in (0, 1)]) * np.exp(3 + sd**2 / 2)) for v in (0, 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [db.effect(PROBLEM, data, {"X": v}, "Y") for v in (0, 1)]
        effects = [(e.low, e.high, t) for e, t in zip(found, truth, strict=True)]
        if seed % STUDY_EVERY:
            return effects, []
        study = db.Study.create(":memory:", PROBLEM)
        study.observe(data, name="log")
        arms = {arm.arm: arm for arm in study.status().arms}
    return effects, [(arms[f"do(X={v})"].low, arms[f"do(X={v})"].high, truth[v]) for v in (0, 1)]


def buying(x: object, z: object) -> np.ndarray:
    """The chance that a customer buys: 5 of 100 on average."""
    return 0.02 + 0.03 * np.asarray(x) + 0.03 * np.asarray(z)


if __name__ == "__main__":
    main()
