"""`dobandit token`: who may use the service."""

from __future__ import annotations

from pathlib import Path

import click

from dobandit.cli.common import answer, console, print_json, say, with_common_options
from dobandit.cli.tables import table
from dobandit.service import ROLES, Role, TokenFile

NAME = click.argument("name")
FILE = click.option("--tokens", type=click.Path(path_type=Path), metavar="FILE", help="Default: the user's own file.")


@click.group()
def command() -> None:
    """Decide who may use `dobandit serve`.

    Viewers read; workers also ask, tell and record; managers do everything.
    """


@command.command()
@NAME
@click.option("--role", required=True, type=click.Choice(ROLES), help="What they may do.")
@FILE
@with_common_options
def add(name: str, role: Role, tokens: Path | None, as_json: bool, quiet: bool) -> None:
    """Add a token for NAME and print it, once.

    NAME is what the log of a study says of the one who has the token.
    """
    secret = TokenFile(tokens).add(name, role)
    if as_json:
        print_json({"name": name, "role": role, "token": secret})
        return
    click.echo(secret)
    say("This is shown once. Send it as: Authorization: Bearer TOKEN, or set DOBANDIT_TOKEN.", quiet)


@command.command("list")
@FILE
@with_common_options
def list_(tokens: Path | None, as_json: bool, quiet: bool) -> None:
    """List the tokens."""
    found = TokenFile(tokens).all()
    if as_json:
        print_json({"tokens": [{"name": t.name, "role": t.role, "added": t.added} for t in found]})
        return
    if not found:
        say("There are no tokens yet.", quiet)
        return
    shown = table("name", "role", "added")
    for token in found:
        shown.add_row(token.name, token.role, token.added)
    console().print(shown, markup=False)


@command.command()
@NAME
@FILE
@with_common_options
def revoke(name: str, tokens: Path | None, as_json: bool, quiet: bool) -> None:
    """Revoke the token of NAME, at once."""
    TokenFile(tokens).revoke(name)
    answer({"name": name}, f"Revoked the token of {name}.", as_json, quiet)
