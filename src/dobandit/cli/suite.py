"""`dobandit suite`: policies against each other on the benchmark's worlds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from dobandit.cli.common import console, print_json, say, with_common_options
from dobandit.cli.progress import progress
from dobandit.errors import StorageError
from dobandit.policies import policy
from dobandit.problem.definition import OBJECTIVES
from dobandit.simulation.processes import processes
from dobandit.suite import COSTS, WORLDS, Comparison, compare, find

MOST_COLUMNS = 4  # budgets in a table


@click.command(epilog="Worlds: " + ", ".join(WORLDS) + "; or FILE.bif?hide=A,B&reward=Y.")
@click.argument("worlds", nargs=-1, metavar="[WORLD]...")
@click.option("--objective", type=click.Choice(OBJECTIVES), help="Default: that of the policies, else cumulative.")
@click.option("--costs", type=click.Choice(list(COSTS)), help="Of interventions; do() costs 1. Default: by the world.")
@click.option(
    "--budget",
    "budgets",
    multiple=True,
    type=click.FloatRange(0, min_open=True),
    metavar="B",
    help="A budget (repeat).",
)
@click.option("--policy", "names", multiple=True, metavar="P", help="A policy (repeat); default: all that fit.")
@click.option("--trials", default=20, show_default=True, type=click.IntRange(1), help="How many trials in each world.")
@click.option("--seed", default=0, show_default=True, help="The seed of worlds, costs and outcomes.")
@click.option("--workers", type=click.IntRange(1), help="Processes; default: the cores.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write report.html, results.csv and figures there."
)
@with_common_options
def command(
    worlds: tuple[str, ...],
    objective: str | None,
    costs: str | None,
    budgets: tuple[float, ...],
    names: tuple[str, ...],
    trials: int,
    seed: int,
    workers: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare policies on benchmark WORLDs (all, if none is named), all of them on the same worlds, costs and luck.

    Every trial of the random classes has a graph of its own. Regret is measured against the fractional optimum,
    the budget times the best mean per cost, or for simple regret against the best arm.
    """
    chosen = list(dict.fromkeys(worlds)) or list(WORLDS)
    for world in chosen:
        find(world)  # so that a mistake is told before hours have passed
    goal = objective or _objective_of(names)
    with progress(chosen, quiet) as report, _executor(workers) as executor:
        comparisons = [
            compare(
                world,
                goal,
                costs=costs,
                budgets=budgets or None,
                policies=names or None,
                trials=trials,
                seed=seed,
                executor=executor,
                progress=partial(report, world) if report else None,
            )
            for world in chosen
        ]
    if out is not None:
        _write(comparisons, out, seed, quiet)
    if as_json:
        print_json({"results": [row._asdict() for comparison in comparisons for row in comparison.summary()]})
    else:
        _show(comparisons)


def _objective_of(names: Sequence[str]) -> str:
    return policy(names[0]).objective if names else OBJECTIVES[0]


@contextmanager
def _executor(workers: int | None) -> Iterator[Executor | None]:
    wanted = workers or os.cpu_count() or 1
    if wanted == 1:
        yield None
        return
    with processes(wanted) as pool:
        yield pool


def _show(comparisons: Sequence[Comparison]) -> None:
    """A table for every world: policies against budgets."""
    from rich.markup import escape
    from rich.table import Table

    from dobandit.report.page import AGAINST
    from dobandit.report.suite import table_of

    screen = console()
    for comparison in comparisons:
        shown = table_of(comparison, _some(comparison.budgets))
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for i, name in enumerate(shown.head):
            is_number = i >= shown.words
            table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number)
        for row in shown.rows:
            table.add_row(*(f"[bold]{escape(cell)}[/]" if cell.endswith("*") else escape(cell) for cell in row))
        kind = f"{comparison.objective} regret, costs {comparison.costs}, {comparison.trials} trials"
        screen.print(f"[bold]{escape(comparison.world)}[/]: {kind}")
        screen.print(table)
        screen.print()
    screen.print(f"[dim]mean ± standard error, against {AGAINST[comparisons[0].optimum]}; * the lowest mean[/]")


def _some(budgets: Sequence[float]) -> list[float]:
    """As many budgets as a table has room for, the first and the last among them."""
    if len(budgets) <= MOST_COLUMNS:
        return list(budgets)
    return [budgets[round(i * (len(budgets) - 1) / (MOST_COLUMNS - 1))] for i in range(MOST_COLUMNS)]


def _write(comparisons: Sequence[Comparison], folder: Path, seed: int, quiet: bool) -> None:
    from dobandit.report.suite import write_report

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_report(comparisons, folder, seed)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    say(f"wrote {folder / 'report.html'}, results.csv and the figures beside it", quiet)
