"""A problem proposed from a log: which columns are variables, what their values or bins are, and what is set aside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from dobandit.errors import DataError, counted, did_you_mean, listing
from dobandit.evidence import INTERVENTION, Reading, Source
from dobandit.graph import Graph, normal
from dobandit.problem import Domain, is_missing
from dobandit.proposal.cut_points import cut_points
from dobandit.proposal.judgement import has_bins, reason_against
from dobandit.proposal.profile import Profile, profile


@dataclass(frozen=True)
class Variable:
    """A column that becomes a variable; `cuts` if it is a number with bins."""

    name: str
    profile: Profile
    cuts: tuple[float, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """What `dobandit init --data` writes down."""

    source: str
    reward: Variable
    variables: tuple[Variable, ...]  # the reward is the last one
    set_aside: dict[str, str]  # columns, and why they are no variables
    read: tuple[str, ...]  # how the file was read
    rows: int
    incomplete: int  # rows in which a value of some variable is missing
    interventions: dict[str, int] = field(default_factory=dict)  # what was done, and in how many rows
    graph: Graph | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What to look at twice."""
        none = [
            f"{v.name}: the text {text!r} ({counted(rows, 'row')}) is listed as a value; remove it from [domains] "
            "if it means that nothing is known"
            for v in self.variables
            for text, rows in v.profile.none.items()
        ]
        alike = [
            f"{v.name}: {listing(map(repr, texts))} differ only in upper and lower case, and are different values; "
            "write them alike if they mean the same"
            for v in self.variables
            for texts in v.profile.alike
        ]
        return (*none, *alike)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The variables of the graph that have no column."""
        seen = {variable.name for variable in self.variables}
        return tuple(v for v in self.graph.variables if v not in seen) if self.graph else ()


def propose(source: Source, reward: str, graph: Graph | None = None) -> Proposal:
    """A problem with this reward from the columns of a source, all of them or those of a graph."""
    names = _names(source, graph)
    rewarded = next((column for column, name in names.items() if reward in (name, column)), None)
    if rewarded is None:
        near = did_you_mean(reward, source.columns) or f"the columns are {listing(source.columns)}"
        raise DataError(f"{source.name}: there is no column {reward} for the reward; {near}")
    if graph is not None and names[rewarded] not in graph:
        raise DataError(f"the graph has no variable {names[rewarded]}; it has {listing(graph.variables)}")
    found, set_aside = list[Variable](), dict[str, str]()
    for column, name in names.items():
        held = profile(source, column)
        reason = _reason(held, name, column == rewarded, graph)
        if reason is None:
            cuts = cut_points(*held.numbers) if has_bins(held) and column != rewarded else ()
            found.append(Variable(name, held, tuple(cuts)))
        elif column == rewarded:
            raise DataError(f"{source.name}: the column {reward} cannot be the reward: {reason}")
        else:
            set_aside[column] = reason
    (last,) = [variable for variable in found if variable.profile.column == rewarded]
    variables = (*(variable for variable in found if variable is not last), last)
    rows = last.profile.rows + last.profile.missing.total()
    incomplete, done = _incomplete(source, variables), _done(source)
    return Proposal(source.name, last, variables, set_aside, source.notes, rows, incomplete, done, graph)


def _names(source: Source, graph: Graph | None) -> dict[str, str]:
    """The name of the variable of every column: its own, or the name of a variable of the graph that is spelt alike."""
    known = {_alike(v): v for v in graph.variables} if graph else {}
    own = {column: normal(column) for column in source.columns if column != INTERVENTION}
    return {
        column: name if graph is None or name in graph else known.get(_alike(name), name)
        for column, name in own.items()
    }


def _alike(name: str) -> str:
    return re.sub(r"\W+|_+", " ", name).strip().lower()


def _reason(held: Profile, name: str, is_reward: bool, graph: Graph | None) -> str | None:
    if held.column.lower() == INTERVENTION:
        return f"what was done is read from a column that is called {INTERVENTION}; rename this one if it says that"
    if graph is not None and name not in graph:
        return "not in the graph"
    reason = reason_against(held)
    if is_reward and len(held.counts) > 1 and held.is_numeric:
        return None  # whatever the numbers look like
    return reason


def _incomplete(source: Source, variables: Iterable[Variable]) -> int:
    holes = [v.profile.column for v in variables if v.profile.missing]
    if not holes:
        return 0
    words = {v.profile.column: Domain(tuple(v.profile.none)) for v in variables}
    return source.read_as({column: Reading(column, words[column]) for column in holes}).rows_without(holes)


def _done(source: Source) -> dict[str, int]:
    if INTERVENTION not in source.columns:
        return {}
    return {"do()" if is_missing(each.value) else str(each.value): each.rows for each in source.values(INTERVENTION)}
