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
    hiv_incentives()
    smoking()
    job_training()


def smoking() -> None:
    from causaldata import nhefs_complete

    people = nhefs_complete.load_pandas().data
    causes = "sex, race, age, education, smokeintensity, smokeyrs, exercise, active, wt71"
    graphs = {
        "plain difference": "qsmk -> wt82_71",
        "adjusted for nine confounders": f"{{{causes}}} -> {{qsmk, wt82_71}}; qsmk -> wt82_71",
    }
    rows = [_difference(label, graph, people, "qsmk", "wt82_71") for label, graph in graphs.items()]
    rows.append(EffectRow("published (Hernán and Robins)", 3.4, 2.4, 4.5))
    title = "Weight gained by those who quit smoking"
    save(effects_figure(rows, xlabel="kg more than without quitting", title=title), IMAGES / "smoking.png")


def job_training() -> None:
    from causaldata import cps_mixtape, nsw_mixtape

    experiment, survey = nsw_mixtape.load_pandas().data, cps_mixtape.load_pandas().data
    observed = pd.concat([experiment[experiment.treat == 1], survey])
    samples = {"log: trained and survey": observed, "experiment: drawn by lot": experiment}
    rows = [_difference(label, "treat -> re78", sample, "treat", "re78") for label, sample in samples.items()]
    title = "What training changes in yearly earnings"
    save(effects_figure(rows, xlabel="dollars in 1978", title=title), IMAGES / "job-training.png")
    costs = {"do()": 2, "do(treat=0)": 1, "do(treat=1)": 5}
    problem = db.Problem(
        db.Graph("treat -> re78; treat <-> re78"),
        reward={"variable": "re78", "range": [0, 60308]},
        objective="simple",
        budget=1200,
        arms=["do(treat=0)", "do(treat=1)"],
        costs=costs,
    )
    budgets = [75, 150, 300, 600, 1200]
    replay = _Replay(experiment, "treat", "re78")
    results = db.simulate(problem, replay, ["causal-explore", "uniform"], trials=200, budgets=budgets)
    figure = results.plot("Dollars lost by a wrong recommendation, by the budget")
    save(figure, IMAGES / "job-training-replay.png")


def _difference(label: str, graph: str, people: pd.DataFrame, cause: str, reward: str) -> EffectRow:
    found = db.effect(graph, people, do={cause: 1}, versus={cause: 0}, reward=reward)
    return EffectRow(label, found.mean, found.low, found.high)


def hiv_incentives() -> None:
    from causaldata import thornton_hiv

    people = thornton_hiv.load_pandas().data.dropna(subset=["got", "tinc"])
    people["cash"] = pd.cut(people.tinc, [-1, 0, 1, 2, 3], labels=SIZES).astype(str)
    found = [db.effect("cash -> got", people, do={"cash": size}, reward="got") for size in SIZES]
    rows = [EffectRow(f"voucher: {size}", e.mean, e.low, e.high) for size, e in zip(SIZES, found, strict=True)]
    title = "Vouchers in dollars, and who came"
    save(effects_figure(rows, xlabel="share that came for their result", title=title), IMAGES / "hiv-vouchers.png")
    names = ["causal-thompson", "thompson", "f-kube"]
    results = db.simulate(
        _problem(people), _Replay(people, "cash", "got"), names, trials=64, budgets=[250, 500, 750, 1000]
    )
    save(results.plot("People lost against the best voucher, by dollars spent"), IMAGES / "hiv-regret.png")


def _problem(people: pd.DataFrame) -> db.Problem:
    paid = people.groupby("cash").tinc.mean()

    def cost(arm: db.Arm) -> float:
        cash = dict(arm.settings).get("cash")
        return 1 + float(people.tinc.mean() if cash is None else paid[cash])

    return db.Problem("cash -> got", reward="got", budget=1000, domains={"cash": SIZES}, costs=cost)


class _Replay:
    """Draws one of the people for whom the cause was what the arm sets."""

    def __init__(self, people: pd.DataFrame, cause: str, reward: str) -> None:
        self.people, self.cause, self.reward = people, cause, reward

    def sample(self, arm: db.Arm, n: int, rng: np.random.Generator) -> Any:
        people = self.people
        if arm.settings:
            people = people[people[self.cause].astype(str) == dict(arm.settings)[self.cause]]
        people = people.iloc[rng.integers(0, len(people), n)]
        return {column: people[column].to_numpy() for column in (self.cause, self.reward)}


if __name__ == "__main__":
    main()
