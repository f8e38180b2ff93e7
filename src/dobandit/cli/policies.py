"""`dobandit policies`: what can be run, and where it comes from."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import click

from dobandit.cli.common import console, print_json, with_common_options
from dobandit.cli.tables import cell, table
from dobandit.policies import RECOMMENDED, registered


def _options(kind: type[Any]) -> str:
    """The options of a policy, the usual value first."""
    written = []
    for option in fields(kind):
        usual = ("false", "true") if isinstance(option.default, bool) else (f"{option.default}",)
        written.append(f"{option.name}={'|'.join(option.metadata.get('choices') or usual)}")
    return f" Options: {', '.join(written)}." if written else ""


@click.command()
@with_common_options
def command(as_json: bool, quiet: bool) -> None:
    """List the policies, what they do, how they are adapted to costs, and where they come from.

    An option is written name[key=value], for instance f-kube[as_published=true].
    """
    rows = [
        {
            "name": name,
            "objective": kind.objective,
            "summary": " ".join((inspect.getdoc(kind) or "").split()) + _options(kind),
            "reference": kind.reference,
        }
        for name, kind in registered().items()
    ]
    if as_json:
        print_json({"policies": rows})
        return
    shown = table("policy", "objective", "what it does", wrap="what it does", below=1)
    for row in rows:
        name = f"[bold]{row['name']} *[/]" if row["name"] in RECOMMENDED.values() else row["name"]
        text = f"{cell(row['summary'])}\n[dim]{cell(row['reference'])}[/]"
        shown.add_row(name, row["objective"], text)
    remark = "[dim]* recommended for its objective; studies are led by it unless another is named[/]"
    console().print(shown, remark, sep="\n")
