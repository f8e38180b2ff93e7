"""What README and docs show is what happens: every `console` block is run and its output compared, and every `toml`
block is part of a shipped problem, or of one in docs/files. (Python is run by doctest, see docs/conftest.py.)

`make docs` (which runs this file as a program) writes the output again where it changed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = ROOT / "docs" / "files"  # that pages speak of: they lie in the folder of their commands
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROBLEM = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
HASH = re.compile(r"\b[0-9a-f]{64}\b")  # of a study, another one every time
SOME_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
FAILING = ("check proposed.toml", "Discount=maybe", "ask shop.db --worker ben")  # on purpose, by what they contain
TYPED = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def refreshed(text: str, folder: str) -> str:
    """The page with the output that its commands really have. What starts with `$ ` is typed, in one
    folder for the whole page; what follows is what the screen shows."""
    for file in FILES.glob("*.[ct]*"):  # .csv and .toml
        shutil.copy(file, folder)
    return BLOCK.sub(lambda block: f"```console\n{TYPED.sub(lambda t: run(t[1], folder), block[1])}```", text)


def run(typed: str, folder: str) -> str:
    program, *arguments = shlex.split(typed)
    assert program == "dobandit", "a console block shows our program; other commands go into an sh block"
    ran = subprocess.run(
        [Path(sys.executable).with_name("dobandit"), *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"},
        check=False,
    )
    fails = any(part in typed for part in FAILING)
    assert (ran.returncode != 0) == fails, f"the page does not mean this to happen: {typed}\n{ran.stdout}"
    shown = HASH.sub(SOME_HASH, ran.stdout.rstrip())
    return f"$ {typed}\n" + "".join(line.rstrip() + "\n" for line in shown.splitlines())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refreshed(text, str(tmp_path)) == text, "the output has changed: run `make docs` and look at it"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_toml_blocks(page: Path, examples: dict[str, str]) -> None:
    for shown in PROBLEM.findall(page.read_text(encoding="utf-8")):
        known = [*examples.values(), *(file.read_text(encoding="utf-8") for file in FILES.glob("*.toml"))]
        assert any(shown in text for text in known), "the shipped problem has changed: show that one"


def test_readme_shows_commands() -> None:
    assert len(BLOCK.findall(PAGES[0].read_text(encoding="utf-8"))) >= 2


if __name__ == "__main__":
    for shown in PAGES:
        with tempfile.TemporaryDirectory() as empty:
            shown.write_text(refreshed(shown.read_text(encoding="utf-8"), empty), encoding="utf-8")
