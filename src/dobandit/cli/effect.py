"""`dobandit effect`: what interventions would do, estimated from observations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from dobandit.cli.common import (
    FILE,
    PROBLEM,
    console,
    print_json,
    read_arm,
    read_rows,
    say,
    several,
    with_common_options,
    world_of,
)
from dobandit.errors import ArmError, DataError, NotIdentifiable, listing
from dobandit.estimate.observational import Bounds, Effects, Question, arm_bounds, estimates, naive_means
from dobandit.evidence import Source, fit
from dobandit.identification import identify
from dobandit.problem import Arm, Problem

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command()
@PROBLEM
@click.argument("data", type=FILE)
@several("--do", "settings", "X=VALUE", "The intervention; may be given several times.")
@click.option("--versus", metavar="X=VALUE", help="Another intervention, or do(): also show the difference from it.")
@click.option("--all", "all_arms", is_flag=True, help="All arms; those that observations do not identify get bounds.")
@click.option("--bounds", is_flag=True, help="Where the rows do not identify a mean: the range that agrees with them.")
@click.option("--weights", metavar="COLUMN", help="A column of counts or probabilities of the rows.")
@click.option("--level", default=0.95, show_default=True, type=SHARE, help="The level of the intervals.")
@click.option("--truth", is_flag=True, help="Also show the true means, where the problem has a [world].")
@click.option("--plot", type=FILE, help="Draw the effects into this file (PNG, SVG, PDF).")
@with_common_options
def command(
    problem: Path,
    data: Path,
    settings: tuple[str, ...],
    versus: str | None,
    all_arms: bool,
    bounds: bool,
    weights: str | None,
    level: float,
    truth: bool,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Estimate the effects of interventions in PROBLEM from the logged rows in DATA.

    DATA is a CSV, Parquet or JSON lines file, a quoted pattern for several files, or - for standard input.

    Only plain observations count: where there is a column `intervention`, its rows other than do() are left out.
    """
    found = Problem.load(problem)
    if bounds and versus is not None:
        raise click.UsageError("differences have no bounds: leave out --versus or --bounds")
    arms = _arms(found, settings, all_arms, bounds)
    other = None if versus is None else _arm(found, "--versus", versus)
    source = fit(read_rows(data, weights), found)
    table = Effects(
        [Question(arm, other) for arm in arms],
        estimates(found, source, arms, level, other),
        found.reward,
        found.goal,
        level,
        _bounds(found, source, arms, level, bounds) if other is None and (all_arms or bounds) else (),
    )
    if plot is not None or not as_json:
        table = replace(table, naive=_differences(lambda of: naive_means(found, source, of), arms, other))
    if truth:
        table = replace(table, truth=_differences(lambda of: _true_means(found, problem, of), arms, other))
    if plot is not None:
        _draw(table, plot)
        say(f"wrote {plot}", quiet)
    if as_json:
        print_json({"effects": table.to_dicts(), "left_out": table.left_out, "missing": table.missing._asdict()})
    else:
        console().print(table)


def _bounds(
    problem: Problem, source: Source, arms: list[Arm], level: float, are_asked_for: bool
) -> list[Bounds | None]:
    """The bounds of what observations do not identify; where nothing else is asked for, they must exist."""
    if are_asked_for and not problem.has_range:
        hint = f"give {problem.reward} a range ([reward] range = [0, 10])"
        raise DataError(f"--bounds needs the ends of the reward: {hint}")
    return arm_bounds(problem, source, arms, level)


def _arms(problem: Problem, settings: tuple[str, ...], all_arms: bool, bounds: bool) -> list[Arm]:
    """The arms that were asked for; one that observations cannot tell is an error unless all, or bounds, are asked
    for."""
    if all_arms == bool(settings):
        raise click.UsageError("say which effect: --do X=VALUE (once or several times), or --all")
    if all_arms:
        return list(problem.arms)
    arms = [_arm(problem, "--do", setting) for setting in dict.fromkeys(settings)]
    for arm in arms if not bounds else ():
        try:
            identify(problem.graph, arm.variables, problem.reward)
        except NotIdentifiable as error:
            more = (
                "add --bounds to see what the rows leave possible"
                if problem.has_range
                else "only an experiment can show it"
            )
            raise DataError(f"{error}; {more}") from None
    return arms


def _arm(problem: Problem, option: str, setting: str) -> Arm:
    arm = read_arm(setting).within(problem.domains)
    others = [v for v in problem.graph.variables if v != problem.reward]
    if arm.observes and option == "--versus":
        return arm
    if arm.observes or not set(arm.variables) <= set(others):
        raise ArmError(f"{option} {setting}: there is no such variable to set; there are {listing(others)}")
    arm.codes(problem.domains)  # a value that there is not is refused here
    return arm


def _differences(means: Callable[[list[Arm]], list[float]], arms: list[Arm], versus: Arm | None) -> list[float]:
    """The means of these arms, less that of the other one if there is one."""
    if versus is None:
        return means(arms)
    *found, less = means([*arms, versus])  # together, so that an arm differs from itself by nothing at all
    return [mean - less for mean in found]


def _true_means(problem: Problem, path: Path, arms: list[Arm]) -> list[float]:
    if problem.world is None:
        raise click.UsageError("--truth needs a problem with a [world]")
    means = dict(zip(problem.arms, world_of(problem, path).means(problem).tolist(), strict=True))
    return [means.get(arm, math.nan) for arm in arms]


def _draw(table: Effects, path: Path) -> None:
    from dobandit.plots import EffectRow, effects_figure, save

    unknown = [math.nan] * len(table)
    rows = []
    bounds = table.bounds or [None] * len(table)
    for (question, e), b, *others in zip(table, bounds, table.naive or unknown, table.truth or unknown, strict=True):
        mean, low, high, naive, truth = (None if math.isnan(v) else v for v in (e.mean, e.low, e.high, *others))
        ends = None if b is None else (b.low, b.high)
        rows.append(EffectRow(str(question.arm), mean, low, high, naive, truth, ends))
    title, xlabel = f"Effects on {table.reward}", f"mean of {table.reward}"
    if table.questions[0].versus is not None:
        xlabel = f"difference in the {xlabel} to {table.questions[0].versus}"
    save(effects_figure(rows, title=title, xlabel=xlabel, low_is_good=table.goal == "min"), path)
