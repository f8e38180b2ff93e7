"""`dobandit sample`: rows from the world of a problem, to try things out."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from dobandit.cli.common import FILE, PROBLEM, answer, read_arm, with_common_options, world_of
from dobandit.evidence import INTERVENTION, write_columns
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
    """Draw rows from the [world] of PROBLEM and write them to FILE (.csv, .json or .parquet), as a log.

    Rows in which something was set have it in a column `intervention`, so that they are not mistaken for observations.
    """
    found = Problem.load(problem)
    chosen = read_arm(arm).within(found.domains)
    drawn = world_of(found, problem).sample(chosen, rows, seed)
    columns = {v: drawn[v] for v in found.graph.variables}
    if not chosen.observes and INTERVENTION not in columns:
        columns = {INTERVENTION: np.full(rows, str(chosen), dtype=object), **columns}
    with new_file(file) as draft:
        write_columns(draft, columns)
    answer({"path": str(file), "rows": rows}, f"wrote {rows:,} rows of {chosen} to {file}", as_json, quiet)
