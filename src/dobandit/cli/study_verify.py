"""`dobandit study verify`: the whole history of a study, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dobandit import study as studies
from dobandit.cli.common import print_json, say, with_common_options
from dobandit.errors import StudyError, counted
from dobandit.printable import printable

if TYPE_CHECKING:
    from dobandit.study import Verification


@click.command("verify")
@click.argument("study")
@click.option("--head", metavar="HASH", help="A head that you wrote down earlier: it must be part of the history.")
@click.option("--against", metavar="COPY", help="A copy of the study: one of the two must be the other's past.")
@with_common_options
def command(study: str, head: str | None, against: str | None, as_json: bool, quiet: bool) -> None:
    """Check the whole history: that no event was changed, lost or moved, and that the totals are right.

    Prints the head: a hash that covers all events. Write it down, and compare it with that of copies. Exit code 4 if
    something is wrong.
    """
    found = studies.verify(study, head, against)
    if as_json:
        print_json(studies.verified_document(found))
    elif found.ok:
        click.echo(f"{counted(found.events, 'event')} verified{_since(found)}; study {printable(found.study)}")
        click.echo(f"head {found.head}")
    else:
        for fault in found.faults:
            say(f"error: {printable(fault)}", quiet)
    if not found.ok:
        raise click.exceptions.Exit(StudyError.exit_code)


def _since(found: Verification) -> str:
    if found.since == 1:
        return ""
    if found.since > found.events:
        return " to make sense, without hashes: an earlier version wrote them, and the next change adds the first hash"
    return f" from event {found.since} on; those before were written by an earlier version, without hashes"
