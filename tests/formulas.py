"""Formulas as people read them: a printed formula is worked out from its text alone, by plain loops."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dobandit.identification import Table
from tests.models import Model, conditional

Codes = Mapping[str, int]  # the values of variables; X' is another value of X
Function = Callable[[Codes], float]


def worked_out(formula: str, model: Model, do: str, on: str) -> NDArray[np.float64]:
    """The values of the right-hand side of P(on | do(do)) = ..., with axes (value of do, value of on)."""
    left, right = formula.split(" = ")
    assert left == f"P({on} | do({do}))"
    read = _Reader(right, model)
    value = read.sum()
    assert not read.rest, f"{read.rest} is left of {formula}"
    cells = [[value({do: x, on: y}) for y in range(model.cards[on])] for x in range(model.cards[do])]
    return np.array(cells)


class _Reader:
    def __init__(self, text: str, model: Model) -> None:
        self.rest, self.model, self.joint = text, model, model.joint()

    def sum(self) -> Function:
        """Σ_A,B followed by factors, or a ratio of two such sums."""
        if self.rest.startswith("("):
            return self.ratio()
        names: list[str] = []
        if found := re.match(r"Σ_(\S+) ", self.rest):
            names = found[1].split(",")
            self.rest = self.rest[found.end() :]
        factors = [self.factor()]
        while self.rest.startswith(("P(", "[")):
            factors.append(self.factor())
        codes = list(product(*(range(self.model.cards[_variable(name)]) for name in names)))
        return lambda known: sum(
            math.prod(f({**known, **dict(zip(names, code, strict=True))}) for f in factors) for code in codes
        )

    def ratio(self) -> Function:
        self.skip("(")
        above = self.sum()
        self.skip(") / (")
        below = self.sum()
        self.skip(")")
        return lambda known: above(known) / below(known)

    def factor(self) -> Function:
        if self.rest.startswith("["):
            self.skip("[")
            inside = self.sum()
            self.skip("]")
        else:
            inside = self.table()
        self.rest = self.rest.removeprefix(" ")
        return inside

    def table(self) -> Function:
        found = re.match(r"P\(([^ )]+)(?: \| ([^)]+))?\)", self.rest)
        assert found, self.rest
        self.rest = self.rest[found.end() :]
        name, given = found[1], found[2].split(", ") if found[2] else []
        table = Table(_variable(name), tuple(map(_variable, given)))
        values = conditional(self.joint, self.model.graph, table)[0]
        return lambda known: float(values[tuple(known[v] for v in (*given, name))])

    def skip(self, sign: str) -> None:
        assert self.rest.startswith(sign), f"expected {sign} before {self.rest}"
        self.rest = self.rest[len(sign) :]


def _variable(name: str) -> str:
    return name.rstrip("'")
