"""`dobandit sample`: rows from the world of a problem, to try things out."""

from __future__ import annotations

from pathlib import Path

import click

from dobandit.cli.common import FILE, PROBLEM, answer, read_arm, with_common_options, world_of
from dobandit.evidence import write_columns
from dobandit.files import new_file
from dobandit.problem import Problem


@click.command()
@PROBLEM
@click.argument("file", type=FILE)
@click.option("-n", "--rows", default=1000, show_default=True, type=click.IntRange(1), help="How many rows.")
@click.option("--do", "arm", default="do()", show_default=True, metavar="ARM", help="The arm to sample, such as X=1.")
@click.option("--seed", default=0, show_default=True, help="The seed of the rows.")
@with_common_options
def command(problem: Path, file: Path, rows: int, arm: str, seed: int, as_json: bool, quiet: bool) -> None:
    """Draw rows from the [world] of PROBLEM and write them to FILE (.csv, .json or .parquet), as a log."""
    found = Problem.load(problem)
    chosen = read_arm(arm)
    columns = world_of(found, problem).sample(chosen, rows, seed)
    with new_file(file) as draft:
        write_columns(draft, {v: columns[v] for v in found.graph.variables})
    answer({"path": str(file), "rows": rows}, f"wrote {rows:,} rows of {chosen} to {file}", as_json, quiet)
