"""`dobandit plan`: how good the answer will be for a budget."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from dobandit.cli.common import FILE, PROBLEM, ROWS, console, print_json, read_rows, say, several, with_common_options
from dobandit.cli.run import POLICY, chosen_names
from dobandit.cli.simulating import CLUSTER, SEED, crew, progress
from dobandit.cli.tables import cell, table
from dobandit.errors import listing
from dobandit.evidence import fit
from dobandit.numerals import number
from dobandit.planning import TRIALS, Outlook, Plan, plan
from dobandit.policies import policy, spec_of
from dobandit.problem import Problem

EVIDENCE = f"Logged rows ({ROWS}): worlds agree with them, and policies that can read logs start from as many."
BUDGET = "A budget (repeat); default: from a sixteenth to eight times the file's."
WITHIN = "The loss that you accept, in units of the reward; default: 0.02 of its range."
DRAWING = "drawing worlds"
CHANCE = "The chance that you want of staying within this loss."


@click.command()
@PROBLEM
@click.option("--evidence", type=FILE, metavar="FILE", help=EVIDENCE)
@several("--budget", "budgets", "B", BUDGET, float)
@several("--policy", "names", "P", POLICY)
@click.option("--within", type=float, metavar="L", help=WITHIN)
@click.option("--chance", type=float, metavar="C", default=0.9, show_default=True, help=CHANCE)
@click.option("--trials", default=TRIALS, show_default=True, type=click.IntRange(2), help="How many worlds.")
@SEED
@click.option("--workers", type=click.IntRange(1), help="Number of processes; default: 1.")
@CLUSTER
@click.option("--plot", type=FILE, help="Draw regret and chances into this file (PNG, SVG, PDF).")
@with_common_options
def command(
    problem: Path,
    evidence: Path | None,
    budgets: tuple[float, ...],
    names: tuple[str, ...],
    within: float | None,
    chance: float,
    trials: int,
    seed: int,
    workers: int | None,
    cluster: str | None,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """How much budget does PROBLEM need? Predict the regret and the chances of a good answer for several budgets.

    Policies are simulated in many worlds on your graph. With a log, the worlds agree with it, and each has a log of the
    same size. Without one, the worlds are random. A [world] in the file is not used.
    """
    found = Problem.load(problem)
    chosen = chosen_names(names, found, quiet)
    source = None if evidence is None else fit(read_rows(evidence), found)
    if source is not None and (others := [name for name in chosen if not policy(name).reads_logs]):
        say(f"note: {listing(others)} cannot start from a log and ran without it", quiet)
    labels = [spec_of(policy(name)) for name in chosen]
    with progress(labels, quiet, DRAWING, again=2) as report, crew(workers, cluster, default=1) as at_work:
        work = partial(plan, executor=at_work.executor, batch=at_work.batch(trials), progress=report)
        made = work(found, source, budgets or None, chosen, within, chance, trials, seed)
    if plot is not None:
        from dobandit.plots import save

        save(made.plot(), plot)
        say(f"wrote {plot}", quiet)
    if as_json:
        print_json(_document(made))
    else:
        _show(made)


def _document(made: Plan) -> dict[str, Any]:
    return {
        "budgets": made.to_dicts(),
        "needed": made.needed,
        "objective": made.objective,
        "within": made.within,
        "chance": made.chance,
        "log_rows": made.log_rows,
        "other_logs": [{"log_rows": row.log_rows, **row.to_dict()} for row in made.other_logs],
        "trials": made.trials,
        "assumptions": list(made.assumptions),
    }


def _show(made: Plan) -> None:
    screen = console()
    heads = (f"{made.objective} regret", "± se", "best option", f"within {number(made.within, 3)}")
    shown = table("policy", numbers=("budget", *heads))
    for row in made.rows:
        shown.add_row(cell(row.policy), *row.cells())
    screen.print(shown)
    if made.other_logs:
        logs = table(numbers=("rows of log", "budget", *heads))
        for row in _by_log(made):
            logs.add_row(f"{row.log_rows:,}", *row.cells())
        screen.print("", logs, sep="\n")
    screen.print("", *made.told(), *(f"[dim]{cell(sentence)}[/]" for sentence in made.assumptions), sep="\n")


def _by_log(made: Plan) -> list[Outlook]:
    """The same policy and budget with all logs, the present one among them."""
    policy_, budget = made.other_logs[0].policy, made.other_logs[0].budget
    present = [row for row in made.of(policy_) if row.budget == budget]
    return sorted([*made.other_logs, *present], key=lambda row: row.log_rows)
