"""The rows themselves, for what counts of tables cannot say: values as codes, measurements as numbers.

Rows come in an order of their own, whatever the order in which a file or a database has them, so that everything that
is worked out from them is the same again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.evidence.counts import Domains, observations
from dobandit.evidence.source import Source


@dataclass(frozen=True)
class Sample:
    """Plain observations, each with the number of rows that it stands for."""

    codes: Mapping[str, Indices]  # the position of the value in the domain
    numbers: Mapping[str, Array]
    weights: Array


def read_sample(source: Source, variables: Iterable[str], domains: Domains, numbers: Collection[str] = ()) -> Sample:
    """The rows of these variables; those that are `numbers` have no domain."""
    variables = tuple(dict.fromkeys(variables))
    found = observations(source, variables)
    codes = {v: found.codes(v, domains[v]) for v in variables if v not in numbers}
    measured = {v: found.numbers(v) for v in variables if v in numbers}
    order = np.lexsort([found.weights, *codes.values(), *measured.values()])
    return Sample(
        {v: column[order] for v, column in codes.items()},
        {v: column[order] for v, column in measured.items()},
        found.weights[order],
    )
