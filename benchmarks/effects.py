"""Effects of all arms from a log of a hundred million rows in a Parquet file: CPU time, memory, and the ratio to one
grouping of the same file by DuckDB itself.

    python benchmarks/effects.py [--rows 100000000]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb

from _script import options, record, used

PROBLEM = """
budget = 100
reward = "Y"
[graph]
edges = "Z1 -> {X1, Y}; Z2 -> {X2, Y}; X1 -> M -> Y; X1 <-> Y; X2 -> X3 -> Y; W -> X3; X2 <-> W"
"""
LOG = """
copy (
    select *, (random() < 0.1 + 0.2 * Z1 + 0.2 * M + 0.2 * X3 + 0.2 * U)::tinyint as Y
    from (select *, (random() < 0.2 + 0.6 * X1)::tinyint as M, (random() < 0.2 + 0.3 * X2 + 0.3 * W)::tinyint as X3
          from (select *, (random() < 0.2 + 0.3 * Z1 + 0.3 * U)::tinyint as X1,
                       (random() < 0.2 + 0.3 * Z2 + 0.3 * V)::tinyint as X2, (random() < 0.3 + 0.4 * V)::tinyint as W
                from (select (random() < 0.4)::tinyint as Z1, (random() < 0.6)::tinyint as Z2,
                             (random() < 0.5)::tinyint as U, (random() < 0.5)::tinyint as V
                      from range({rows})))))
to '{path}' (format parquet)
"""


def main() -> None:
    asked = options(__doc__, rows=100_000_000)
    rows = 1000 if asked.smoke else asked.rows
    with tempfile.TemporaryDirectory() as folder:
        log, problem = Path(folder) / "log.parquet", Path(folder) / "problem.toml"
        problem.write_text(PROBLEM, encoding="utf-8")
        duckdb.execute("select setseed(0.5)")
        duckdb.execute(LOG.format(rows=rows, path=log))
        groups = f"select Z1, Z2, W, X1, X2, X3, M, Y, count(*) from '{log}' group by all"
        grouping, _ = used(sys.executable, "-c", f'import duckdb; duckdb.execute("{groups}").fetchall()')
        program = str(Path(sys.executable).with_name("dobandit"))
        seconds, peak = used(program, "effect", str(problem), str(log), "--all", "--json")
    print(f"effects of all arms from {rows:,} rows (Parquet, 8 variables), the whole command:")
    print(f"  {seconds:.1f} s of CPU time, peak {peak:.0f} MB, {seconds / grouping:.2f} times one grouping by DuckDB")
    record(f"effects from {rows:,} rows of Parquet to one grouping by DuckDB", seconds / grouping, 1.5)


if __name__ == "__main__":
    main()
