"""The pool: the tables that all arms share, and the mean of every arm as a circuit over their cells.

An estimate is the value of one formula for one arm. Most arms have one; some have two that are weighed, or two choices
of formulas of which the better one is taken; an arm for which every table would be too wide has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Flags, Indices
from dobandit.elimination import Messages, summed
from dobandit.estimate.pooled.circuit import Circuit, Compiled, Function
from dobandit.estimate.pooled.dominance import first_alike
from dobandit.estimate.pooled.formula_choice import FormulaChoice, FormulaChooser, cards_of
from dobandit.estimate.pooled.formulas import Do, Factor, Formula, difference, overlapping, set_axis
from dobandit.estimate.pooled.invariance import pooled, private
from dobandit.evidence import CountTable, Layout, measuring
from dobandit.problem import Problem


class Pair(NamedTuple):
    """Two estimates of one arm that are weighed by their variances; if they overlap, the better one is taken."""

    first: int
    second: int
    overlap: bool


class Pool:
    """What is compiled once for a problem. `counted` are the arms whose outcomes are counted, by default all."""

    def __init__(self, problem: Problem, counted: Iterable[int] | None = None) -> None:
        self.problem = problem
        of_arm = [frozenset(arm.variables) for arm in problem.arms]
        acts = {s: problem.graph.acting(problem.reward, s) for s in of_arm}  # what still matters when all are set
        self.acting = [acts[s] for s in of_arm]
        sets = tuple(dict.fromkeys(of_arm if counted is None else (of_arm[k] for k in counted)))
        chooser = FormulaChooser(problem, sets)
        chosen: dict[Do, FormulaChoice] = {(): chooser.for_observing()}
        chosen |= {do: chooser.for_setting(do) for do in dict.fromkeys(self.acting) if do}
        self.alias_of = np.array(first_alike(problem))
        self.is_alias = self.alias_of < np.arange(len(problem.arms))
        used = [formula for choice in chosen.values() for formula in (*choice.whole, *choice.projected)]
        has_base = bool(chosen[()].whole)  # then its factors come first, and only others are new
        factors = dict.fromkeys(f for w in used for f in (w.changes if has_base else w.factors))
        self._table_of = {factor: table_of(problem, factor) for factor in factors}
        self.tables = tuple(dict.fromkeys(self._table_of.values()))
        self._chosen = chosen
        self.layout = Layout(problem, self.tables)
        self.arms = len(problem.arms)
        self._cards = cards_of(problem)
        self._circuit = Circuit(self.layout.size, self._cards)
        self._shared: Messages[Function] | None = None
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

    def unidentified(self) -> Iterator[tuple[Do, CountTable]]:
        """The private tables of arms without a formula that needs none, and what these arms set. A table that also
        belongs to another arm, which has such a formula, is not among them."""
        is_open = set(self.open_sets())
        beside = {table for do in self._chosen.keys() - is_open for table in self._private(do)}
        for do in self.open_sets():
            yield from ((do, table) for table in self._private(do) if table not in beside)

    @property
    def told_by_observations(self) -> Flags:
        """Whether an arm has a formula without private tables: observations tell its mean."""
        is_open = set(self.open_sets())
        return np.asarray(~self.has_none & np.array([do not in is_open for do in self.acting]))

    def open_sets(self) -> list[Do]:
        """What arms set that have formulas, but none without private tables."""
        found = {do: [f.has_private for used in choice for f in used] for do, choice in self._chosen.items()}
        return [do for do, private in found.items() if private and all(private)]

    def _private(self, do: Do) -> list[CountTable]:
        formulas = [formula for used in self._chosen[do] for formula in used]
        return [self._table_of[f] for formula in formulas for f in formula.changes if f.setting is not None]

    def _compile(self, chosen: Mapping[Do, FormulaChoice]) -> None:
        problem = self.problem
        whole = chosen[()].whole
        if whole and len(whole[0].factors) > 1:
            functions = {f.variable: self._function(f, whole[0]) for f in whole[0].factors}
            self._shared = Messages(self._circuit, functions, self._cards)
            self._base = whole[0]
        values_of = {do: [list(map(self._value, used)) for used in choice if used] for do, choice in chosen.items()}
        for k, (arm, acts) in enumerate(zip(problem.arms, self.acting, strict=True)):
            codes = arm.codes(problem.domains)
            codes |= {set_axis(v): code for v, code in codes.items()}
            formulas = [used for used in chosen[acts] if used]
            for used, values in zip(formulas, values_of[acts], strict=True):
                places = tuple(self._add(k, int(v.nodes[tuple(codes[a] for a in v.axes)])) for v in values)
                self.choices[k].append(places)
                if len(places) == 2:
                    self.pairs.append(Pair(*places, overlapping(*used)))

    def _add(self, arm: int, node: int) -> int:
        self._outputs.append(node)
        self.arm_of.append(arm)
        return len(self._outputs) - 1

    def _value(self, formula: Formula) -> Function:
        """The sum of a formula for all values that are set, by messages where it differs from that of do() in few
        factors."""
        if self._shared is not None and formula is self._base:
            return self._shared.whole
        changed = None if self._shared is None else difference(formula, self._base)
        if self._shared is None or changed is None:
            functions = [self._function(f, formula) for f in formula.factors]
            return summed(self._circuit, functions, formula.kept, self._cards)
        gone, put = changed
        return self._shared.replaced(gone, [self._function(f, formula) for f in put], formula.kept)

    def _function(self, factor: Factor, formula: Formula) -> Function:
        """The cells of a factor. Y is one."""
        nodes, axes = self._cells(self._table_of[factor]), formula.axes(factor)
        return Function(axes[:-1], nodes[..., 1]) if factor.variable == self.problem.reward else Function(axes, nodes)

    def _cells(self, table: CountTable) -> Indices:
        at = self.layout.slice(table)
        return np.arange(at.start, at.stop).reshape(self.layout.shapes[self.layout.place[table]])


def table_of(problem: Problem, factor: Factor) -> CountTable:
    """The table that a factor is read from."""
    if factor.setting is None:
        return measuring(problem, pooled(problem, factor.variable, factor.given))
    return measuring(problem, private(problem, factor.variable, factor.given, factor.setting))
