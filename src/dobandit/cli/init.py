"""`dobandit init`: a commented problem to start from, or one proposed from data."""

from __future__ import annotations

import shlex
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from dobandit.cli.common import FILE, answer, open_new, read_rows, say, with_common_options
from dobandit.errors import counted
from dobandit.files import replacing
from dobandit.numerals import number

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
@click.option("--example", metavar="NAME", help=f"An example instead: {', '.join(names())}.")
@click.option("--data", type=FILE, metavar="LOG", help="Propose the problem from the columns of these rows.")
@click.option("--reward", metavar="COLUMN", help="With --data: the column whose mean you want to be large (or small).")
@click.option(
    "--graph", type=FILE, metavar="GRAPH", help="With --data: take the edges from this file (DOT, dagitty, ...)."
)
@with_common_options
def command(
    file: Path,
    example: str | None,
    data: Path | None,
    reward: str | None,
    graph: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a commented problem to FILE, to be edited and then checked with `dobandit check FILE`.

    With --data and --reward, the problem is proposed from a log: its variables with their values, bins for numbers, and
    why columns were set aside. Where FILE exists and has `{quantiles = 4}` in [bins], --data replaces these by the cut
    points of the rows.
    """
    if data is None and (reward or graph):
        raise click.UsageError("--reward and --graph go with --data LOG, the rows to propose a problem from")
    if data is not None and example is not None:
        raise click.UsageError("give either --data or --example")
    if data is None:
        document, sentence = _example(file, example or START)
    elif reward is None:
        document, sentence = _cut_points(file, data)
    else:
        document, sentence = _proposal(file, data, reward, graph, quiet)
    answer(document, sentence, as_json, quiet)


def _example(file: Path, example: str) -> tuple[dict[str, Any], str]:
    known = examples()
    if example not in known:
        raise click.UsageError(f"there is no example {example!r}; there are {', '.join(names())}")
    with open_new(file) as out:
        out.write(known[example])
    return {"path": str(file)}, f"wrote {file}; edit it, then: dobandit check {shlex.quote(str(file))}"


def _proposal(file: Path, data: Path, reward: str, graph: Path | None, quiet: bool) -> tuple[dict[str, Any], str]:
    from dobandit.graph import read_file
    from dobandit.proposal import propose, written

    known = None if graph is None else read_file(graph)
    for note in known.origin.notes if known else ():
        say(f"note: {note}", quiet)
    found = propose(read_rows(data), reward, known)
    for note in found.notes:
        warnings.warn(note, stacklevel=2)
    text = written(found, file.name, str(data))
    with open_new(file) as out:
        out.write(text)
    variables, aside = [v.name for v in found.variables], found.set_aside
    seen = f"{counted(len(variables), 'variable')} from {counted(found.rows, 'row')}"
    why = " (the file says why)" if aside else ""
    told = f"wrote {file}: {seen}, {counted(len(aside), 'column')} set aside{why}"
    todo = "Fill in the TODOs" if graph else "Draw the arrows of the graph and fill in the other TODOs"
    document = {"path": str(file), "variables": variables, "set_aside": aside}
    check = shlex.join(["dobandit", "check", str(file), "--data", str(data)])
    return document, f"{told}\n{todo}, then: {check}"


def _cut_points(file: Path, data: Path) -> tuple[dict[str, Any], str]:
    from dobandit.proposal import with_cut_points

    if not file.exists():
        raise click.UsageError("name the reward: --reward COLUMN")
    text, cuts = with_cut_points(file, read_rows(data))
    if not cuts:
        raise click.UsageError(
            f"{file} exists and has no quantiles in [bins] to compute; to propose a new problem, add --reward"
        )
    with replacing(file) as draft:
        draft.write_text(text, encoding="utf-8", newline="")
    shown = "; ".join(f"{variable} at {', '.join(number(cut, 6) for cut in found)}" for variable, found in cuts.items())
    document = {"path": str(file), "variables": list(cuts), "set_aside": {}, "bins": cuts}
    return document, f"wrote the cut points of {data} into {file}: {shown}"
