"""The commands of `dobandit study` that only look."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dobandit.cli.common import console, print_json, say, with_common_options
from dobandit.study import Pulls, Study
from dobandit.study.answers import Status
from dobandit.study.outcomes import written
from dobandit.study.tickets import as_datetime

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

STUDY = click.argument("study")
PULL = click.argument("pull", metavar="ID", type=int)


@click.command()
@STUDY
@click.option("--watch", is_flag=True, help="Show it again every second, until interrupted.")
@with_common_options
def status(study: str, watch: bool, as_json: bool, quiet: bool) -> None:
    """Where the money is, and what is known of every arm."""
    with Study.open(study) as opened:
        if as_json:
            print_json(_status_document(opened.status()))
        elif watch:
            _watch(opened)
        else:
            console().print(_status_page(opened.status()))


def _status_document(found: Status) -> dict[str, Any]:
    return {
        "policy": found.policy,
        "budget": found.budget._asdict(),
        "pulls": {"open": found.open, "expired": found.expired, "told": found.told},
        "logged": found.logged,
        "uncounted": list(found.uncounted),
        "arms": [arm._asdict() for arm in found.arms],
    }


def _watch(study: Study) -> None:
    from rich.live import Live

    with Live(_status_page(study.status()), console=console(), auto_refresh=False) as live:
        while True:
            time.sleep(1.0)
            live.update(_status_page(study.status()), refresh=True)


def _status_page(found: Status) -> Group:
    from rich.console import Group
    from rich.markup import escape

    money = found.budget
    lines = [f"{money.spent:g} of {money.total:g} spent, {money.reserved:g} reserved, {money.free:g} free"]
    if money.overdraft:
        lines.append(f"[bold]overdrawn by {money.overdraft:g}[/]: outcomes came late, or experiments unasked")
    expired = f" ({found.expired} expired)" if found.expired else ""
    lines.append(f"{found.told} pulls told, {found.open} open{expired}, {found.logged:,} logged rows; {found.policy}")
    if found.uncounted:
        lines.append(f"another version has counted {escape(', '.join(found.uncounted))}: observe these files anew")
    table = _table("arm", "cost", "pulls", "open", "mean", "95% interval")
    table.add_column("")
    for arm in found.arms:
        interval = f"{arm.low:.4g} to {arm.high:.4g}"
        numbers = [f"{arm.cost:g}", str(arm.pulls), str(arm.open), f"{arm.mean:.4g}", interval]
        table.add_row(escape(arm.arm), *numbers, arm.warning or "")
    return Group(*lines, table)


@click.command()
@STUDY
@with_common_options
def best(study: str, as_json: bool, quiet: bool) -> None:
    """The arm that the study recommends, and how sure that is."""
    with Study.open(study) as opened:
        found, problem = opened.best(), opened.problem
    if as_json:
        print_json(found._asdict())
        return
    click.echo(f"{found.arm}: mean {problem.reward} {found.mean:.4g}, 95% interval {found.low:.4g} to {found.high:.4g}")
    click.echo(f"the best arm with probability {found.probability_best:.0%}; {found.pulls} pulls of its own")
    click.echo(f"{found.observational:.0%} of the evidence are plain observations")


@click.command()
@STUDY
@PULL
@with_common_options
def explain(study: str, pull: int, as_json: bool, quiet: bool) -> None:
    """Why pull ID: the numbers that its arm won by."""
    with Study.open(study) as opened:
        found = opened.explain(pull)
    if as_json:
        print_json({**found._asdict(), "arms": [vars(arm) for arm in found.arms]})
        return
    from rich.markup import escape

    table = _table("arm", "cost", "mean", "95% interval", "index")
    for arm in sorted(found.arms, key=lambda arm: -(arm.index if arm.index is not None else arm.mean)):
        index = "" if arm.index is None else f"{arm.index:.4g}"
        mark = " <-" if arm.arm == found.arm else ""
        interval = f"{arm.low:.4g} to {arm.high:.4g}"
        table.add_row(escape(arm.arm) + mark, f"{arm.cost:g}", f"{arm.mean:.4g}", interval, index)
    screen = console()
    screen.print(escape(f"pull {found.id} is {found.arm}: {found.reason}"))
    screen.print(table)


@click.command()
@STUDY
@with_common_options
def log(study: str, as_json: bool, quiet: bool) -> None:
    """The history, as it was written down."""
    with Study.open(study) as opened:
        events, arms = opened.log(), opened.problem.arms
    if as_json:
        print_json({"events": [{**e._asdict(), "content": _without_counts(e.content)} for e in events]})
        return
    for event in events:
        moment = as_datetime(event.time)
        pull = "" if event.pull is None else f"{event.pull} "
        what = _told_in_words(event.content, [str(arm) for arm in arms])
        click.echo(f"{event.number:>5}  {moment:%Y-%m-%d %H:%M:%S}  {event.kind} {pull}{what}".rstrip())


def _without_counts(content: Mapping[str, Any]) -> dict[str, Any]:
    """What happened, without the tables of a log."""
    return {key: value for key, value in content.items() if key != "evidence"}


def _told_in_words(content: Any, arms: list[str]) -> str:
    parts = [arms[content["arm"]]] if "arm" in content else []
    parts += [written(content["outcome"])] if "outcome" in content else []
    shown = ("policy", "seed", "worker", "name", "rows", "amount", "reason")
    parts += [f"{key} {content[key]}" for key in shown if content.get(key) not in (None, "")]
    parts += ["refunded"] if content.get("refund") else []
    return ", ".join(parts)


@click.command()
@STUDY
@click.argument("file", type=click.Path(path_type=Path))
@with_common_options
def export(study: str, file: Path, as_json: bool, quiet: bool) -> None:
    """Write all outcomes to FILE: .csv, .json or .parquet."""
    with Study.open(study) as opened:
        rows = opened.export(file)
    if as_json:
        print_json({"path": str(file), "rows": rows})
    else:
        say(f"wrote {rows:,} outcomes to {file}", quiet)


@click.command()
@STUDY
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A .png, .svg or .pdf.")
@with_common_options
def plot(study: str, out: Path, as_json: bool, quiet: bool) -> None:
    """Draw the spending over time, and what is known of every arm."""
    from dobandit.plots import save

    with Study.open(study) as opened:
        save(opened.plot(), out)
    if as_json:
        print_json({"path": str(out)})
    else:
        say(f"wrote {out}", quiet)


COMMANDS = (status, best, explain, log, export, plot)


def show_pulls(pulls: Pulls) -> None:
    """What to carry out, as a table."""
    from rich.markup import escape

    if not pulls:
        return
    table = _table("pull", "arm", "cost", "expires")
    for pull in pulls:
        until = "" if pull.expires is None else f"{pull.expires:%Y-%m-%d %H:%M} UTC"
        table.add_row(str(pull.id), escape(str(pull.arm)), f"{pull.cost:g}", until)
    console().print(table)


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table
