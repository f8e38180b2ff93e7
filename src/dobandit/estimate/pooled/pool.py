"""The pool: the tables that all arms share, and the mean of every arm as a circuit over their cells.

An estimate is the value of one formula for one arm. Most arms have one; some have two that are weighed, or two choices
of formulas of which the better one is taken; an arm for which every table would be too wide has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Indices
from dobandit.estimate.pooled.circuit import Circuit, Compiled, Function
from dobandit.estimate.pooled.formula_choice import FormulaChoice, cards_of, choice_for, choice_for_observing
from dobandit.estimate.pooled.formulas import Factor, Formula, overlapping
from dobandit.estimate.pooled.invariance import pooled, private
from dobandit.estimate.pooled.messages import Messages, contract
from dobandit.evidence import CountTable, Layout, measuring
from dobandit.problem import Problem


class Pair(NamedTuple):
    """Two estimates of one arm that are weighed by their variances; if they overlap, the better one is taken."""

    first: int
    second: int
    overlap: bool


class Pool:
    """What is compiled once for a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        chosen: dict[tuple[str, ...], FormulaChoice] = {(): choice_for_observing(problem)}
        acting = problem.graph.ancestral(problem.reward)
        chosen |= {(v,): choice_for(problem, v) if v in acting else chosen[()] for v in problem.intervenable}
        self.is_alias = np.array([not a.observes and acting.isdisjoint(a.variables) for a in problem.arms])
        factors = dict.fromkeys(
            f for choice in chosen.values() for formula in (*choice.whole, *choice.projected) for f in formula.factors
        )
        self._table_of = {factor: table_of(problem, factor) for factor in factors}
        self.tables = tuple(dict.fromkeys(self._table_of.values()))
        self.layout = Layout(problem, self.tables)
        self.arms = len(problem.arms)
        self._cards = cards_of(problem)
        self._circuit = Circuit(self.layout.size, self._cards)
        self._shared: Messages | None = None
        self._outputs: list[int] = []
        self.arm_of: list[int] = []  # of every estimate
        self.choices: list[list[tuple[int, ...]]] = [[] for _ in problem.arms]  # of every arm: estimates
        self.pairs: list[Pair] = []
        self._compile(chosen)
        self.circuit: Compiled = self._circuit.compile(self._outputs)
        self.has_none = np.array(
            [not choices for choices in self.choices]
        )  # arms that learn from their own rewards only

    @property
    def estimates(self) -> int:
        return len(self.arm_of)

    def _compile(self, chosen: Mapping[tuple[str, ...], FormulaChoice]) -> None:
        problem = self.problem
        whole = chosen[()].whole
        if whole and len(whole[0].factors) > 1:
            functions = {f.variable: self._function(f, whole[0]) for f in whole[0].factors}
            self._shared = Messages(self._circuit, functions, self._cards)
            self._base = whole[0]
        of_variable = {v: [self._values(used) for used in choice if used] for v, choice in chosen.items()}
        for k, arm in enumerate(problem.arms):
            code = next(iter(arm.codes(problem.domains).values()), 0)
            formulas = [used for used in chosen[arm.variables] if used]
            for used, values in zip(formulas, of_variable[arm.variables], strict=True):
                places = tuple(self._add(k, int(nodes[code if len(nodes) > 1 else 0])) for nodes in values)
                self.choices[k].append(places)
                if len(places) == 2:
                    self.pairs.append(Pair(*places, overlapping(*used)))

    def _add(self, arm: int, node: int) -> int:
        self._outputs.append(node)
        self.arm_of.append(arm)
        return len(self._outputs) - 1

    def _values(self, used: tuple[Formula, ...]) -> list[Indices]:
        """The nodes of the effects of setting a variable, for its values in turn."""
        return [self._value(formula).nodes.reshape(-1) for formula in used]

    def _value(self, formula: Formula) -> Function:
        """The sum of a formula, by messages where it differs from that of do() in few factors."""
        if self._shared is not None and formula == self._base:
            return self._shared.whole
        new = {f.variable: f for f in formula.factors}
        if self._shared is None or not self._is_change_of_base(formula):
            functions = [self._function(f, formula) for f in formula.factors]
            return contract(self._circuit, functions, [formula.kept or ""], self._cards)
        # A factor that the formula does not mention sums to one; but where X is set, its own table is left out.
        left_out = {formula.do} if formula.kept == formula.do else set()
        gone = {f.variable for f in self._base.factors if new.get(f.variable, f) != f or f.variable in left_out}
        put = [self._function(f, formula) for f in formula.factors if f.variable in gone]
        return self._shared.replaced(gone, put, str(formula.kept))

    def _is_change_of_base(self, formula: Formula) -> bool:
        base = {f.variable: set(f.given) for f in self._base.factors}
        return all(f.variable in base and set(f.given) <= base[f.variable] for f in formula.factors)

    def _function(self, factor: Factor, formula: Formula) -> Function:
        """The cells of a factor. Y is one."""
        nodes, axes = self._cells(self._table_of[factor]), formula.axes(factor)
        return Function(axes[:-1], nodes[..., 1]) if factor.variable == self.problem.reward else Function(axes, nodes)

    def _cells(self, table: CountTable) -> Indices:
        at = self.layout.slice(table)
        return np.arange(at.start, at.stop).reshape(self.layout.shapes[self.layout.place[table]])


def table_of(problem: Problem, factor: Factor) -> CountTable:
    """The table that a factor is read from."""
    if factor.setting:
        return measuring(problem, private(problem, factor.variable, factor.given, factor.setting))
    return measuring(problem, pooled(problem, factor.variable, factor.given))
