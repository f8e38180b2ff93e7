"""`dobandit policies`: what can be run, and where it comes from."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from typing import Any

import click

from dobandit.cli.common import console, print_json, say, with_common_options
from dobandit.cli.tables import cell, table
from dobandit.errors import PolicyError
from dobandit.policies import RECOMMENDED, Policy, ScalarPolicy, offered, policy, registered


def _options(kind: type[Any]) -> str:
    """The options of a policy, the usual value first."""
    written = []
    for option in fields(kind) if is_dataclass(kind) and not issubclass(kind, ScalarPolicy) else ():
        usual = ("false", "true") if isinstance(option.default, bool) else (f"{option.default}",)
        written.append(f"{option.name}={'|'.join(option.metadata.get('choices') or usual)}")
    return f" Options: {', '.join(written)}." if written else ""


def _row(made: Policy, name: str, source: str = "") -> dict[str, str]:
    about = made.function if isinstance(made, ScalarPolicy) else type(made)
    return {
        "name": name,
        "objective": made.objective,
        "summary": " ".join((inspect.getdoc(about) or "").split()) + _options(type(made)),
        "reference": ", ".join(filter(None, (made.reference, source))),
    }


@click.command()
@with_common_options
def command(as_json: bool, quiet: bool) -> None:
    """List the policies, what they do, how they are adapted to costs, and where they come from.

    An option is written name[key=value], for instance f-kube[as_published=true].
    """
    rows = [_row(policy(name), name) for name in registered()]
    for name, entry in offered().items():
        try:
            rows.append(_row(policy(name), name, f"plug-in {entry.value}"))
        except PolicyError as error:
            say(f"warning: {error}", quiet)
    if as_json:
        print_json({"policies": rows})
        return
    shown = table("policy", "objective", "what it does", wrap="what it does", below=1)
    for row in rows:
        name = f"[bold]{row['name']} *[/]" if row["name"] in RECOMMENDED.values() else row["name"]
        text = f"{cell(row['summary'])}\n[dim]{cell(row['reference'])}[/]"
        shown.add_row(name, row["objective"], text)
    remark = "[dim]* recommended for its objective, and used in studies unless you name another[/]"
    console().print(shown, remark, sep="\n")
