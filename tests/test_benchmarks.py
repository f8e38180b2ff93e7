"""Every script in benchmarks/ runs: in tiny sizes, from anywhere, and without a trace in the repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "benchmarks").glob("[!_]*.py"))  # what starts with _ is imported by scripts


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_smoke_run_prints_its_figures(script: Path, tmp_path: Path) -> None:
    docs = {path: path.read_bytes() for path in (ROOT / "docs").glob("*.md")}
    ran = subprocess.run([sys.executable, script, "--smoke"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    first, *figures = ran.stdout.splitlines()
    assert first.startswith("smoke run")
    assert any(re.search(r"\d", line) for line in figures)
    assert not list(tmp_path.iterdir())
    assert {path: path.read_bytes() for path in (ROOT / "docs").glob("*.md")} == docs


def test_a_missing_package_is_an_error_in_a_real_run_and_named_in_a_smoke_run() -> None:
    ask = "from _script import can_compare; print(can_compare('no_such_package', smoke={}))"
    real, smoke = (
        subprocess.run(
            [sys.executable, "-c", ask.format(is_smoke)],
            cwd=ROOT / "benchmarks", capture_output=True, text=True, check=False,
        )
        for is_smoke in (False, True)
    )  # fmt: skip
    assert (real.returncode, "no_such_package is not installed: run `make bench`" in real.stderr) == (1, True)
    assert smoke.stdout.startswith("LEFT OUT: the comparison with no_such_package")
