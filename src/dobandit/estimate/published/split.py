"""The paper's estimator (equations 3-8): observations split among the factors of the interventional distribution.

In G[An(Y)], with C the c-component of X, E[Y | do(X=x)] is a sum over all values w of the other variables with
Y=1, and over x', of the product of P(v_j | z_j) at x' for V_j in C and at x for all others (z_j the ordered
effective parents). The k-th observation belongs to factor k modulo the number of factors, so that the factors
are estimated from different rows. S is the smallest number of rows behind any cell that the sum needs; the paper
splits every cell's rows into S parts at random and so makes S estimates Y^s. Their mean over the random splits is
the plug-in estimate Y from the whole cells, which is what `Split` gives: the same expectation, less noise.

S is zero where some cell has no row, and where X has a child in C: then only the arm's own pulls count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.elimination import Factor as Named
from dobandit.elimination import contract
from dobandit.evidence import CountTable, Layout
from dobandit.problem import Arm, Problem

MOST_CELLS = 2**14  # a table with more cells than observations will ever fill has S = 0 anyway
MOST_TERMS = 2**9  # up to which listing the terms of a sum is quicker than eliminating its variables


@dataclass(frozen=True)
class Factor:
    """P(variable | given) as a factor of the effect of x: `given` holds X at x' inside C, at x outside."""

    table: CountTable
    inside: bool


def factors_of(problem: Problem, variable: str, only_relevant: bool) -> tuple[Factor, ...]:
    """The factors of the effect of a variable, or none where the child condition fails in G[An(Y)]."""
    graph = problem.graph.ancestral_graph(problem.reward)
    tied = graph.c_component(variable) if variable in graph else frozenset[str]()
    if variable in graph and graph.has_confounded_child(variable):
        return ()
    used = graph.needed_factors(problem.reward, do=variable) if only_relevant else graph.variables
    tables = []
    for rest, v in enumerate(used):
        tables.append(Factor(CountTable(v, graph.ordered_effective_parents(v), len(used), rest), v in tied))
    too_wide = any(_cells(problem, f.table) > MOST_CELLS for f in tables)
    return () if too_wide else tuple(tables)


class Recipe(NamedTuple):
    """How the estimate of one arm is read off the flat row of cells."""

    arm: int
    variable: str
    x: int  # the code that the arm sets
    factors: tuple[Factor, ...]  # those that do not sum to one
    terms: Indices | None  # axes: term of the sum, factor; None where there are too many terms to list
    conditions: Indices  # the rows (table, z) that S counts


class Split:
    """S and Y of every arm from the counts of their factors, for the rows of a batch."""

    def __init__(self, problem: Problem, layout: Layout, factors: Mapping[str, Sequence[Factor]]) -> None:
        self._problem, self._layout = problem, layout
        starts = [_row_starts(layout, k) for k in range(len(layout.tables))]
        self._starts = np.concatenate([np.zeros(0, dtype=np.intp), *starts])
        self._row_of_cell = np.repeat(np.arange(len(self._starts)), np.diff([*self._starts, layout.size]))
        self._recipes = [
            self._recipe(k, arm, factors[arm.variable])
            for k, arm in enumerate(problem.arms)
            if arm.variable is not None and factors[arm.variable]
        ]

    def estimates(self, counts: Array) -> tuple[Array, Array]:
        """S and Y with axes (row, arm); Y is 0 where S is."""
        shape = (len(counts), len(self._problem.arms))
        smallest, value = np.zeros(shape), np.zeros(shape)
        if not self._recipes:
            return smallest, value
        totals = np.rint(np.add.reduceat(counts, self._starts, axis=1))  # a reward between 0 and 1 leaves dust
        frequencies = counts / np.maximum(totals, 1).take(self._row_of_cell, axis=1)
        for recipe in self._recipes:
            smallest[:, recipe.arm] = totals.take(recipe.conditions, axis=1).min(axis=1)
            rows = np.flatnonzero(smallest[:, recipe.arm] >= 1)
            if len(rows):
                value[rows, recipe.arm] = self._value(frequencies[rows], recipe)
        return smallest, value

    def split_once(self, counts: Array, arm: int, parts: int, rng: np.random.Generator) -> Array:
        """The estimates Y^1, ..., Y^S of one arm in one row for one random split of every cell's rows."""
        recipe = next(r for r in self._recipes if r.arm == arm)
        frequencies = np.zeros((parts, len(counts)))
        for row in recipe.conditions.tolist():
            cells = np.flatnonzero(self._row_of_cell == row)
            shuffled = rng.permutation(np.repeat(cells, np.rint(counts[cells]).astype(int)))
            for s, part in enumerate(np.array_split(shuffled, parts)):
                frequencies[s] += np.bincount(part, minlength=len(counts)) / len(part)
        return self._value(frequencies, recipe)

    def _value(self, frequencies: Array, recipe: Recipe) -> Array:
        """The sum over the terms of the products of frequencies, in an order that no batch can change."""
        if recipe.terms is None:
            return contract([self._sliced(frequencies, f, recipe) for f in recipe.factors], ()) * np.ones(
                len(frequencies)
            )
        product: Array = frequencies.take(recipe.terms[:, 0], axis=1)
        for cells in recipe.terms.T[1:]:
            product *= frequencies.take(cells, axis=1)
        total: Array = product.sum(axis=1)
        return total

    def _sliced(self, frequencies: Array, factor: Factor, recipe: Recipe) -> Named:
        """A factor as a function of the summed variables: Y at 1, and X at x outside C."""
        values = self._layout.view(frequencies, factor.table)
        fixed = {self._problem.reward: 1} | ({} if factor.inside else {recipe.variable: recipe.x})
        return Named((*factor.table.given, factor.table.variable), values).at(fixed)

    def _recipe(self, k: int, arm: Arm, factors: Sequence[Factor]) -> Recipe:
        variable, x = str(arm.variable), self._problem.domains[str(arm.variable)].index(str(arm.value))
        graph = self._problem.graph.ancestral_graph(self._problem.reward)
        used = graph.needed_factors(self._problem.reward, do=variable)  # with factors="all" the others only count for S
        needed = [f for f in factors if f.table.variable in used]
        conditions = [self._cells(f, f.table.given, {}, variable, x) for f in factors]
        rows = np.unique(self._row_of_cell[np.concatenate(conditions)])
        names = tuple(f.table.variable for f in needed)
        sizes = [1 if v == self._problem.reward else len(self._problem.domains[v]) for v in names]
        terms = None
        if math.prod(sizes) <= MOST_TERMS:
            columns = [self._cells(f, names, {self._problem.reward: 1}, variable, x) for f in needed]
            terms = np.stack(columns, axis=1)
        return Recipe(k, variable, x, tuple(needed), terms, rows)

    def _cells(
        self, factor: Factor, names: tuple[str, ...], fixed: Mapping[str, int], variable: str, x: int
    ) -> Indices:
        """The cells of a factor for all values of some variables; outside C, X is x. What is not named is 0."""
        at = self._layout.place[factor.table]
        shape = self._layout.shapes[at]
        sizes = [1 if v in fixed else len(self._problem.domains[v]) for v in names]
        grid = dict(zip(names, np.indices(sizes).reshape(len(names), math.prod(sizes)), strict=True))
        cells = np.full(math.prod(sizes), self._layout.offsets[at])
        for axis, v in enumerate((*factor.table.given, factor.table.variable)):
            outside = v == variable and not factor.inside
            code = x if outside else fixed[v] if v in fixed else grid.get(v, 0)
            cells = cells + code * math.prod(shape[axis + 1 :])
        return cells


def random_split(split: Split, counts: Array, trials: Indices, round_: int, chance: Chance) -> tuple[Array, Array]:
    """S and the mean of the S estimates, with the rows of every cell split into S parts at random, as printed.

    Which rows a part gets is chance, but only how many of each value matters, so counts are enough.
    """
    smallest, value = split.estimates(counts)
    seeds = (chance.uniforms(trials, round_, 1, ":split")[:, 0] * 2**53).astype(np.int64)
    for i, seed in enumerate(seeds.tolist()):
        rng = np.random.default_rng(seed)
        for arm in np.flatnonzero(smallest[i] >= 1).tolist():
            value[i, arm] = split.split_once(counts[i], arm, int(smallest[i, arm]), rng).mean()
    return smallest, value


def _row_starts(layout: Layout, k: int) -> Indices:
    """Where the rows P(. | z) of a table begin."""
    return np.arange(layout.offsets[k], layout.offsets[k + 1], layout.shapes[k][-1])


def _cells(problem: Problem, table: CountTable) -> int:
    return int(np.prod([float(len(problem.domains[v])) for v in table.given]))
