"""The documentation as people read it: it builds without warnings, is spelled right, and is easy to read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import prose

ROOT = Path(__file__).parents[1]
PAGES = prose.pages()
MOST_WORDS = 18  # of the median sentence
FEW = 10  # sentences, of which a median says little
FETCHED = re.compile(r'<(script|link|img)[^>]*(src|href)="https?://')
LINK = re.compile(r"\]\(([^)#\s]+)")


def test_the_site_builds_without_warnings_and_needs_no_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")
    built = {page.stem: page.read_text(encoding="utf-8") for page in tmp_path.glob("*.html")}
    assert not [
        name for name, text in built.items() if re.search(r'<(script|link|img)[^>]*(src|href)="https?://', text)
    ]
    assert "most_at_once" in built["reference-problem-file"]
    assert "Ask for pulls to carry out" in built["reference-command-line"]
    assert "ScalarPolicy" in built["reference-python"]


def test_spelling() -> None:
    texts = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "src"]
    command = [sys.executable, "-m", "codespell_lib", *map(str, texts)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sentences_are_short(page: Path) -> None:
    found = prose.measured(page.read_text(encoding="utf-8"))
    assert found.words <= MOST_WORDS or found.sentences < FEW


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert not [link for link in links if not (page.parent / link).exists()]


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    headings = re.findall(r"^## ([\d.]+)\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == version
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
