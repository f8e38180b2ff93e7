"""`dobandit suite`: policies against each other on the benchmark's worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from dobandit.cli.common import FILE, console, print_json, say, several, with_common_options
from dobandit.cli.simulating import ALL, CLUSTER, SEED, WORKERS, check_length, crew, progress, ready, writing
from dobandit.cli.tables import cell, table
from dobandit.errors import counted, listing
from dobandit.files import filled
from dobandit.numerals import amount
from dobandit.policies import policy
from dobandit.problem import OBJECTIVES, Objective
from dobandit.suite import BUDGETS, COSTS, USUAL_COSTS, WORLDS, Comparison, compare, find

MOST_COLUMNS = 4  # budgets in a table


class _Explained(click.Command):
    """The names that the command knows, below its options."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Worlds"):
            formatter.write_dl([(source.name, source.about) for source in WORLDS.values()])
        with formatter.section("Or a network from a file, in quotes"):
            formatter.write_dl([("'FILE.bif?hide=A,B&reward=Y'", "A and B are hidden; Y is the reward.")])
        with formatter.section("Costs of interventions, drawn for every arm; do() costs 1"):
            formatter.write_dl([(name, _range(rule) + _usual_for(name)) for name, rule in COSTS.items()])


def _range(rule: Mapping[str, Sequence[float]]) -> str:
    ((kind, values),) = rule.items()
    if len(values) == 1:
        return "1 for every arm, also one that sets several variables"
    shown = [amount(value) for value in values]
    return f"between {' and '.join(shown)}" if kind == "uniform" else f"one of {', '.join(shown)}"


def _usual_for(costs: str) -> str:
    """Where these costs are the default: everywhere but in the worlds that have others."""
    told = []
    for objective, usual in USUAL_COSTS.items():
        names = [source.name for source in WORLDS.values() if source.costs[objective] == costs]
        if names:
            told.append(f"; default for {objective} regret" + ("" if costs == usual else f" in {listing(names)}"))
    return "".join(told)


def _usual_budgets(objective: str) -> str:
    budgets = [amount(b) for b in BUDGETS[objective]]
    shown = budgets[0] if len(budgets) == 1 else f"{len(budgets)} from {budgets[0]} to {budgets[-1]}"
    return f"{shown} ({objective})"


USUAL_BUDGETS = ", ".join(map(_usual_budgets, BUDGETS))


@click.command(cls=_Explained)
@click.argument("worlds", nargs=-1, metavar="[WORLD]...")
@click.option("--objective", type=click.Choice(OBJECTIVES), help="Default: that of the policies, otherwise cumulative.")
@click.option("--costs", type=click.Choice(list(COSTS)), help="See below; default: by the world.")
@several(
    "--budget", "budgets", "B", f"A budget (repeat); default: {USUAL_BUDGETS}.", click.FloatRange(0, min_open=True)
)
@several("--policy", "names", "P", "A policy (repeat), your own as module:Class, or 'all' that fit: the default.")
@click.option("--trials", default=20, show_default=True, type=click.IntRange(1), help="How many trials in each world.")
@SEED
@WORKERS
@CLUSTER
@click.option("--out", type=FILE, metavar="DIR", help="Write report.html, results.csv and figures there.")
@with_common_options
def command(
    worlds: tuple[str, ...],
    objective: Objective | None,
    costs: str | None,
    budgets: tuple[float, ...],
    names: tuple[str, ...],
    trials: int,
    seed: int,
    workers: int | None,
    cluster: str | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare policies on benchmark WORLDs (default: all). All policies meet the same worlds, costs and random numbers.

    Every trial of the random classes has a graph of its own. Regret is measured against the fractional optimum,
    the budget times the best mean per cost, or for simple regret against the best arm.
    """
    sources = [find(world) for world in worlds or WORLDS]  # so that a mistake is told before hours have passed
    chosen = list(dict.fromkeys(source.name for source in sources))
    for note in dict.fromkeys(source.note for source in sources if source.note):
        say(f"note: {note}", quiet)
    names = () if ALL in names else names
    goal: Objective = objective or _objective_of(names)
    grid = budgets or BUDGETS[goal]
    figures = len(set(grid)) > 1
    check_length(max(grid), trials, len(chosen) * max(len(names), 1))
    with ready(out, figures), progress(chosen, quiet) as report, crew(workers, cluster) as at_work:
        run = partial(compare, costs=costs, budgets=budgets or None, trials=trials, seed=seed)
        run = partial(run, executor=at_work.executor)
        comparisons = [
            run(world, goal, policies=names or None, progress=partial(report, world) if report else None)
            for world in chosen
        ]
    if not as_json:
        _show(comparisons)
    if out is not None:
        _write(comparisons, out, seed, quiet)
    if as_json:
        print_json({"results": [row for comparison in comparisons for row in _rows(comparison)]})


def _objective_of(names: Sequence[str]) -> Objective:
    return next(o for o in OBJECTIVES if not names or policy(names[0]).serves(o))


def _rows(comparison: Comparison) -> list[dict[str, float | str]]:
    """What the JSON document says of every policy and budget."""
    kind = {"world": comparison.world, "objective": comparison.objective, "costs": comparison.costs}
    of_all: dict[str, float | str] = {"trials": comparison.trials, "optimum": comparison.optimum}
    shown = ("policy", "budget", "regret", "se")
    return [{**kind, **{name: row[name] for name in shown}, **of_all} for row in comparison.summary()]


def _show(comparisons: Sequence[Comparison]) -> None:
    """A table for every world: policies against budgets."""
    from dobandit.report import AGAINST, table_of

    screen = console()
    for comparison in comparisons:
        found = table_of(comparison, _some(comparison.grid))
        policy, *numbers = found.head
        shown = table(policy, numbers=numbers, wrap=policy, gap=2)
        for row in found.rows:
            shown.add_row(*(f"[bold]{cell(text)}[/]" if text.endswith("*") else cell(text) for text in row))
        kind = f"{comparison.objective} regret, costs {comparison.costs}, {counted(comparison.trials, 'trial')}"
        screen.print(f"[bold]{cell(comparison.world)}[/]: {kind}")
        screen.print(f"[dim]{cell(comparison.about)}[/]")
        screen.print(shown)
        screen.print()
    screen.print(f"[dim]mean ± standard error, against {AGAINST[comparisons[0].optimum]}; * the lowest mean[/]")


def _some(budgets: Sequence[float]) -> list[float]:
    """As many budgets as a table has room for, the first and the last among them."""
    if len(budgets) <= MOST_COLUMNS:
        return list(budgets)
    return [budgets[round(i * (len(budgets) - 1) / (MOST_COLUMNS - 1))] for i in range(MOST_COLUMNS)]


def _write(comparisons: Sequence[Comparison], folder: Path, seed: int, quiet: bool) -> None:
    from dobandit.report import write_suite

    with writing(folder), filled(folder) as draft:
        write_suite(comparisons, draft, seed)
    figures = any(len(comparison.grid) > 1 for comparison in comparisons)
    beside = ", results.csv and the figures beside it" if figures else " and results.csv"
    say(f"wrote {folder / 'report.html'}{beside}", quiet)
