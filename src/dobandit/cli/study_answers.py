"""The commands of `dobandit study` that only look."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dobandit import study as studies
from dobandit.cli import study_verify
from dobandit.cli.common import answer, console, print_json, say, with_common_options
from dobandit.cli.page import Grid, Line, Part, in_colours, show
from dobandit.cli.tables import cell, table
from dobandit.errors import counted
from dobandit.numerals import amount
from dobandit.printable import printable
from dobandit.report import (
    AT_ALL_TIMES,
    NO_RANGE,
    event_in_words,
    interval,
    lost,
    measure,
    moment,
    nothing_known,
    number,
    percent,
    said_of_best,
    said_of_ranges,
    sources,
    stop_in_words,
    tied,
)
from dobandit.study import Pulls, Study

if TYPE_CHECKING:
    from dobandit.study import Best, Status

STUDY = click.argument("study")
PULL = click.argument("pull", metavar="ID", type=int)


def study_command(function: Callable[..., None]) -> click.Command:
    """A command whose first argument is a study, which is open while it runs."""

    @wraps(function)
    def run(study: str, **given: Any) -> None:
        with Study.open(study) as opened:
            function(opened, **given)

    own_options = run.__dict__.pop("__click_params__", [])  # which the help shows before the common ones
    command = click.command()(STUDY(with_common_options(run)))
    command.params[1:1] = reversed(own_options)
    return command


@study_command
@click.option("--watch", is_flag=True, help="Show it again every second, until interrupted.")
@click.option("--anytime", is_flag=True, help="Show intervals that hold however often you look.")
def status(study: Study, watch: bool, anytime: bool, as_json: bool, quiet: bool) -> None:
    """Show how the budget is used, and what is known about every arm.

    With --anytime, arms have an interval that holds at all times and for all arms together, from the rewards of their
    own pulls alone, whatever policy led to them and whatever makes you stop.
    """
    if as_json:
        print_json(studies.status_document(study.status(anytime)))
    elif watch:
        _watch(study, anytime)
    else:
        show(_status_page(study, anytime))


def _watch(study: Study, anytime: bool) -> None:
    """On a terminal, the page is drawn again in its place; elsewhere, one page follows the other."""
    from rich.live import Live

    screen = console()
    if not screen.is_terminal:
        while True:
            screen.print(f"{moment(time.time())} UTC", in_colours(_status_page(study, anytime)), "", sep="\n")
            screen.file.flush()
            time.sleep(1.0)
    with Live(in_colours(_status_page(study, anytime)), console=screen, auto_refresh=False) as live:
        while True:
            time.sleep(1.0)
            live.update(in_colours(_status_page(study, anytime)), refresh=True)


def _status_page(study: Study, anytime: bool) -> Iterator[Part]:
    found, problem = study.status(anytime), study.problem
    yield from _money(found)
    yield from _counts(found)
    yield f"recommended now: {found.recommended}; {lost(found.expected_loss, problem)}"
    if found.stop is not None:
        yield stop_in_words(found.stop, problem)
    yield _options(found)
    if anytime:
        yield AT_ALL_TIMES if problem.has_range else NO_RANGE
    yield from said_of_ranges(found.arms, problem.goal)
    yield from (Line("warning", f": {text}") for text in found.warnings)
    yield Line(f"{counted(found.events, 'event')}, head {found.head}", style="dim")


def _money(found: Status) -> Iterator[Part]:
    total, spent, reserved, free, overdraft = map(amount, found.budget)
    yield f"{spent} of {total} spent, {reserved} reserved, {free} free"
    if found.budget.overdraft:
        yield Line(f"overdrawn by {overdraft}", ": outcomes came late, or experiments were recorded without asking")


def _counts(found: Status) -> Iterator[str]:
    expired = f" ({found.expired} expired)" if found.expired else ""
    yield (
        f"{counted(found.told, 'pull')} done, {found.open:,} open{expired}, {counted(found.logged, 'logged row')}; "
        f"policy {found.policy}"
    )
    if found.uncounted:
        yield f"another version of dobandit counted {', '.join(found.uncounted)}: observe these files again"
    if found.incomplete:
        yield f"{counted(found.incomplete, 'outcome')} with unknown values: paid, but not part of the evidence"


def _options(found: Status) -> Grid:
    """A row for every arm. Intervals that hold at all times stand in place of the others, if they were asked for."""
    which = "95% at all times" if any(arm.anytime for arm in found.arms) else "95% interval"
    rows = []
    for arm in found.arms:
        own = "" if arm.own_mean is None else number(arm.own_mean)
        ends = interval(arm.low, arm.high) if arm.anytime is None else interval(*arm.anytime)
        numbers = [amount(arm.cost), str(arm.pulls), str(arm.open), number(arm.mean), ends]
        numbers.append(percent(arm.probability_best, short=True))
        rows.append((arm.arm, *numbers, own, f"{arm.own_rows:,}", arm.warning or ""))
    heads = ("cost", "pulls", "open", "mean", which, "best", "own mean", "own rows")
    return Grid(("arm",), heads, rows, has_remarks=True)


@study_command
def pulls(study: Study, as_json: bool, quiet: bool) -> None:
    """List the open pulls: who has them, and since when.

    An expired pull goes to the next worker who asks. Times are UTC.
    """
    held = study.pulls()
    if as_json:
        print_json(studies.open_pulls_document(held))
        return
    if not held:
        say("No pull is open.", quiet)
        return
    shown = table("pull", "arm", "worker", "begun", "expires", "state")
    for pull in held:
        until = "" if pull.expires is None else f"{pull.expires:%Y-%m-%d %H:%M}"
        begun = f"{pull.begun:%Y-%m-%d %H:%M}"
        shown.add_row(str(pull.id), cell(pull.arm), cell(pull.worker), begun, until, pull.state)
    console().print(shown)


@study_command
def best(study: Study, as_json: bool, quiet: bool) -> None:
    """Show the arm that the study recommends, and how sure that is.

    In a study for cumulative regret, that is the arm with the highest mean per cost.
    """
    found, problem = study.best(), study.problem
    if as_json:
        print_json(studies.best_document(found))
        return
    mean, ends = number(found.mean) or "not known yet", interval(found.low, found.high) or "not known yet"
    what = f"mean {problem.reward} {mean}, 95% interval {ends}, cost {amount(found.cost)}"
    click.echo(f"{printable(found.arm)}: {what}")
    ranked = "the highest mean per cost" if found.criterion == "mean per cost" else "the best arm"
    click.echo(f"{ranked} with probability {percent(found.probability_best)}; {_tried(found)}")
    click.echo(f"If you stop now, {printable(lost(found.expected_loss, problem))} against the best option.")
    for line in tied(found, problem):
        click.echo(printable(line))
    if unsure := nothing_known(found, len(problem.arms)):
        click.echo(printable(unsure))
    click.echo(sources(found.observational))
    if unidentified := said_of_best(found):
        click.echo(unidentified)
    for warning in found.warnings:
        click.echo(f"warning: {printable(warning)}")


def _tried(found: Best) -> str:
    """How often the arm was tried, in the study and in its logs."""
    pulls, logged = f"{counted(found.pulls, 'pull')} of its own", found.own_rows - found.pulls
    if found.arm == "do()" or logged <= 0:
        return pulls
    return f"{pulls}, and {counted(logged, 'logged experiment')}"


def _warned(text: str) -> str:
    return f"[bold]warning[/]: {cell(text)}"


@study_command
@PULL
def explain(study: Study, pull: int, as_json: bool, quiet: bool) -> None:
    """Explain pull ID: why it was chosen, in a sentence, and the numbers behind that."""
    found, good = study.explain(pull), 1 if study.problem.goal == "max" else -1
    if as_json:
        print_json(studies.explained_document(found))
        return
    numbers = ["cost", "mean", "95% interval", *filter(None, [found.measure])]
    shown = table("arm", numbers=numbers)
    shown.add_column("")
    for arm in sorted(found.arms, key=lambda arm: -(good * arm.mean if arm.index is None else arm.index)):
        index = [] if arm.index is None else [measure(arm.index)]
        mark = " <-" if arm.arm == found.arm else ""
        known = [amount(arm.cost), number(arm.mean), interval(arm.low, arm.high), *index]
        shown.add_row(cell(arm.arm) + mark, *known, arm.warning or "")
    screen = console()
    screen.print(cell(f"Pull {found.id} is {found.arm}. {found.reason}"))
    meaning = [] if found.measure is None else [cell(f"{found.measure}: {found.measured}")]
    ranges = map(cell, said_of_ranges(found.arms, study.problem.goal))
    screen.print(shown, *meaning, *ranges, *map(_warned, found.warnings), sep="\n")


@study_command
def log(study: Study, as_json: bool, quiet: bool) -> None:
    """Show the history of the study; times are UTC."""
    if as_json:
        print_json(studies.log_document(study.log()))
        return
    names = [str(arm) for arm in study.problem.arms]
    for event in study.events():
        pull = "" if event.pull is None else event.pull
        what = printable(event_in_words(event.content, names))
        click.echo(f"{event.number:>5}  {moment(event.time)}  {event.kind:<9} {pull:>5}  {what}".rstrip())


@study_command
@click.argument("file", type=click.Path(path_type=Path))
def export(study: Study, file: Path, as_json: bool, quiet: bool) -> None:
    """Write all outcomes to FILE: .csv, .json or .parquet."""
    rows = study.export(file)
    answer({"path": str(file), "rows": rows}, f"wrote {counted(rows, 'outcome')} to {file}", as_json, quiet)


@study_command
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A .png, .svg or .pdf.")
def plot(study: Study, out: Path, as_json: bool, quiet: bool) -> None:
    """Draw the spending and the estimates over time, and what is known about every arm."""
    from dobandit.plots import save

    save(study.plot(), out)
    answer({"path": str(out)}, f"wrote {out}", as_json, quiet)


COMMANDS = (status, pulls, best, explain, log, export, plot, study_verify.command)


def show_pulls(handed_out: Pulls) -> None:
    """What to carry out, as a table."""
    if not handed_out:
        return
    rows = []
    for pull in handed_out:
        until = "" if pull.expires is None else f"{pull.expires:%Y-%m-%d %H:%M} UTC"
        rows.append((str(pull.id), str(pull.arm), amount(pull.cost), until))
    show([Grid(("pull",), ("arm", "cost", "expires"), rows)])
