"""What the site generates from the code: the reference of problem files and of the command line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import click
import griffe

from dobandit.cli import group
from dobandit.problem import Problem
from dobandit.problem.file import KEYS
from dobandit.worlds import described

# What a file says in a table of its own, before the text of the argument of `Problem`.
TABLES = {
    "graph": ("graph", "A table: `edges`, a text such as `A -> B; A <-> C`, or `file`, the name of a file. "),
    "data": ("missing", "A table with `missing`. "),
    "stop": ("stop", "A table: `probability`, `loss`, or `gain_per_cost = true` with `pulls_ahead`; and `min_pulls`. "),
    "costs": ("costs", "A table; `default` is the cost of what it does not mention. "),
}
EXAMPLE = "start.toml"
WIDTH = 78  # of help texts


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in what is generated."""
    for mark, make in GENERATED.items():
        markdown = markdown.replace(f"<!-- generated: {mark} -->", make())
    return markdown


def keys_table() -> str:
    """Every key, with what the docstring of `Problem` says of it."""
    said = _parameters(inspect.getdoc(Problem) or "")
    rows = []
    for key in KEYS:
        argument, before = TABLES.get(key, (key, ""))
        rows.append(f"| `{key}` | {before}{said[argument]} |")
    return "\n".join(["| key | meaning |", "|---|---|", *rows])


def models_table() -> str:
    """The models of `[world]`, from the module that reads them."""
    doc = inspect.getdoc(described) or ""
    return doc[doc.index("|") :]


def example() -> str:
    return f"```toml\n{(files('dobandit') / 'examples' / EXAMPLE).read_text(encoding='utf-8')}```"


def commands() -> str:
    """The help of every command, as a terminal shows it."""
    return "\n\n".join(f"## {name}\n\n```text\n{text}\n```" for name, text in _helps(group, "dobandit"))


def _helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=name, terminal_width=WIDTH)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            found = command.get_command(context, part)
            if found is not None:
                yield from _helps(found, f"{name} {part}")


def _parameters(doc: str) -> dict[str, str]:
    """The texts of a numpydoc list of parameters, each in one line."""
    _, _, listed = doc.partition("----------\n")
    found: dict[str, str] = {}
    for name, text in re.findall(r"^(\w+)\n((?:    .*\n?|\n)+)", listed + "\n", re.MULTILINE):
        found[name] = " ".join(text.replace("``", "`").split()).replace("|", "\\|")
    return found


class Doctests(griffe.Extension):
    """Examples inside of docstrings are code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            blocks = re.compile(r"^>>> .*\n?(?:^(?!\s*$).*\n?)*", re.MULTILINE)
            obj.docstring.value = blocks.sub(lambda block: f"```pycon\n{block[0].rstrip()}\n```\n", obj.docstring.value)


GENERATED = {
    "keys of a problem file": keys_table,
    "models of a world": models_table,
    "a commented problem": example,
    "commands": commands,
}
