"""An estimand: the recipe by which tables of observations turn into the effect of an intervention.

>>> from dobandit.graph import Graph
>>> from dobandit.identification import identify
>>> e = identify(Graph("X -> M -> Y; X <-> Y"), do="X", on="Y")
>>> print(e)
P(Y | do(X)) = Σ_M P(M | X) [Σ_X' P(X') P(Y | X', M)]
>>> [str(t) for t in e.tables]
['P(M | X)', 'P(X)', 'P(Y | X, M)']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from dobandit.graph import quoted
from dobandit.identification.expressions import Sum, Table, tables

if TYPE_CHECKING:
    from dobandit.arrays import Array
    from dobandit.identification.formulas import Notation

Method = Literal["observed", "no-backdoor", "adjustment", "c-factor"]


@dataclass(frozen=True, repr=False)
class Estimand:
    """P(on | do(do)) as a recipe over tables P(v | z); `do` are the variables that are set, in graph order.

    `method` says which kind: "observed" (the intervention cannot matter), "no-backdoor" (seeing is
    doing), "adjustment" (averaging over a set of covariates) or "c-factor" (everything else).
    """

    do: tuple[str, ...]
    on: tuple[str, ...]
    method: Method
    formula: Sum

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables that the recipe needs, each once."""
        return tuple(dict.fromkeys(tables(self.formula)))

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that have to be observed."""
        return frozenset[str]().union(*(t.free for t in self.tables))

    def evaluate(self, tables: Mapping[Table, Array], strict: bool = True) -> Array:
        """The effect, from numbers in the place of the tables.

        Parameters
        ----------
        tables
            An array for each of `self.tables`. That of P(v | z_1, z_2) has the axes (trial, z_1, z_2, v); cells whose z
            never occurs are NaN. A term with a zero factor is zero whatever stands beside it.
        strict
            Whether to raise `MissingCell` if an undefined cell is needed. Otherwise the result is NaN there.

        Returns
        -------
        array
            P(on | do(do)) with axes (trial, value of each variable of do, value of each variable of on). Where the
            effect does not depend on the value of a variable of `do`, its axis has length one.
        """
        from dobandit.identification.evaluation import evaluate

        return evaluate(self, tables, strict)

    def gradient(self, tables: Mapping[Table, Array], weights: Array) -> dict[Table, Array]:
        """The derivative of the sum of `weights` times P(on | do(do)) by every cell of the tables.

        Parameters
        ----------
        tables
            As for `evaluate`.
        weights
            An array with the axes of what `evaluate` returns.

        Returns
        -------
        dict of arrays
            The derivatives, each with the axes of its table. They are NaN where a cell, if it were not zero, would make
            an undefined one matter.
        """
        from dobandit.identification.evaluation import gradient

        return gradient(self, tables, weights)

    def __repr__(self) -> str:
        return f"<Estimand: {self}>"

    def _repr_html_(self) -> str:
        from dobandit.identification.formulas import MathML

        return f'<math display="block">{self._written(MathML(), "<mo>=</mo>")}</math>'

    def _repr_latex_(self) -> str:
        from dobandit.identification.formulas import Latex

        return rf"$\displaystyle {self._written(Latex(), ' = ')}$"

    def _written(self, notation: Notation, equals: str) -> str:
        from dobandit.identification.formulas import written

        names = {x: quoted(x) for x in self.do}
        left = notation.probability([*map(quoted, self.on)], [], list(names.values()))
        return f"{left}{equals}{written(self.formula, names, notation)}"

    def __str__(self) -> str:
        formula = self.formula.write({x: quoted(x) for x in self.do})
        return f"P({', '.join(map(quoted, self.on))} | do({', '.join(map(quoted, self.do))})) = {formula}"
