"""The figures of the case studies: `make docs` draws them into docs/images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dobandit as db
from dobandit.plots import EffectRow, effects_figure, save

IMAGES = Path(__file__).parent / "images"
SIZES = ["nothing", "under 1", "1 to 2", "over 2"]


def main() -> None:
    from causaldata import thornton_hiv

    people = thornton_hiv.load_pandas().data.dropna(subset=["got", "tinc"])
    people["cash"] = pd.cut(people.tinc, [-1, 0, 1, 2, 3], labels=SIZES).astype(str)
    found = [db.effect("cash -> got", people, do={"cash": size}, reward="got") for size in SIZES]
    rows = [EffectRow(f"voucher: {size}", e.mean, e.low, e.high) for size, e in zip(SIZES, found, strict=True)]
    title = "Vouchers in dollars, and who came"
    save(effects_figure(rows, xlabel="share that came for their result", title=title), IMAGES / "hiv-vouchers.png")
    names = ["causal-thompson", "thompson", "f-kube"]
    results = db.simulate(_problem(people), _Replay(people), names, trials=64, budgets=[250, 500, 750, 1000])
    save(results.plot("People lost against the best voucher, by dollars spent"), IMAGES / "hiv-regret.png")


def _problem(people: pd.DataFrame) -> db.Problem:
    paid = people.groupby("cash").tinc.mean()

    def cost(arm: db.Arm) -> float:
        cash = dict(arm.settings).get("cash")
        return 1 + float(people.tinc.mean() if cash is None else paid[cash])

    return db.Problem("cash -> got", reward="got", budget=1000, domains={"cash": SIZES}, costs=cost)


class _Replay:
    def __init__(self, people: pd.DataFrame) -> None:
        self.people = people

    def sample(self, arm: db.Arm, n: int, rng: np.random.Generator) -> Any:
        people = self.people
        rows = people[people.cash == dict(arm.settings)["cash"]] if arm.settings else people
        return rows[["cash", "got"]].astype({"got": int}).iloc[rng.integers(0, len(rows), n)]


if __name__ == "__main__":
    main()
