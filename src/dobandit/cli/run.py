"""`dobandit run`: policies against each other on a problem's world."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from dobandit import worlds
from dobandit.cli.common import (
    FILE,
    PROBLEM,
    ROWS,
    console,
    print_json,
    read_rows,
    say,
    several,
    with_common_options,
    world_of,
)
from dobandit.cli.simulating import ALL, CLUSTER, SEED, check_length, crew, progress, ready, writing
from dobandit.cli.tables import cell, table
from dobandit.errors import counted, listing
from dobandit.evidence import NONE_MISSING, fit
from dobandit.files import filled
from dobandit.policies import left_out, name_of, policies_for, policy, spec_of
from dobandit.problem import Problem, Stop
from dobandit.report import AGAINST, comparison_page, number, rule_in_words, summary_rows, write_html
from dobandit.simulation import Results, simulate
from dobandit.worlds import World

EVIDENCE = f"Logged rows of this world ({ROWS}); policies that can read logs start from them, free of charge."
POLICY = "A policy (repeat for more), 'all' that fit, or your own as module:Class; default: the recommended one."
STOP = "A stopping rule: probability=0.95, loss=0.01, pulls_ahead=1000 or min_pulls=10 (repeat to combine)."
WORTH_PROCESSES = 256  # trials from which starting processes pays


@click.command()
@PROBLEM
@several("--policy", "names", "P", POLICY)
@click.option("--trials", default=100, show_default=True, type=click.IntRange(1), help="How many trials.")
@several("--budget", "budgets", "B", "A budget (repeat); default: the file's.", float)
@several("--stop", "stop", "RULE", STOP)
@click.option("--evidence", type=FILE, metavar="FILE", help=EVIDENCE)
@SEED
@click.option("--workers", type=click.IntRange(1), help="Number of processes; default: chosen by the number of trials.")
@CLUSTER
@click.option("--out", type=FILE, metavar="DIR", help="Write report.html, results.csv and regret.png there.")
@with_common_options
def command(
    problem: Path,
    names: tuple[str, ...],
    trials: int,
    budgets: tuple[float, ...],
    stop: tuple[str, ...],
    evidence: Path | None,
    seed: int,
    workers: int | None,
    cluster: str | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Simulate the world of PROBLEM: the regret of one policy, or of several under the same conditions.

    Without a [world], every trial has a random world on your graph.
    """
    found, rule = Problem.load(problem), _rule(stop)
    found.with_stop(rule)  # so that a wrong one is refused before any work is done
    chosen = chosen_names(names, found, quiet)
    labels = [spec_of(policy(name)) for name in chosen]
    check_length((max((*budgets, 0.0)) or found.budget) / _cheapest(found), trials, len(chosen))
    usual = None if trials >= WORTH_PROCESSES else 1
    with ready(out, figures=True), progress(labels, quiet) as report, crew(workers, cluster, usual) as at_work:
        start, world = time.perf_counter(), _world(found, problem, quiet)
        grid = budgets or None
        source = None if evidence is None else fit(read_rows(evidence), found)
        play = partial(simulate, executor=at_work.executor, batch=at_work.batch(trials), progress=report)
        results = play(found, world, chosen, trials, seed, grid, source, stop=rule)
        seconds = time.perf_counter() - start
    _say_notes(results, chosen, evidence is not None, quiet)
    missing = NONE_MISSING if source is None else source.affected
    if not as_json:
        _show(results)
        if sentence := missing.told():
            console().print(sentence)
        say(f"{results.rounds:,} pulls in {seconds:.1f} s", quiet)
    if out is not None:
        facts = {"problem": problem.name, "policies": str(len(chosen)), "seed": str(seed)}
        _write(results, found, out, facts, quiet)
    if as_json:
        print_json({**_document(results, seconds), **({"missing": missing._asdict()} if source else {})})


def _cheapest(problem: Problem) -> float:
    """The lowest cost of a pull, as far as it is known before costs are drawn."""
    return min([cost for cost in problem.costs if isinstance(cost, float)], default=1.0)


def _say_notes(results: Results, chosen: list[str], has_log: bool, quiet: bool) -> None:
    for warning in results.warnings():
        say(f"warning: {warning}", quiet)
    if has_log and (others := [name for name in chosen if not policy(name).reads_logs]):
        say(f"note: {listing(others)} cannot start from a log and ran without it", quiet)


def _document(results: Results, seconds: float) -> dict[str, Any]:
    return {
        "objective": results.objective,
        "trials": results.trials,
        "seconds": seconds,
        "rounds": results.rounds,
        "optimum": results.optimum,
        "results": results.summary(),
        "warnings": results.warnings(),
        **(
            {} if results.stopping is None else {"stop": results.stopping.rule.to_plain(), "savings": results.savings()}
        ),
    }


def _rule(parts: tuple[str, ...]) -> dict[str, Any] | None:
    """`probability=0.95` and the like as a stopping rule."""
    found: dict[str, Any] = {}
    for part in parts:
        name, _, number = part.partition("=")
        try:
            found[name.strip().replace("-", "_")] = float(number)
        except ValueError:
            raise click.UsageError(f"--stop {part}: write a rule such as probability=0.95 or loss=0.01") from None
    return found | ({"gain_per_cost": True} if "pulls_ahead" in found else {}) or None


def chosen_names(names: tuple[str, ...], problem: Problem, quiet: bool) -> list[str]:
    """The policies that were named, by default the recommended one for the objective."""
    fitting = policies_for(problem.objective, problem)
    for note in left_out(problem.objective, problem) if ALL in names else ():
        say(f"note: {note}", quiet)
    wanted = [each for name in names for each in (fitting if name == ALL else [name_of(policy(name))])]
    return list(dict.fromkeys(wanted)) if ALL in names else wanted or fitting[:1]


def _world(problem: Problem, path: Path, quiet: bool) -> World | Callable[[int], World]:
    """One world for all trials, or a new one for each, as the file says."""
    if problem.world is None:
        say("note: the problem has no [world]; every trial has a random world on its graph", quiet)
        return lambda seed: worlds.random(problem.full_graph, seed, problem.known_values)
    if problem.world.get("redraw"):
        return lambda seed: world_of(problem, path, seed)
    return world_of(problem, path)


def _show(results: Results) -> None:
    shown = table("policy", numbers=("budget", f"{results.objective} regret", "± se", "spent", "pulls"))
    for name, *numbers in summary_rows(results):
        shown.add_row(cell(name), *numbers)
    remark = f"[dim]means over {counted(results.trials, 'trial')}, against {AGAINST[results.optimum]}[/]"
    console().print(shown, remark, sep="\n")
    if results.stopping is not None:
        _show_savings(results, results.stopping.rule)


def _show_savings(results: Results, rule: Stop) -> None:
    """What the stopping rule saved, and how often the answer was right."""
    columns = ("budget", "stopped", "spent", "quartiles", "saved", "right", "right if stopped")
    shown = table("policy", numbers=(*columns, *(["within loss"] if rule.loss is not None else [])))
    for row in results.savings():
        spent = [number(row["spent"]), " ".join(number(part) for part in row["quartiles"])]
        shares = [row["right"], row["right_if_stopped"], *([row["within"]] if rule.loss is not None else [])]
        texts = ["" if share is None else f"{share:.0%}" for share in shares]
        shown.add_row(
            cell(row["policy"]), number(row["budget"]), f"{row['stopped']:.0%}", *spent, f"{row['saved']:.0%}", *texts
        )
    console().print("", cell(f"Rule: {rule_in_words(rule)}."), shown, sep="\n")


def _write(results: Results, problem: Problem, folder: Path, facts: dict[str, str], quiet: bool) -> None:
    """Tidy results, a figure, and a page with both."""
    page = comparison_page(results, f"Policies on {facts['problem']}", facts, problem)
    with writing(folder), filled(folder) as draft:
        results.write(draft / "results.csv")
        write_html(page, draft, "png")
    say(f"wrote {folder / 'report.html'}, results.csv, regret.png and graph.png", quiet)
