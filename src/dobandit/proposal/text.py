"""A proposed problem as a commented TOML file, to be read and completed by the person who knows the causes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dobandit.evidence import by_value
from dobandit.graph import quoted
from dobandit.numerals import number
from dobandit.problem import BINARY, Domain, is_numeral, label
from dobandit.proposal.columns import Proposal, Variable

WIDEST = 100  # of a comment line
MOST_COUNTED = 8  # values of a variable that are listed with their rows
_OPPOSITES = ({"no", "yes"}, {"false", "true"}, {"n", "y"}, {"off", "on"}, {"failure", "success"}, {"lost", "won"})


def written(found: Proposal, file: str, data: str) -> str:
    """The text of the problem file of this name, from these data."""
    parts = [_head(found, file, data), _goal(found), _graph(found), _reward(found), _columns(found), _domains(found)]
    parts += [_bins(found), _data(found), _costs(found), _set_aside(found)]
    return "\n".join(part for part in parts if part)


def _head(found: Proposal, file: str, data: str) -> str:
    todo = ["the budget", "what you can set", "the costs"]
    if found.graph is None:
        todo.insert(0, "the arrows of the graph")
    what = f"{', '.join(todo[:-1])} and {todo[-1]}"
    read = "".join(f"# Read as{note.partition(' as')[2]}, decimals with a point.\n" for note in found.read)
    return (
        f"# A problem proposed from {found.source}: {found.rows:,} rows, {len(found.variables)} variables.\n"
        f"{read}"
        f"# Fill in what the data cannot know, marked with TODO: {what}. Then run:\n"
        f"#   dobandit check {shlex.quote(file)} --data {shlex.quote(data)}\n"
    )


def _goal(found: Proposal) -> str:
    names = [v.name for v in found.variables if v is not found.reward]
    lines = [
        'objective = "simple"     # "simple": find the best option; "cumulative": earn the most while learning',
        'goal = "max"             # or "min"',
        "budget = 1000            # TODO: what may be spent; or: horizon = 1000, and every pull costs 1",
    ]
    if not _needs_table(found.reward):
        lines.append(f"{f'reward = {_text(found.reward.name)}':<24} # {_counted(found.reward)}")
    lines += ["# TODO: what you can set; default: every variable but the reward.", f"# intervenable = {_list(names)}"]
    if found.unseen:
        lines.append(f"# Not in the data: {', '.join(found.unseen)}.")
        lines.append(f"observed = {_list([v.name for v in found.variables])}")
    return "\n".join(lines) + "\n"


def _graph(found: Proposal) -> str:
    if found.graph is not None:
        return f"[graph]\nedges = {_block(found.graph.to_text())}\n"
    names = "\n".join(_wrapped("; ".join(quoted(v.name) for v in found.variables), "", separator="; "))
    others = [quoted(v.name) for v in found.variables if v is not found.reward]
    reward, first = quoted(found.reward.name), others[0] if others else "X"
    drawing = [
        "# TODO: draw the arrows below the names, from what you know about the causes; data alone cannot show them:",
        f"#   {first} -> {reward}      {first} acts on {reward}",
        f"#   {first} <-> {reward}     a hidden cause acts on both",
    ]
    return "[graph]\n" + "\n".join(drawing) + f"\nedges = {_block(names)}\n"


def _reward(found: Proposal) -> str:
    reward = found.reward
    counts, name = reward.profile.counts, reward.name
    if not _needs_table(reward):
        return ""
    if reward.profile.is_numeric:
        numbers, rows = reward.profile.numbers
        mean = float(numbers @ rows / rows.sum())
        seen = f"# seen: {label(float(numbers[0]))} to {label(float(numbers[-1]))}, mean {number(mean)}"
        ends = f"[{label(float(numbers[0]))}, {label(float(numbers[-1]))}]"
        return f"[reward]\nvariable = {_text(name)}\n{seen}\nrange = {ends}  # widen it if other numbers are possible\n"
    ordered = sorted(counts, key=lambda value: (value.lower(), value))
    table = ", ".join(f"{_key(value)} = {worth}" for worth, value in enumerate(ordered))
    sure = "" if {v.lower() for v in counts} in _OPPOSITES else "  # TODO: what each value is worth to you"
    return f"[reward]\nvariable = {_text(name)}  # {_counted(reward)}\nvalues = {{{table}}}{sure}\n"


def _needs_table(reward: Variable) -> bool:
    """Whether the reward is more than a name: texts need their worth, and many numbers a range."""
    held = reward.profile
    return not held.is_numeric or len(held.counts) > 10


def _columns(found: Proposal) -> str:
    renamed = [v for v in found.variables if v.name != v.profile.column]
    lines = [f"{_key(v.name)} = {_text(v.profile.column)}" for v in renamed]
    return _section("[columns]                # variable = column of the data", lines)


def _domains(found: Proposal) -> str:
    lines = []
    for v in found.variables:
        values = sorted(v.profile.counts, key=by_value)
        if v.cuts or (v is found.reward and _needs_table(v)):
            continue
        if set(values) == set(BINARY):
            lines += [f"# {_key(v.name)}: {_counted(v)}"] if v is not found.reward else []
        else:
            lines.append(f"{_key(v.name)} = [{', '.join(map(_value, values))}]  # {_counted(v)}")
    return _section("[domains]                # the values of variables; those that are not listed are 0/1", lines)


def _bins(found: Proposal) -> str:
    lines = list[str]()
    for v in found.variables:
        if v.cuts:
            numbers, rows = v.profile.numbers
            domain = Domain.binned(v.cuts)
            counts = np.bincount(np.digitize(numbers, v.cuts), rows, len(domain))
            inside = dict(zip(domain, counts.tolist(), strict=True))
            lines += _wrapped(
                _shown(inside) + _holes(v), f"# {_key(v.name)} is {number(numbers[0], 6)} to {number(numbers[-1], 6)}: "
            )
            lines.append(f"{_key(v.name)} = [{', '.join(map(label, v.cuts))}]")
    title = "[bins]                   # numbers: cut points, which belong to the bin above them; move them as you like"
    return _section(title, lines)


def _data(found: Proposal) -> str:
    lines = list[str]()
    if found.incomplete:
        share = f"{found.incomplete:,} of {found.rows:,} rows miss a value of some variable"
        lines += _wrapped("; ".join(_missing_of(v) for v in found.variables if v.profile.missing), f"# {share}: ")
        lines.append(
            'missing = "drop"         # leaves them out; "category": "missing" becomes a value; "refuse": an error'
        )
    else:
        lines.append('missing = "refuse"       # no value is missing here; otherwise: "drop" or "category"')
    if found.interventions:
        done = {what: rows for what, rows in found.interventions.items() if what != "do()"}
        counted = ", ".join(f"{what} ({rows:,} rows)" for what, rows in list(done.items())[:MOST_COUNTED])
        lines += _wrapped(counted or "plain observations only", "# The column intervention says what was done: ")
    return _section("[data]", lines)


def _missing_of(v: Variable) -> str:
    texts = [repr(text) for text in v.profile.missing if text]
    written_as = f" (written {', '.join(texts)})" if texts else ""
    return f"{v.name} in {v.profile.missing.total():,}{written_as}"


def _costs(found: Proposal) -> str:
    names = [v.name for v in found.variables if v is not found.reward]
    title = "[costs]                  # what one pull costs; do(), a plain observation, costs 1 unless stated"
    default = "default = 1              # TODO: what it costs to set a variable"
    return _section(title, [default, *(f"# {_text(f'do({quoted(name)})')} = 1" for name in names)])


def _set_aside(found: Proposal) -> str:
    lines = [line for column, why in found.set_aside.items() for line in _wrapped(why, f"#   {column}: ")]
    return _section("# Columns that are not used as variables:", lines)


def _section(title: str, lines: Sequence[str]) -> str:
    """The lines under their title; nothing if there are none."""
    return "\n".join([title, *lines]) + "\n" if lines else ""


# -- words and TOML ----------------------------------------------------------------------------


def _counted(v: Variable) -> str:
    ordered = sorted(v.profile.counts, key=by_value)
    return _shown({value: v.profile.counts[value] for value in ordered}) + _holes(v)


def _shown(counts: dict[str, float] | dict[str, int]) -> str:
    parts = [f"{value}: {rows:,.0f}" for value, rows in list(counts.items())[:MOST_COUNTED]]
    return ", ".join(parts) + (", ..." if len(counts) > MOST_COUNTED else "") + " rows"


def _holes(v: Variable) -> str:
    return f"; missing: {v.profile.missing.total():,}" if v.profile.missing else ""


def _wrapped(text: str, start: str, separator: str = ", ") -> Iterator[str]:
    """Lines of a comment, the first one after `start`."""
    line, indent = start, re.match(r"#?\s*", start)
    follow = (indent[0] if indent else "") + ("  " if start else "")
    pieces = text.split(separator)
    for i, piece in enumerate(pieces):
        added = piece + (separator if i + 1 < len(pieces) else "")
        if len(line) + len(added) > WIDEST and line.strip() not in ("", start.strip()):
            yield line.rstrip()
            line = follow
        line += added
    yield line.rstrip()


def _block(text: str) -> str:
    quotes = "'''" if "\\" in text else '"""'
    return f"{quotes}\n{text}\n{quotes}"


def _text(text: str) -> str:
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _value(value: str) -> str:
    return value if is_numeral(value) and re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", value) else _text(value)


def _list(names: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"
