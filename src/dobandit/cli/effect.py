"""`dobandit effect`: what interventions would do, estimated from observations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import click

from dobandit.cli.common import (
    FILE,
    PROBLEM,
    console,
    print_json,
    read_arm,
    say,
    several,
    with_common_options,
    world_of,
)
from dobandit.cli.tables import number, table
from dobandit.errors import ArmError, listing
from dobandit.estimate.observational import Effect, effects, naive_means
from dobandit.evidence import open_source
from dobandit.identification import identify
from dobandit.problem import Arm, Goal, Problem

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command()
@PROBLEM
@click.argument("data", type=FILE)
@several("--do", "settings", "X=VALUE", "The intervention; may be given several times.")
@click.option("--all", "all_arms", is_flag=True, help="All arms; those that observations cannot tell get no numbers.")
@click.option("--weights", metavar="COLUMN", help="A column of counts or probabilities of the rows.")
@click.option("--level", default=0.95, show_default=True, type=SHARE, help="The level of the intervals.")
@click.option("--truth", is_flag=True, help="Also show the true means, where the problem has a [world].")
@click.option("--plot", type=FILE, help="Draw the effects into this file (PNG, SVG, PDF).")
@with_common_options
def command(
    problem: Path,
    data: Path,
    settings: tuple[str, ...],
    all_arms: bool,
    weights: str | None,
    level: float,
    truth: bool,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Estimate the effects of interventions in PROBLEM from the logged rows in DATA (CSV or Parquet).

    Only plain observations count: where there is a column `intervention`, its rows other than do() are left out.
    """
    found = Problem.load(problem)
    arms = _arms(found, settings, all_arms)
    source = open_source(data, weights)
    estimates = effects(found, source, arms, level)
    if plot is not None or not as_json:
        true_means = _true_means(found, problem, arms) if truth else [math.nan] * len(arms)
        answers = list(map(Answer, arms, estimates, naive_means(found, source, arms), true_means))
    if plot is not None:
        _draw(found, answers, plot)
        say(f"wrote {plot}", quiet)
    if as_json:
        rows = zip(arms, estimates, strict=True)
        print_json({"effects": [{"arm": str(arm), **vars(estimate)} for arm, estimate in rows]})
    else:
        _show(found, answers, level, truth)


class Answer(NamedTuple):
    """What is known about an arm; NaN where nothing is."""

    arm: Arm
    estimate: Effect
    naive: float
    truth: float


def _arms(problem: Problem, settings: tuple[str, ...], all_arms: bool) -> list[Arm]:
    """The arms that were asked for; one that observations cannot tell is an error unless all are asked for."""
    if all_arms == bool(settings):
        raise click.UsageError("say which effect: --do X=VALUE (once or several times), or --all")
    if all_arms:
        return list(problem.arms)
    arms = [_arm(problem, setting) for setting in dict.fromkeys(settings)]
    for arm in arms:
        identify(problem.graph, arm.variables[0], problem.reward)
    return arms


def _arm(problem: Problem, setting: str) -> Arm:
    arm = read_arm(setting).within(problem.domains)
    others = [v for v in problem.graph.variables if v != problem.reward]
    if len(arm.variables) != 1 or not set(arm.variables) <= set(others):
        raise ArmError(f"--do {setting}: there is no such variable to set; there are {listing(others)}")
    for variable, value in arm.settings:
        if value not in problem.domains[variable]:
            raise ArmError(f"--do {setting}: the values of {variable} are {listing(problem.domains[variable])}")
    return arm


def _true_means(problem: Problem, path: Path, arms: list[Arm]) -> list[float]:
    if problem.world is None:
        raise click.UsageError("--truth needs a problem with a [world]")
    means = dict(zip(problem.arms, world_of(problem, path).means(problem).tolist(), strict=True))
    return [means.get(arm, math.nan) for arm in arms]


def _show(problem: Problem, answers: list[Answer], level: float, truth: bool) -> None:
    from rich.markup import escape

    numbers = [f"mean {problem.reward}", f"{level:.0%} interval", "rows", "naive", *(["true"] if truth else [])]
    shown = table("arm", numbers=numbers)
    shown.add_column("method")
    for arm, e, naive, true in sorted(answers, key=lambda answer: _rank(answer.estimate.mean, problem.goal)):
        known = e.method != "none"
        cells = [f"{e.mean:.4g}", f"{e.low:.4g} to {e.high:.4g}", f"{e.n:,}"] if known else ["", "", ""]
        cells += [number(naive), *([number(true)] if truth else [])]
        shown.add_row(escape(str(arm)), *cells, e.method if known else "not identifiable")
    screen = console()
    screen.print(shown)
    screen.print("[dim]naive: the mean of the rows that happened to have this value, confounding included[/]")


def _rank(mean: float, goal: Goal) -> float:
    return math.inf if math.isnan(mean) else -mean if goal == "max" else mean


def _draw(problem: Problem, answers: list[Answer], path: Path) -> None:
    from dobandit.plots import EffectRow, effects_figure, save

    rows = []
    for arm, e, *others in answers:
        known = (None if math.isnan(value) else value for value in (e.mean, e.low, e.high, *others))
        rows.append(EffectRow(str(arm), *known))
    title, xlabel = f"Effects on {problem.reward}", f"mean of {problem.reward}"
    save(effects_figure(rows, title=title, xlabel=xlabel, low_is_good=problem.goal == "min"), path)
