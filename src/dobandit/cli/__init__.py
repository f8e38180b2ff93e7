"""The command line: read, call, print. Every command lives in the module of its name."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import click

from dobandit import __version__
from dobandit.cli.passwords import without_passwords
from dobandit.errors import DobanditError
from dobandit.files import reason
from dobandit.memory import limited
from dobandit.printable import printable_lines, shortened

COMMANDS = {
    "init": "Write a commented problem to start from.",
    "check": "Validate a problem and show what each arm can learn from observations.",
    "effect": "Estimate effects of interventions from logged rows.",
    "sample": "Draw rows from the world of a problem.",
    "policies": "List the policies with their objectives and citations.",
    "plan": "Predict how good the answer will be for a budget, before you spend it.",
    "run": "Simulate policies on a problem and compare their regret.",
    "reproduce": "Rerun the paper's experiments and compare them with its published curves.",
    "suite": "Compare policies on the benchmark's worlds.",
    "study": "Spend a real budget: ask what to try next, report the outcomes.",
    "serve": "Show studies as web pages, and answer programs over HTTP.",
    "token": "Decide who may use the service.",
}

EXIT_CODES = """Exit codes: 0 done, 2 bad usage or input, 3 nothing to ask, 4 a study or pull that is missing, exists
already or conflicts, 5 storage that is busy or cannot be written, 130 interrupted, 1 a bug."""


class _Commands(click.Group):
    """Commands that are imported when they are called, so that `--help` is quick."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise BrokenPipeError from None  # without its number, for which click would exit with code 1

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
@click.option("--debug", is_flag=True, expose_value=False, hidden=True)
@click.option("--memory", metavar="SIZE", help="The largest size of a table in memory, such as 4GB. Default: 1GB.")
@click.pass_context
def group(context: click.Context, memory: str | None) -> None:
    """Budgeted causal bandits with hidden confounders: what to try next, why, and what is best.

    Start with `dobandit init problem.toml`, edit the file, then `dobandit check problem.toml`.
    """
    if memory is not None:
        context.with_resource(limited(memory))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a user's mistake ends in a sentence on stderr and an exit code, never in a traceback."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _prepare_streams()
    # NumPy's library for matrices starts threads when it is loaded, which takes as long as a short command. More
    # threads would not be faster, because we multiply few large matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000, 20, 20)  # nothing that is imported is garbage: looking for it slows a short command down
    atexit.register(gc.freeze)  # nor at the end, when the system takes all of it
    try:
        code: Any = group.main(list(arguments), "dobandit", standalone_mode=False)
        sys.stdout.flush()
    except Exception as error:
        text, code = _explained(error)
        if "--debug" in arguments and not isinstance(error, BrokenPipeError):
            _trace(error, arguments)
        _say(without_passwords(text, arguments))
    except KeyboardInterrupt:
        code = 130
        _say("interrupted")
    sys.exit(code if isinstance(code, int) else 0)


def _explained(error: Exception) -> tuple[str, int]:
    """What went wrong in words, and the exit code."""
    match error:
        case click.Abort():  # made of a KeyboardInterrupt, which may say how to go on
            return "; ".join(["interrupted", *map(str, getattr(error.__cause__, "args", ()))]), 130
        case click.exceptions.NoArgsIsHelpError():
            return error.format_message(), 2
        case click.ClickException():
            usage = f"{error.ctx.get_usage()}\n\n" if isinstance(error, click.UsageError) and error.ctx else ""
            return f"{usage}Error: {_with_hint(_cut(error.format_message()))}", 2
        case DobanditError():
            return "\n".join(f"error: {line}" for line in str(error).splitlines()), error.exit_code
        case BrokenPipeError():
            _forget(sys.stdout)
            return "", 0  # the reader has seen enough
        case OSError():
            _forget(sys.stdout)
            return f"error: the output cannot be written: {reason(error)}", 5
    if place := _outside(error):
        return f"error: your own code failed ({type(error).__name__}: {error}), in {place}", 2
    return (
        f"error: this is a bug in dobandit ({type(error).__name__}: {error})\n"
        "run the command again with --debug and report what it prints",
        1,
    )


def _cut(message: str) -> str:
    """The message with long words cut: click repeats what it cannot read, such as a number of 5,000 digits."""
    return re.sub(r"[^\s']{200,}", lambda found: shortened(found[0]), message)


def _with_hint(message: str) -> str:
    """Half of `--do contact channel=phone` is an argument too many."""
    if message.startswith("Got unexpected extra argument") and "=" in message:
        return f"{message.removesuffix('.')}. Put quotes around names with a space: 'contact channel=phone'"
    return message


def _trace(error: BaseException, arguments: Sequence[str]) -> None:
    """Show a traceback."""
    import traceback

    _say(without_passwords("".join(traceback.format_exception(error)), arguments))


def _say(text: str) -> None:
    try:
        click.echo(printable_lines(text), err=True, nl=bool(text))
        sys.stderr.flush()
    except OSError:
        _forget(sys.stderr)  # the message is lost, but the exit code still says what happened


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that has no Σ shows a question mark


def _outside(error: Exception) -> str | None:
    """The file and line of a plug-in in which an error was raised; None if it was in an installed package."""
    import traceback

    *_, frame = [None, *traceback.extract_tb(error.__traceback__)]
    if frame is None or any(folder in Path(frame.filename).parts for folder in ("dobandit", "site-packages")):
        return None
    is_standard = Path(frame.filename).is_relative_to(Path(traceback.__file__).parent)
    return None if is_standard or not Path(frame.filename).exists() else f"{frame.filename}, line {frame.lineno}"


def _forget(stream: TextIO) -> None:
    """What could not be written is not tried again when the program ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
