"""What all commands share: their options, and how they talk."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from dobandit.errors import ArmError, ProblemError, WorldError
from dobandit.files import new_file
from dobandit.json_text import json_text
from dobandit.printable import printable_lines
from dobandit.problem import Arm, Problem

if TYPE_CHECKING:
    from rich.console import Console

    from dobandit.evidence import Source
    from dobandit.worlds import World

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)
PROBLEM = click.argument("problem", type=FILE)
ROWS = "CSV, Parquet or JSON lines; a quoted pattern for several files, - for standard input"
OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout and nothing else."),
    click.option("--quiet", is_flag=True, help="No notes or warnings on stderr."),
    # `main` looks for --debug among the arguments.
    click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."),
)
NARROWEST = 100  # columns of tables and drawings where there is no terminal to ask


def several(option: str, variable: str, metavar: str, help: str, type: Any = str) -> Callable[[F], F]:
    """An option that may be given more than once."""
    return click.option(option, variable, multiple=True, metavar=metavar, type=type, help=help)


def with_common_options(function: F) -> F:
    """Add --json, --quiet and --debug; the command gets `as_json` and `quiet`."""

    @wraps(function)
    def command(*args: Any, **kwargs: Any) -> Any:
        with spoken_warnings(kwargs["quiet"]):
            return function(*args, **kwargs)

    for option in reversed(OPTIONS):
        command = option(command)
    return command  # type: ignore[return-value]


@contextmanager
def spoken_warnings(quiet: bool) -> Iterator[None]:
    """Warnings of the library become notes on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    said = {str(w.message): issubclass(w.category, Note) for w in caught if issubclass(w.category, UserWarning)}
    for text, is_note in said.items():
        say(f"{'note' if is_note else 'warning'}: {text}", quiet)


class Note(UserWarning):
    """Something to know about the answer, which is said after it."""


def read_rows(path: Path, weights: str | None = None) -> Source:
    """The rows of a file, of several (a pattern) or of standard input (`-`); how they were read is said at the end."""
    from dobandit.evidence import open_source

    source = open_source(path, weights)
    for note in source.notes:
        warnings.warn(note, Note, stacklevel=2)
    return source


def say(text: str, quiet: bool) -> None:
    """Talk: to stderr, and not at all if the user wants quiet."""
    if not quiet:
        click.echo(printable_lines(text), err=True)


def answer(document: dict[str, Any], sentence: str, as_json: bool, quiet: bool) -> None:
    """What was done, as JSON or as a sentence."""
    if as_json:
        print_json(document)
    else:
        say(sentence, quiet)


def print_json(document: object) -> None:
    click.echo(json_text(document))


def console(at_least: int = NARROWEST) -> Console:
    """Where tables are printed: the terminal at its width, or a page with so many columns."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the reader has seen enough; rich would end with an exit code of its own

        def print(self, *objects: Any, **how: Any) -> None:
            """Texts may be those of others; tables have escaped their cells."""
            super().print(*(printable_lines(o) if isinstance(o, str) else o for o in objects), **how)

    screen = Screen(highlight=False, emoji=False)
    return screen if screen.is_terminal else Screen(highlight=False, emoji=False, width=max(screen.width, at_least))


@contextmanager
def open_new(file: Path) -> Iterator[TextIO]:
    """A new text file, open for writing."""
    with new_file(file) as draft, draft.open("w", encoding="utf-8", newline="") as out:
        yield out


def read_arm(text: str) -> Arm:
    """An arm, written do(X=1) or just X=1."""
    if not text.strip():
        raise ArmError("an arm is missing: write do(), or do(X=value)")
    return Arm.parse(text if text.lstrip().startswith("do") and "(" in text else f"do({text})")


def world_of(problem: Problem, path: Path, seed: int | None = None) -> World:
    """The world of a problem file; what is wrong with it is told with its place in the file."""
    from dobandit import worlds
    from dobandit.problem import located

    try:
        return worlds.of(problem, seed)
    except ProblemError as error:
        raise located(error, path) from None
    except WorldError as error:
        raise WorldError(f"{path}: world: {error}") from None
