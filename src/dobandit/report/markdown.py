"""A report as a Markdown page; its pictures are files beside it."""

from __future__ import annotations

from collections.abc import Iterable

from dobandit.report.page import Page, Part, Picture, Points, Table


def to_markdown(page: Page) -> str:
    """The page as text; it looks for its pictures in the folder `images`.

    >>> print(to_markdown(Page("Runs", "", {"seed": "0"}, [])), end="")
    # Runs
    <BLANKLINE>
    seed 0.
    """
    facts = ", ".join(f"{name} {value}" for name, value in page.facts.items())
    blocks = [f"# {page.title}", page.lead, f"{facts}." if facts else ""]
    for section in page.sections:
        blocks += [f"## {section.title}", *(_part(part) for part in section.parts)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _part(part: Part) -> str:
    match part:
        case Table():
            lines = ["---" if i < part.words else "---:" for i in range(len(part.head))]
            return "\n".join(map(_row, [part.head, lines, *part.rows]))
        case Picture():
            return f"![{part.shows}](images/{part.name}.svg)"
        case Points():
            return "\n".join(f"- {text}" for text in part.texts)
        case _:
            return part


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
