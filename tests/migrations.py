"""The code of DoWhy and pgmpy on the pages that compare them with ours: it is run, and must print what the page says.

These packages bring a gigabyte, so `make migrations` runs this in an environment of its own, and `make test` does not.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import click

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ("migrate-dowhy.md", "migrate-pgmpy.md")
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"  # prints (.*)\n\Z")
PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?(.*\n)", re.MULTILINE)


def compared(page: str) -> list[tuple[str, str]]:
    """For each block of the other package: what the page says that it prints, and what it prints. All blocks of a page
    run in their order, with the same names, ours as well."""
    names: dict[str, object] = {}
    found = []
    for kind, code in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        said = PRINTED.search(code)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code if said else "".join(PROMPT.findall(code)), names)  # ours is written with prompts
        if said:
            found.append((said[1], printed.getvalue().strip()))
        else:
            assert kind == "python", f"{page}: a block of another package ends with what it prints"
    return found


if __name__ == "__main__":
    for page in PAGES:
        pairs = compared(page)
        assert pairs, f"{page} shows no code of another package"
        for said, printed in pairs:
            assert said == printed, f"{page} says {said!r}, and the code prints {printed!r}"
        click.echo(f"{page}: the code of the other package prints what the page says")
