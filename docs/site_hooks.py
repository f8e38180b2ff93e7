"""What the site generates from the code: the reference of problem files."""

from __future__ import annotations

import inspect
import re
from importlib.resources import files
from typing import Any

from dobandit.problem import Problem
from dobandit.problem.file import KEYS
from dobandit.worlds import described

# Keys of a file that are other arguments of `Problem`, or tables of several.
RENAMED = {"graph": "graph", "data": "missing", "costs": "costs"}
EXAMPLE = "start.toml"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in what is generated."""
    for mark, make in GENERATED.items():
        markdown = markdown.replace(f"<!-- generated: {mark} -->", make())
    return markdown


def keys_table() -> str:
    """Every key, with what the docstring of `Problem` says of it."""
    said = _parameters(inspect.getdoc(Problem) or "")
    rows = [f"| `{key}` | {said[RENAMED.get(key, key)]} |" for key in KEYS]
    return "\n".join(["| key | meaning |", "|---|---|", *rows])


def models_table() -> str:
    """The models of `[world]`, from the module that reads them."""
    doc = inspect.getdoc(described) or ""
    return doc[doc.index("|") :]


def example() -> str:
    return f"```toml\n{(files('dobandit') / 'examples' / EXAMPLE).read_text(encoding='utf-8')}```"


def _parameters(doc: str) -> dict[str, str]:
    """The texts of a numpydoc list of parameters, each in one line."""
    _, _, listed = doc.partition("----------\n")
    found: dict[str, str] = {}
    for name, text in re.findall(r"^(\w+)\n((?:    .*\n?|\n)+)", listed + "\n", re.MULTILINE):
        found[name] = " ".join(text.replace("``", "`").split()).replace("|", "\\|")
    return found


GENERATED = {
    "keys of a problem file": keys_table,
    "models of a world": models_table,
    "a commented problem": example,
}
