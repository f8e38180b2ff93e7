"""Writes docs/benchmark.md from a run: who wins where, by how much, and where we lose.

    python benchmarks/page.py [--trials 100] [--long 60] [--seed 314159] [--only sets] [--cluster tcp://host:8786]

It takes an hour and a half on two cores. What was played is kept in dobandit-out/benchmark, so that an interrupted run
goes on where it was; after a change of a policy delete the files that have its name. `--only` runs one section and puts
it in the place of the old one.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from _duels import (
    EXPLORE,
    NETWORKS,
    OURS,
    PAPER,
    SMOKE,
    THOMPSON,
    Bench,
    Duel,
    Extent,
    duels,
    first,
    growth,
    told,
)
from _script import options
from _sets import sets, structural
from dobandit.arrays import Flags
from dobandit.policies import policies_for
from dobandit.report import Page, Points, Section, Table, to_markdown
from dobandit.report.comparison import settled_text, table_of
from dobandit.report.page import Part, versions
from dobandit.simulation import cluster, processes, standard_error
from dobandit.suite import WORLDS, Comparison

PAGE = Path(__file__).parent.parent / "docs" / "benchmark.md"
KEPT = Path("dobandit-out") / "benchmark"
OFTEN = ("n5", "n6", "n6h", "n7")  # where trials are cheap
SURE = 2  # standard errors that make a difference
LONG_WORLDS = ("rand", "strong", "bow-strong", "rare")
PARALLEL = (
    "The weak point is the parallel graph at small budgets. It has up to a hundred arms whose mean looks like 1/2. "
    "The value of information is not concave, so a few pulls of one arm are worth nothing, and all arms seem equally "
    "useless. Two measures help. A decision considers three sums of money, the last sixteen times the first, and "
    "takes the best value per cost (as Frazier and Powell, Decision Analysis 2010, propose). And where P(Y | "
    "parents) is mostly empty, an arm is judged by a projection of the graph with smaller tables. With little money "
    "the policy is still weak. Algorithm 2 always spends half of the budget on the rarest values, and in this world "
    "these are the ones that matter."
)
WRONG_WORLD, TRUSTING = "reversed", f"{THOMPSON}[guard=false]"
STUCK = 0.4  # share of its regret that a stuck run gains in the second half


# -- cumulative and simple regret ----------------------------------------------------------------------


def cumulative(bench: Bench) -> Section:
    found, often = duels(bench, "cumulative", OFTEN), bench.extent.times
    others = found[0].others
    rows = []
    for duel in found:
        best = duel.best_other(-1)
        ratio = duel.regret(THOMPSON, -1).mean() / duel.regret(best, -1).mean()
        cells = [f"{duel.regret(name, -1).mean():.0f}" + "*" * (name == best) for name in others]
        paper = duel.regret(THOMPSON, -1).mean() / duel.regret(PAPER, -1).mean()
        rows.append([duel.where, duel.told(-1), *cells, f"{ratio:.2f}", f"{paper:.3f}"])
    text = (
        "The table shows the mean regret at a budget of B = 2,500, compared with the budget times the best mean per "
        "cost (the fractional optimum). An asterisk marks the best of the other policies. The last two columns are "
        "ratios: our regret divided by that of the best other policy, and by that of Algorithm 1 of the paper. "
        f"{', '.join(OFTEN)} have {bench.trials * often} trials: nearly all of their runs are perfect, so the mean "
        f"depends on the few others{_of_few(found, often)}."
    )
    return Section(
        "Cumulative regret",
        [text, Table(["world (costs)", THOMPSON, *others, "to the best", "to the paper"], rows), *losses(found)],
    )


def _of_few(found: Sequence[Duel], times: int) -> str:
    """How little fewer trials would have told."""
    regret = next(duel for duel in found if duel.found.world == "n6").regret(THOMPSON, -1)
    few = regret[: len(regret) // times]
    return f" (the first {len(few)} of n6 alone have {told(few)})"


def simple(bench: Bench) -> Section:
    found, budgets = duels(bench, "simple", closer=bench.extent.closer), bench.extent.curve
    own = bench.trials * bench.extent.closer
    others = found[0].others
    settled = [
        [
            duel.where,
            settled_text(duel.ours, EXPLORE),
            settled_text(first(duel.ours, duel.found.trials), EXPLORE),
            *(settled_text(duel.found, name) for name in others),
        ]
        for duel in found
    ]
    curves = [[duel.where, *(_against_best(duel, budget) for budget in budgets)] for duel in found]
    return Section(
        "Simple regret",
        [
            "The table shows the smallest budget of the grid from which the mean regret stays at 0.01 or below. "
            "Wrong recommendations are rare but costly, so means over a few trials are noisy: our policy runs "
            f"{own} trials. The other policies run the first {bench.trials} of them; the second "
            f"column shows ours on these {bench.trials}.",
            Table(["world (costs)", EXPLORE, f"first {bench.trials}", *others], settled),
            f"Mean regret of our policy in {own} trials, and of the best other policy at that budget.",
            Table(["world (costs)", *(f"B = {b:,.0f}" for b in budgets)], curves),
            *losses(found),
            PARALLEL,
        ],
    )


def _against_best(duel: Duel, budget: float) -> str:
    at = duel.found.grid.index(budget)
    best = duel.best_other(at)
    return f"{duel.told(at, 3)}; {duel.regret(best, at).mean():.3f} {best}"


def losses(found: Sequence[Duel]) -> list[Part]:
    """Where another policy is better than ours by more than chance explains."""
    lines = []
    for duel in found:
        for at, budget in enumerate(duel.found.grid):
            best = duel.best_other(at)
            difference = duel.regret(duel.name, at) - duel.regret(best, at)
            if difference.mean() > SURE * standard_error(difference):
                numbers = f"`{best}` {duel.regret(best, at).mean():.3g}, ours {duel.regret(duel.name, at).mean():.3g}"
                lines.append(f"{duel.where}, B = {budget:,.0f}: {numbers} (difference {told(difference, 3)})")
    said = (
        f"Where our policy loses (by a paired difference of more than {SURE} standard errors from the best other "
        "policy):"
    )
    return [said, Points(lines)] if lines else [f"{said} nowhere in these runs."]


# -- long runs, wrong graphs, a network ----------------------------------------------------------------


def long_runs(bench: Bench) -> Section:
    bench = bench._replace(seed=bench.seed + 1)  # other worlds than those of the tables
    worlds, budgets = bench.extent.worlds, bench.extent.long
    number = {w: bench.long if w in LONG_WORLDS or WORLDS[w].one_graph else bench.long // 6 for w in worlds}
    found = {w: bench.run(w, "cumulative", [THOMPSON], n, budgets=budgets) for w, n in number.items()}
    regret = {world: comparison.regret[THOMPSON] for world, comparison in found.items()}
    classes = [[world, str(len(r)), told(r[:, 0]), told(r[:, 1]), growth(r)] for world, r in regret.items()]
    single = [(world, trial) for world in LONG_WORLDS if world in worlds for trial in range(bench.long)]
    runs = sorted(single, key=lambda run: -regret[run[0]][run[1], 1])
    heads = [f"B = {budget:,.0f}" for budget in budgets]
    return Section(
        "Long runs",
        [
            "If a policy is stuck on a wrong arm, its regret grows in proportion to the budget: +100 %. The tables "
            f"show `{THOMPSON}` at the costs of the first table, on other worlds (seed {bench.seed}). A single unlucky "
            "run can have a large effect on the growth of a class.",
            Table(["world", "trials", *heads, "growth"], classes),
            f"The ten runs with the largest regret in {', '.join(LONG_WORLDS)}. The gap is the difference between the "
            "best mean per cost and the next one. To settle a gap of g takes about 1/g² pulls.",
            Table(
                ["world, trial", *heads, "gap", "best arm", "pulled most"],
                [_long_run(found[world], world, trial) for world, trial in runs[:10]],
            ),
        ],
    )


def _long_run(comparison: Comparison, world: str, trial: int) -> list[str]:
    first, last = comparison.regret[THOMPSON][trial]
    pulls = comparison.pulls[THOMPSON][trial, -1]
    best, most = int(np.nanargmax(comparison.means[trial] / comparison.prices[trial])), int(pulls.argmax())
    share = f"{comparison.arms[most]}, {pulls[most] / pulls.sum():.0%}"
    gap = comparison.gaps[trial]
    return [f"{world} {trial}", f"{first:.0f}", f"{last:.0f}", f"{gap:.4f}", comparison.arms[best], share]


def wrong_graph(bench: Bench) -> Section:
    policies, budgets = [THOMPSON, TRUSTING], bench.extent.wrong
    wrong = bench.run(WRONG_WORLD, "cumulative", policies, bench.trials, budgets=budgets, drop_hidden=True)
    rows = [[f"`{name}`", *_wrong_row(wrong, name)] for name in policies]
    trusting = wrong.regret[TRUSTING]
    stuck = np.flatnonzero(trusting[:, 1] - trusting[:, 0] > STUCK * trusting[:, 1]).tolist()
    hit = int(warned(wrong, THOMPSON)[stuck].sum())
    return Section(
        "A wrong graph",
        [
            f"The policy gets the graph without any of its hidden causes, in {bench.trials} worlds of the class "
            f"{WRONG_WORLD}, where that misleads most. The guard, a check of the graph against the outcomes, adds the "
            "hidden causes that the outcomes require.",
            Table(["", *(f"B = {budget:,.0f}" for budget in budgets), "largest", "runs with a warning"], rows),
            f"Without the guard, on the same worlds and outcomes, {len(stuck)} runs gain more than {STUCK:.0%} of "
            f"their regret in the second half of the budget. In {hit} of these, the guard warns that the data "
            "contradict the graph: either the rewards of one arm, or the outcomes of all arms together.",
        ],
    )


def _wrong_row(comparison: Comparison, name: str) -> list[str]:
    r = comparison.regret[name]
    return [told(r[:, 0]), told(r[:, 1]), f"{r[:, 1].max():.0f}", str(warned(comparison, name).sum())]


def warned(comparison: Comparison, name: str) -> Flags:
    """The trials in which the policy said, at the last budget, that the data contradict the graph."""
    marks = np.concatenate([comparison.contradictions[name], comparison.violations[name]], axis=2)
    return np.asarray(marks[:, -1].any(axis=1))


def network(bench: Bench) -> Section:
    parts: list[Part] = [
        "These are networks from files, with some variables hidden. `dobandit suite FILE.bif?...` runs any other "
        "network."
    ]
    for query in bench.extent.networks:
        for objective in OURS:
            found = bench.run(str(NETWORKS / query), objective, policies_for(objective), bench.trials)
            budgets = bench.extent.curve if objective == "simple" else found.grid
            parts += [f"`{query}`, {objective} regret, costs {found.costs}:", table_of(found, budgets)]
    return Section("Networks", parts)


# ------------------------------------------------------------------------------------------------------

SECTIONS: Sequence[Callable[[Bench], Section]] = (cumulative, simple, long_runs, wrong_graph, sets, structural, network)


def written(bench: Bench) -> str:
    extent = bench.extent
    names = (*extent.worlds, *extent.pairs, *extent.structural)
    worlds = Points([f"`{name}`: {WORLDS[name].about}" for name in names])
    about = Section(
        "The worlds",
        [
            "Every trial has a world of its own. Only the parallel classes and the networks are a single world each. "
            "All policies meet the same worlds, costs and random numbers. Observing costs 1. What an intervention "
            "costs is given in brackets behind the world: `near` means 1 to 1.3; 23 means 2 or 3; 25 means 2 to 5; "
            "57 means 5, 6 or 7. "
            "Setting several variables costs the sum.",
            worlds,
        ],
    )
    facts = {"seed": str(bench.seed), "trials": str(bench.trials), **versions()}
    lead = (
        "Which policy wins where, by how much, and where our policies lose. This page was generated by `make "
        "benchmark`. `dobandit suite` runs any part of it."
    )
    sections = [section(bench) for section in SECTIONS]
    return to_markdown(Page("Benchmark", lead, facts, [about, *sections]))


def with_section(page: str, name: str, bench: Bench) -> str:
    """The page with a new version of one section, or with one more at its end; it says how it was made."""
    section = {made.__name__: made for made in SECTIONS}[name](bench)
    facts = ", ".join(f"{key} {value}" for key, value in versions().items())
    how = f"python benchmarks/page.py --only {name} --trials {bench.trials} --long {bench.long} --seed {bench.seed}"
    new = to_markdown(Page("", "", {}, [section._replace(parts=[*section.parts, f"Made by `{how}` ({facts})."])]))
    new = new[new.index("## ") :]
    old = re.compile(rf"^## {re.escape(section.title)}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    return old.sub(lambda _: new + "\n", page).rstrip() + "\n" if old.search(page) else f"{page.rstrip()}\n\n{new}"


def main() -> None:
    asked = options(__doc__, trials=100, long=60, seed=314159, only="", workers=os.cpu_count() or 1, cluster="")
    at_work = cluster(asked.cluster) if asked.cluster else processes(asked.workers)
    with tempfile.TemporaryDirectory() as folder, at_work as pool:
        if asked.smoke:
            bench, page = Bench(2, 2, asked.seed, SMOKE, Path(folder), pool), Path(folder) / "benchmark.md"
        else:
            bench, page = Bench(asked.trials, asked.long, asked.seed, Extent(), KEPT, pool), PAGE
        start = time.perf_counter()
        text = with_section(PAGE.read_text("utf-8"), asked.only, bench) if asked.only else written(bench)
        page.write_text(text, "utf-8")
        print(f"wrote {page} in {(time.perf_counter() - start) / 60:.0f} minutes")


if __name__ == "__main__":
    main()
