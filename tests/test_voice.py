"""Plain English everywhere: archaic phrases that were once in these texts stay out of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = {".py", ".md", ".toml", ".css"}
NEVER = (
    *("anew", "how-manieth", "whoever", "seldom and dear", "as if it had not been"),
    *("pays for none", "in the books", "half-born", "cries wolf", "has two eyes"),
)
SELDOM = ("somebody", "nobody")
MOST = 12  # of these two together


def words(text: str) -> str:
    """The words of a text, whatever line breaks, comment signs, quotes and underscores stand between them."""
    return re.sub(r"[\s_#\"']+", " ", text.lower())


def count(phrase: str, text: str) -> int:
    return len(re.findall(rf"(?<![a-z]){phrase}(?![a-z])", words(text)))


def texts() -> dict[str, str]:
    """The text of every file of ours but this one, which has to name the phrases."""
    folders = [path for name in ("src", "docs", "tests") for path in (ROOT / name).rglob("*")]
    files = [path for path in [*folders, ROOT / "README.md"] if path.suffix in TEXTS and path != Path(__file__)]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}


def test_archaic_phrases_are_not_used() -> None:
    found = {f"{name}: {phrase}" for name, text in texts().items() for phrase in NEVER if count(phrase, text)}
    assert not found


def test_somebody_and_nobody_are_rare() -> None:
    found = Counter({name: sum(count(word, text) for word in SELDOM) for name, text in texts().items()})
    assert found.total() <= MOST, found.most_common(5)


@pytest.mark.parametrize(
    "text", ["it is seldom\n    # and dear", 'f"seldom " "and dear"', "def test_Seldom_and_dear()"]
)
def test_phrases_are_found_across_lines_and_names(text: str) -> None:
    assert count("seldom and dear", text) == 1
    assert count("anew", "a Janewarehouse") == 0
