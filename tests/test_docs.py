"""What README and docs show is what happens: every `console` block is run and its output compared, and every `toml`
block is part of a shipped problem, or of one in docs/files. (Python is run by doctest, see docs/conftest.py.) A block
of another kind is run elsewhere, or listed below with the reason why it is not.

`make docs` (which runs this file as a program) writes the output again where it changed.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from dobandit.problem import Problem

ROOT = Path(__file__).parent.parent
FILES = ROOT / "docs" / "files"  # that pages speak of: they lie in the folder of their commands
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROBLEM = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
HASH = re.compile(r"\b[0-9a-f]{64}\b")  # of a study, another one every time
SOME_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
FAILING = ("check proposed.toml", "Discount=maybe", "ask shop.db --worker ben")  # on purpose, by what they contain
OTHER = re.compile(r"^```(?!console|python|toml)(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
RUN_ELSEWHERE = {  # by what the block contains
    "from dowhy import": "tests/migrations.py, by make migrations",
    "from pgmpy": "tests/migrations.py, by make migrations",
    "http://127.0.0.1:8377": "tests/service/test_team_page.py",
    "proxy_pass": "tests/service/test_proxy.py",
    "serve studies --root-path": "tests/service/test_proxy.py",
    "member no;Age": "below: the start of docs/files/members.csv",
    "my_policies:EpsilonGreedy": "below, with the class of the page",
    'together = [["Price", "Ad"]]': "below: loaded as a part of a problem",
}
NOT_RUN = {
    "pip install": "installs the package; make does the same in its set-up",
    "make ": "targets of the Makefile, which takes hours for all of them",
    "--cluster tcp://scheduler": "needs machines of a cluster; tests/test_dask.py runs these options on one machine",
    "dask scheduler": "programs of Dask on machines of a cluster",
    "kubectl": "needs Kubernetes",
    "sqlite3 study.db": "a command of the program sqlite3, which need not be installed",
    "asia.bif": "a network that the reader has; tests/test_suite.py runs one of its own",
    "cannot be had from tables": "an error that only appears where scikit-learn is missing",
    "dobandit.policies": "metadata of a package; tests/test_plug_ins.py installs one with it",
    "dobandit token add": "writes to the home folder; tests/service/test_access.py runs these commands",
    "mkdir studies": "starts a server that stays; tests/service start it",
}
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


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_other_blocks_are_run_elsewhere_or_listed(page: Path) -> None:
    for kind, block in OTHER.findall(page.read_text(encoding="utf-8")):
        assert any(part in block for part in RUN_ELSEWHERE | NOT_RUN), f"neither run nor listed ({kind}):\n{block}"


def test_no_reason_is_left_over() -> None:
    text = "".join(block for page in [*PAGES, ROOT / "CONTRIBUTING.md"] for _, block in OTHER.findall(page.read_text()))
    assert not [part for part in RUN_ELSEWHERE | NOT_RUN if part not in text]


def block_of(page: str, part: str) -> str:
    (block,) = [b for _, b in OTHER.findall((ROOT / "docs" / page).read_text(encoding="utf-8")) if part in b]
    return str(block)


def test_the_spreadsheet_of_the_tutorial() -> None:
    shown = block_of("tutorial-spreadsheet.md", "member no;Age")
    assert (FILES / "members.csv").read_text(encoding="utf-8").startswith(shown)


def test_options_that_set_several_variables() -> None:
    shown = tomllib.loads(block_of("policies.md", "together ="))
    problem = Problem("{Price, Ad} -> Buy", reward="Buy", budget=9, together=shown["together"], costs=shown["costs"])
    assert dict(zip(map(str, problem.arms), problem.costs, strict=True))["do(Price=1, Ad=1)"] == 3


def test_the_policy_of_the_tutorial_is_used_everywhere(tmp_path: Path, examples: dict[str, str]) -> None:
    page = (ROOT / "docs" / "tutorial-own-policy.md").read_text(encoding="utf-8")
    shown = doctest.script_from_examples(page[page.index(">>> from dataclasses") : page.index("Three rules keep")])
    (tmp_path / "my_policies.py").write_text(f"import dobandit as db\n{shown}", encoding="utf-8")
    (tmp_path / "problem.toml").write_text(examples["shop"].replace('"simple"', '"cumulative"'), encoding="utf-8")
    for typed in block_of("tutorial-own-policy.md", "my_policies").splitlines():
        run(typed + (" --trials 2" if " study " not in typed else ""), str(tmp_path))


def test_readme_shows_commands() -> None:
    assert len(BLOCK.findall(PAGES[0].read_text(encoding="utf-8"))) >= 2


if __name__ == "__main__":
    for shown in PAGES:
        with tempfile.TemporaryDirectory() as empty:
            shown.write_text(refreshed(shown.read_text(encoding="utf-8"), empty), encoding="utf-8")
