"""`dobandit init`: a commented problem to start from."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from dobandit.cli.common import FILE, answer, open_new, with_common_options

START = "start"


def examples() -> dict[str, str]:
    """The problems that come with the program, by name."""
    problems = [entry for entry in files("dobandit.examples").iterdir() if entry.name.endswith(".toml")]
    return {entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8") for entry in problems}


def names() -> list[str]:
    """What `--example` takes."""
    return sorted(name for name in examples() if name != START)


@click.command()
@click.argument("file", type=FILE)
@click.option("--example", metavar="NAME", default=START, help=f"An example instead: {', '.join(names())}.")
@with_common_options
def command(file: Path, example: str, as_json: bool, quiet: bool) -> None:
    """Write a commented problem to FILE, to be edited and then checked with `dobandit check FILE`."""
    known = examples()
    if example not in known:
        raise click.UsageError(f"there is no example {example!r}; there are {', '.join(names())}")
    with open_new(file) as out:
        out.write(known[example])
    answer({"path": str(file)}, f"wrote {file}; edit it, then: dobandit check {file}", as_json, quiet)
