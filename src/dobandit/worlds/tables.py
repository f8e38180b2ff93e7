"""The mechanism of one variable as a table of probabilities, and what such a table must be.

The last axis is the variable itself, the axes before it are its inputs, and the first is the trial:
a row (all but the last axis fixed) is the distribution of the variable for these inputs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import UnknownVariable, WorldError, listing
from dobandit.graph import Graph
from dobandit.memory import memory_limit
from dobandit.numerals import amount, size
from dobandit.problem import Value, label

Labels = Mapping[str, tuple[str, ...]]

TOLERANCE = 1e-6  # how far from 1 the sum of a row may be; files round their numbers
BYTES = 64  # of the memory limit for each cell of a world's table, which is there for every trial and is copied

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Node(NamedTuple):
    """A variable of a world, observed or hidden, and how it comes about from its inputs."""

    name: str
    inputs: tuple[str, ...]
    table: Array  # axes: trial, inputs in this order, the variable itself

    @property
    def card(self) -> int:
        """How many values the variable has."""
        return int(self.table.shape[-1])


def normalised(table: Array, name: str, inputs: Sequence[str], domains: Labels) -> Array:
    """The table with rows that sum to one as nearly as floats can; an error names the row that is off.

    >>> normalised(np.array([[[0.5, 0.5], [0.25, 0.7500002]]]), "Y", ["X"], {}).sum(axis=-1)
    array([[1., 1.]])
    >>> normalised(np.array([[[0.5, 0.5], [0.25, 0.7]]]), "Y", ["X"], {"X": ("low", "high")})
    Traceback (most recent call last):
    dobandit.errors.WorldError: the table of Y, row X=high: the probabilities sum to 0.95, not to 1
    """
    check_rows(table, name, inputs, domains)
    return np.asarray(table / table.sum(axis=-1, keepdims=True))


def check_rows(table: Array, name: str, inputs: Sequence[str], domains: Labels) -> None:
    """Every row is a distribution: finite, nowhere negative, with the sum 1."""
    total = table.sum(axis=-1)
    wrong = ~(np.isfinite(table) & (table >= 0)).all(axis=-1) | ~(np.abs(total - 1) <= TOLERANCE)
    if not wrong.any():
        return
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f"the table of {name}{row_name(at[1:], inputs, domains)}" + (f", trial {at[0]}" if len(table) > 1 else "")
    strange = [p for p in table[at] if not (math.isfinite(p) and p >= 0)]
    if strange:
        raise WorldError(f"{where}: a probability is a number from 0 to 1, not {amount(strange[0]) or 'nan'}")
    raise WorldError(f"{where}: the probabilities sum to {amount(round(total[at], 9))}, not to 1")


def row_name(codes: Sequence[int], inputs: Sequence[str], domains: Labels) -> str:
    """`, row X=low, U=0`; the values of hidden inputs have no names, so they are counted from 0."""
    values = (domains[v][code] if v in domains else str(code) for v, code in zip(inputs, codes, strict=True))
    named = ", ".join(f"{v}={value}" for v, value in zip(inputs, values, strict=True))
    return f", row {named}" if named else ""


def check_size(name: str, cards: Sequence[int]) -> None:
    """Refuse a table beyond the memory limit, before it is allocated."""
    cells, most = math.prod(cards), memory_limit() // BYTES
    if cells > most:
        raise WorldError(
            f"the table of {name} would have {size(cells)} cells, since it reads {len(cards) - 1} variables; "
            f"the memory limit allows {size(most)}; DOBANDIT_MEMORY=4GB sets another limit"
        )


def read_domains(domains: Mapping[str, Iterable[Value]] | None, graph: Graph) -> dict[str, tuple[str, ...]]:
    """The labels of the values of the variables that are named, each of them known and different."""
    if not isinstance(domains, Mapping):
        raise WorldError(f"domains: expected a mapping of variables to their values, not {domains!r}")
    for name, values in domains.items():
        if name not in graph:
            raise UnknownVariable(name, graph.variables)
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise WorldError(f"domains: expected a list of the values of {name}, not {values!r}")
    found = {name: tuple(map(label, values)) for name, values in domains.items()}
    for name, labels in found.items():
        if not labels or len(set(labels)) < len(labels):
            raise WorldError(f"domains: {name} needs values that differ by their text, not {listing(labels)}")
    return found


def number(text: str) -> float | None:
    """The number that a label or a word of a file is, or None.

    >>> number("2.5"), number("1e3"), number("nan"), number("low")
    (2.5, 1000.0, None, None)
    """
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None
