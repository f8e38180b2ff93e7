"""Effects of all arms from a CSV file of ten million rows and eight columns: CPU time and memory of the command, and
the CPU time of one grouping of the same columns by DuckDB itself, which adds up the revenue where that is the reward.
The aim is at most 1.5 times that, in less than 500 MB.

    python benchmarks/csv_files.py [--rows 10000000]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb

from _script import options, record, used

PROBLEM = """
budget = 100
reward = "{reward}"
[graph]
edges = "Z -> {{X, {reward}}}; X -> M -> {reward}; V -> W -> {reward}; U -> {reward}"
[domains]
V = ["low", "mid", "high"]
U = ["0", "1", "2", "3"]
"""
REAL = """
[reward]
variable = "Revenue"
range = [0, 100]
"""
LOG = """
copy (
    select (random() < 0.4)::int as Z, (random() < 0.5)::int as X, (random() < 0.3)::int as M,
           ['low', 'mid', 'high'][1 + floor(random() * 3)::int] as V, (random() < 0.5)::int as W,
           floor(random() * 4)::int as U, (random() < 0.2)::int as Y, round(random() * 100, 2) as Revenue
    from range({rows}))
to '{path}' (format csv, header)
"""
GROUPS = "import duckdb; duckdb.execute(\"select Z, X, M, V, W, U, {}, count(*) from '{}' group by all\").fetchall()"
MEASURED = {"Y": "Y", "Revenue": "sum(Revenue)"}


def main() -> None:
    asked = options(__doc__, rows=10_000_000)
    rows = 1000 if asked.smoke else asked.rows
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.csv"
        duckdb.execute("select setseed(0.5)")
        duckdb.execute(LOG.format(rows=rows, path=log))
        print(f"{rows:,} rows of CSV, 8 columns")
        for reward, measured in MEASURED.items():
            plain, _ = used(sys.executable, "-c", GROUPS.format(measured, log))
            problem = Path(folder) / "problem.toml"
            text = PROBLEM.format(reward=reward)
            problem.write_text(text if reward == "Y" else text.replace('reward = "Revenue"', "") + REAL)
            program = str(Path(sys.executable).with_name("dobandit"))
            seconds, peak = used(program, "effect", str(problem), str(log), "--all", "--quiet")
            time = f"{seconds:.1f} s of CPU time, {seconds / plain:.2f} times one grouping by DuckDB (limit 1.5)"
            print(f"  effects on {reward}: {time}, peak {peak:.0f} MB (limit 500)")
            record(f"effects on {reward} from {rows:,} rows of CSV to one grouping by DuckDB", seconds / plain, 1.5)


if __name__ == "__main__":
    main()
