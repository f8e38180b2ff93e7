"""The part of the benchmark's page about options that set several variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from _duels import EXPLORE, THOMPSON, Bench, growth, told
from dobandit.errors import listing
from dobandit.problem import Objective
from dobandit.report import Section, Table
from dobandit.report.comparison import settled_text

POMIS = "thompson[arms=pomis]"
SET_RIVALS: Mapping[Objective, Sequence[str]] = {
    "cumulative": ("thompson", "f-kube", "ucb"),
    "simple": ("successive-rejects", "sh-rr", "uniform"),
}


def sets(bench: Bench) -> Section:
    earned, explored = [], []
    for world in bench.extent.pairs:
        found = bench.run(world, "cumulative", [THOMPSON, *SET_RIVALS["cumulative"]], bench.trials)
        ours, *others = (found.regret[name][:, -1] for name in found.policies)
        best = min(float(r.mean()) for r in others)
        earned.append([f"{world} ({found.costs})", told(ours), *map(told, others), f"{ours.mean() / best:.2f}"])
        settled = bench.run(world, "simple", [EXPLORE], bench.trials, budgets=bench.extent.explored)
        rivals = bench.run(world, "simple", SET_RIVALS["simple"], bench.trials, budgets=bench.extent.others)
        cells = [settled_text(rivals, name) for name in rivals.policies]
        explored.append([f"{world} ({settled.costs})", settled_text(settled, EXPLORE), *cells])
    return Section(
        "Options that set several variables",
        [
            "The table shows the mean cumulative regret at B = 2,500 if arms set up to two variables. The last column "
            "is our regret divided by that of the best other policy. Algorithms for single variables cannot play "
            "these arms.",
            Table(["world (costs)", THOMPSON, *SET_RIVALS["cumulative"], "to the best"], earned),
            "The smallest budget from which the mean simple regret stays at 0.01 or below. "
            f"`{EXPLORE}` was run with budgets of {_listed(bench.extent.explored)}, the others with "
            f"{_listed(bench.extent.others)}.",
            Table(["world (costs)", EXPLORE, *SET_RIVALS["simple"]], explored),
        ],
    )


def structural(bench: Bench) -> Section:
    rows = [[f"`{name}`", world, *cells] for world in bench.extent.structural for name, cells in _rounds(bench, world)]
    return Section(
        "Structural bandits",
        [
            "These are the graphs of structural bandits (Lee and Bareinboim, NeurIPS 2018). Arms set any variables "
            f"together, and every pull costs 1. `{POMIS}` plays only arms that can be the best one according to the "
            "graph. A few unlucky runs cause most of the late loss, so the growth differs by several points between "
            "seeds.",
            Table(["policy", "world", *(f"T = {t:,.0f}" for t in bench.extent.rounds), "growth"], rows),
        ],
    )


def _listed(budgets: Sequence[float]) -> str:
    return listing(f"{budget:,.0f}" for budget in budgets)


def _rounds(bench: Bench, world: str) -> Iterator[tuple[str, list[str]]]:
    found = bench.run(world, "cumulative", [THOMPSON, POMIS], bench.trials, costs="unit", budgets=bench.extent.rounds)
    for name, regret in found.regret.items():
        yield name, [told(regret[:, 0]), told(regret[:, 1]), growth(regret)]
