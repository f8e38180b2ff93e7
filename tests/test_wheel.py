"""The wheel holds everything that the program needs, and declares its extras."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (found,) = out.glob("dobandit-*.whl")
    return found


def test_the_wheel_holds_what_the_source_holds(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    files = {str(f.relative_to(source)) for f in source.rglob("*") if f.is_file() and "__pycache__" not in f.parts}
    assert files <= packed
    assert "dobandit/py.typed" in packed
    assert not [name for name in packed if name.startswith("tests")]


def test_the_wheel_works_where_nothing_else_of_ours_is(wheel: Path, tmp_path: Path) -> None:
    """Installed into an empty folder, with its dependencies beside it: `init`, then `check`."""
    target = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    env = {**os.environ, "PYTHONPATH": str(target)}
    program = "import dobandit, sys; print(dobandit.__file__); from dobandit.cli import main; main(sys.argv[1:])"
    for arguments in (["init", "p.toml", "--example", "shop"], ["check", "p.toml"], ["sample", "p.toml", "log.csv"]):
        ran = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=tmp_path,
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
        assert ran.stdout.startswith(str(target))


def test_extras_are_declared(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
    text = archive.read(metadata).decode()
    for extra in ("plot", "data", "all"):
        assert f"Provides-Extra: {extra}" in text
