"""Runs the scripts whose figures have goals, then prints one table: what was measured, the goal, and the ratio of both.

    python benchmarks/all.py [--out dobandit-out/bench.json] [--against other.json]

The figures go to a JSON file. With the file of another commit, a column has the ratio to the figures there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from _script import FIGURES, Figure, options

HERE = Path(__file__).parent
SCRIPTS = (
    "policies",
    "worlds",
    "effects",
    "csv_files",
    "studies",
    "service",
    "reproduction",
    "pooled",
    "scale",
    "clusters",
    "anytime",
)
FEW = ("worlds",)  # of a smoke run: the tests run each of the others by itself


def main() -> None:
    asked = options(__doc__, out="dobandit-out/bench.json", against="")
    found = measured(FEW if asked.smoke else SCRIPTS, ["--smoke"] if asked.smoke else [])
    before = {f.what: f for f in read(Path(asked.against))} if asked.against else {}
    print(table(found, before))
    if not asked.smoke:
        out = Path(asked.out)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps([figure._asdict() for figure in found], indent=1) + "\n", encoding="utf-8")
        print(f"wrote {out}")


def measured(scripts: tuple[str, ...], arguments: list[str]) -> list[Figure]:
    """The figures of all scripts, in the order in which they were printed."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "figures"
        lines.touch()
        for name in scripts:
            print(f"-- {name}", flush=True)
            command = [sys.executable, str(HERE / f"{name}.py"), *arguments]
            subprocess.run(command, check=True, env={**os.environ, FIGURES: str(lines)})
        return [Figure(**json.loads(line)) for line in lines.read_text(encoding="utf-8").splitlines()]


def read(path: Path) -> list[Figure]:
    return [Figure(**figure) for figure in json.loads(path.read_text(encoding="utf-8"))]


def table(found: list[Figure], before: dict[str, Figure]) -> str:
    """One line for each figure; `!` marks a goal that is missed."""
    wide = max(len(figure.what) for figure in found)
    then = f"{'to before':>12}" if before else ""
    lines = [f"  {'figure':{wide}}{'measured':>12}{'goal':>14}{'ratio':>8}{then}"]
    for figure in found:
        mark, sign = ("  " if figure.is_met else "! "), ("<=" if figure.better == "lower" else ">=")
        old = before.get(figure.what)
        change = f"{figure.value / old.value:12.2f}" if old else ""
        goal = f"{sign} {figure.goal:,.4g}"
        lines.append(
            f"{mark}{figure.what:{wide}}{figure.value:12,.4g}{goal:>14}{figure.value / figure.goal:8.2f}{change}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
