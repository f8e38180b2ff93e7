"""How honest a study is about options that no log identifies, where the reward is measured: revenue in random shops.

Something hidden decides who gets the discount and acts on revenue, which lies between 0 and 943: at random (usual), or
so that two groups of customers differ a lot in both (strong). A study gets a log, then pulls of both options. Printed
are the share of 95 % intervals that contain the truth, their median width, how far means are off on average, and the
share of intervals that leave the bounds of the log.

usage: python benchmarks/confounded_means.py [--shops 100] [--log 2000] [--seed 1000]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dobandit as db
from _script import options

PULLS = (0, 20, 200)  # of both options, in all
MOST = 943.0
REWARD: Any = {"variable": "Revenue", "range": [0, MOST]}
Array = NDArray[np.float64]


class Shop(NamedTuple):
    """The chances of a discount by group, and of buying, and what buyers spend, by group and discount."""

    discount: Array
    buys: Array
    spends: Array

    def rows(self, number: int, rng: np.random.Generator, discount: int | None = None) -> dict[str, Any]:
        group = rng.integers(2, size=number)
        chosen = (rng.random(number) < self.discount[group]).astype(int)
        own = chosen if discount is None else np.full(number, discount)
        spent = self.spends[group, own] * rng.gamma(2.0, 0.5, number)
        revenue = np.where(rng.random(number) < self.buys[group, own], spent, 0.0)
        return {"Discount": own, "Revenue": np.minimum(revenue, MOST)}


def drawn(kind: str, rng: np.random.Generator) -> Shop:
    spends = rng.uniform(20, 150, (2, 2))
    if kind == "usual":
        return Shop(rng.uniform(0.1, 0.9, 2), rng.uniform(0.05, 0.6, (2, 2)), spends)
    buys = np.stack([rng.uniform(0.01, 0.1, 2), rng.uniform(0.4, 0.8, 2)])
    return Shop(rng.uniform([0.05, 0.7], [0.3, 0.95]), buys[:: rng.choice([-1, 1])], spends)


def answers(shop: Shop, log: int, rng: np.random.Generator) -> Array:
    """Whether intervals contain the truth, their widths, how far means are off, and whether intervals leave the bounds:
    axes (number of pulls, option, figure)."""
    study, found, before = db.Study.create(":memory:", problem()), [], 0
    study.observe(shop.rows(log, rng), name="log")
    for pulls in PULLS:
        for x in (0, 1):
            rows = shop.rows(pulls - before, rng, x)
            if pulls > before:
                named = {**rows, "intervention": [f"do(Discount={x})"] * (pulls - before)}
                study.observe(named, name=f"{pulls} pulls of {x}")
        before = pulls
        truth = (shop.buys * shop.spends).mean(axis=0)  # what the range cuts off is less than a thousandth
        for x, arm in enumerate(study.status().arms[1:]):
            assert arm.bounds is not None
            leaves = arm.low < arm.bounds.low - 1e-9 or arm.high > arm.bounds.high + 1e-9
            found.append([arm.low <= truth[x] <= arm.high, arm.high - arm.low, abs(arm.mean - truth[x]), leaves])
    return np.array(found, dtype=float).reshape(len(PULLS), 2, 4)


def problem() -> db.Problem:
    return db.Problem("Discount -> Revenue; Discount <-> Revenue", REWARD, 1000, "simple")


def main() -> None:
    asked = options(__doc__, shops=100, log=2000, seed=1000)
    shops, log = (2, 200) if asked.smoke else (asked.shops, asked.log)
    print(f"{shops} shops of each kind, {log:,} rows of log, seed {asked.seed}")
    print(f"{'shops':8} {'pulls':>5} {'intervals':>10} {'width':>7} {'off by':>7} {'beyond bounds':>14}")
    for kind in ("usual", "strong"):
        rngs = [np.random.default_rng([asked.seed, i]) for i in range(shops)]
        found = np.stack([answers(drawn(kind, rng), log, rng) for rng in rngs], axis=2)
        for pulls, figures in zip(PULLS, found.reshape(len(PULLS), -1, 4), strict=True):
            covered, _, off, beyond = figures.mean(axis=0)
            width = np.median(figures[:, 1])
            print(f"{kind:8} {pulls:5} {covered:10.1%} {width:7.1f} {off:7.2f} {beyond:14.1%}", flush=True)


if __name__ == "__main__":
    main()
