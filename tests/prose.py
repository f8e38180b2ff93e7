"""How hard the documentation is to read: `python -m tests.prose` prints words per sentence and reading ease by page.

Code, tables, headings and formulas are left out; a list item is a sentence. Flesch's reading ease is 60 to 70 for plain
English and below 30 for what only specialists read.
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_LEFT_OUT = re.compile(
    r"^```.*?^```|<!--.*?-->|^\|[^\n]*$|^#[^\n]*$|^!\[[^\n]*$|^:::[^\n]*(?:\n +[^\n]*)*", re.DOTALL | re.MULTILINE
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[A-Z*_`\"'(“])")


class Measured(NamedTuple):
    sentences: int
    words: float  # the median of a sentence
    ease: float  # Flesch's reading ease


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def sentences(text: str) -> list[str]:
    """The sentences of a page.

    >>> sentences("# Title\\n\\nOne `x = 1` thing. Two [links](a.md)\\nhere.\\n\\n- an item\\n- another one")
    ['One code thing.', 'Two links here.', 'an item', 'another one']
    """
    plain = re.sub(r"`[^`\n]+`", "code", _LINK.sub(r"\1", _LEFT_OUT.sub("", text)))
    blocks = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+", "\n" + plain)
    joined = (" ".join(block.split()).lstrip("-*> ") for block in blocks)
    return [part for block in joined for part in _END.split(block) if re.search("[a-z]", part)]


def words(sentence: str) -> list[str]:
    return re.findall(r"[^\W\d_][\w'’-]*|\d[\d.,]*", sentence)


def syllables(word: str) -> int:
    """Roughly: groups of vowels, without a silent e at the end."""
    groups = len(re.findall(r"[aeiouy]+", word.lower().removesuffix("e")))
    return max(groups, 1)


def measured(text: str) -> Measured:
    found = [w for w in map(words, sentences(text)) if len(w) > 2]
    if not found:
        return Measured(0, 0, 100)
    every = [word for sentence in found for word in sentence]
    ease = 206.8 - 1.015 * len(every) / len(found) - 84.6 * sum(map(syllables, every)) / len(every)
    return Measured(len(found), median(map(len, found)), ease)


def main() -> None:
    import sys

    for page in pages():
        found = measured(page.read_text(encoding="utf-8"))
        name = page.relative_to(ROOT)
        sys.stdout.write(
            f"{name!s:36} {found.sentences:5} sentences, median {found.words:4.1f} words, ease {found.ease:5.1f}\n"
        )


if __name__ == "__main__":
    main()
