"""The command line: read, call, print. Every command lives in the module of its name."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from dobandit import __version__
from dobandit.errors import DobanditError

COMMANDS = {
    "init": "Write a commented problem to start from.",
    "check": "Validate a problem and show what each arm can learn from observations.",
    "effect": "Estimate effects of interventions from logged rows.",
    "sample": "Draw rows from the world of a problem.",
    "policies": "List the policies with their objectives and citations.",
    "run": "Simulate policies on a problem and compare their regret.",
}

EXIT_CODES = """Exit codes: 0 done, 2 bad usage or input, 5 storage that cannot be written, 130 interrupted, 1 a bug."""


class _Commands(click.Group):
    """Commands that are imported when they are called, so that `--help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"dobandit.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Commands, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dobandit")
def group() -> None:
    """Budgeted causal bandits with hidden confounders: what to try next, why, and what is best.

    Start with `dobandit init problem.toml`, edit the file, then `dobandit check problem.toml`.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a user's mistake ends in a sentence on stderr and an exit code, never in a traceback."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that has no Σ shows a question mark
    try:
        code: Any = group.main([a for a in arguments if a != "--debug"], "dobandit", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
        sys.exit(0)
    except DobanditError as error:
        if debug:
            raise
        for line in str(error).splitlines():
            click.echo(f"error: {line}", err=True)
        sys.exit(error.exit_code)
    except Exception as error:
        if debug:
            raise
        click.echo(f"error: this is a bug in dobandit ({type(error).__name__}: {error})", err=True)
        click.echo("run the command again with --debug and report what it prints", err=True)
        sys.exit(1)
