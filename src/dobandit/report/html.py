"""A report as one HTML page that needs nothing else: no network, no scripts, pictures inside."""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from pathlib import Path

from dobandit.report.page import Page, Part, Picture, Points, Section, Table

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>"""


def to_html(page: Page) -> str:
    """The page as text.

    >>> "<h1>Runs of <code>ucb</code></h1>" in to_html(Page("Runs of `ucb`", "", {}, []))
    True
    """
    facts = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in page.facts.items())
    from importlib.resources import files

    style = files("dobandit.report").joinpath("style.css").read_text(encoding="utf-8")
    head = HEAD.format(title=escape(page.title.replace("`", "")), style=style)
    lead = f"<p>{_text(page.lead)}</p>" if page.lead else ""
    header = f"<header><h1>{_text(page.title)}</h1>\n{lead}\n<dl>{facts}</dl></header>"
    sections = [_section(i, section) for i, section in enumerate(page.sections)]
    return "\n".join([head, header, _contents(page), *sections, "</body>\n</html>\n"])


def write_html(page: Page, folder: Path, *forms: str) -> None:
    """report.html, and its pictures as files beside it: png, svg or both."""
    for picture in page.pictures:
        for form in forms:
            (folder / f"{picture.name}.{form}").write_bytes(getattr(picture, form))
    (folder / "report.html").write_text(to_html(page), encoding="utf-8")


def _contents(page: Page) -> str:
    if len(page.sections) < 3:
        return ""
    names = [section.title.partition(":")[0] for section in page.sections]
    items = "".join(f'<li><a href="#s{i}">{_text(name)}</a></li>' for i, name in enumerate(names))
    return f"<nav><ul>{items}</ul></nav>"


def _section(i: int, section: Section) -> str:
    return "\n".join([f'<section id="s{i}"><h2>{_text(section.title)}</h2>', *map(_part, section.parts), "</section>"])


def _part(part: Part) -> str:
    match part:
        case Table():
            return _table(part)
        case Picture():
            data = b64encode(part.svg).decode("ascii")
            return f'<figure><img alt="{escape(part.shows)}" src="data:image/svg+xml;base64,{data}"></figure>'
        case Points():
            return f"<ul>{''.join(f'<li>{_text(text)}</li>' for text in part.texts)}</ul>"
        case _:
            return f"<p>{_text(part)}</p>"


def _table(table: Table) -> str:
    def row(cells: list[str], tag: str) -> str:
        styles = ["" if i < table.words else ' class="number"' for i in range(len(cells))]
        return f"<tr>{''.join(f'<{tag}{s}>{_text(c)}</{tag}>' for c, s in zip(cells, styles, strict=True))}</tr>"

    body = "\n".join(row(list(cells), "td") for cells in table.rows)
    return (
        f"<div class='wide'><table>\n<thead>{row(list(table.head), 'th')}</thead>\n<tbody>{body}</tbody></table></div>"
    )


def _text(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
