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
from dobandit.evidence import MOST_CELLS, CountTable, Layout, cells
from dobandit.problem import Arm, Problem

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
    tables = [CountTable(v, graph.ordered_effective_parents(v), len(used), rest) for rest, v in enumerate(used)]
    too_wide = any(cells(t.given, problem.domains) > MOST_CELLS for t in tables)  # then S is zero anyway
    return () if too_wide else tuple(Factor(t, t.variable in tied) for t in tables)


class Recipe(NamedTuple):
    """How the estimate of one arm is read off the flat row of cells."""

    arm: int
    do: dict[str, int]  # the variable that the arm sets, and the code of its value
    factors: tuple[Factor, ...]  # those that do not sum to one
    terms: Indices | None  # axes: term of the sum, factor; None where there are too many terms to list
    conditions: Indices  # the rows (table, z) that S counts


class Split:
    """S and Y of every arm from the counts of their factors, for the rows of a batch."""

    def __init__(self, problem: Problem, layout: Layout, factors: Mapping[str, Sequence[Factor]]) -> None:
        self._problem, self._layout = problem, layout
        # Where the rows P(. | z) of the tables begin:
        starts = [
            np.arange(at.start, at.stop, shape[-1]) for at, shape in zip(layout.slices, layout.shapes, strict=True)
        ]
        self._starts = np.concatenate([np.zeros(0, dtype=np.intp), *starts])
        self._row_of_cell = np.repeat(np.arange(len(self._starts)), np.diff([*self._starts, layout.size]))
        self._recipes = [
            self._recipe(k, arm, factors[v]) for k, arm in enumerate(problem.arms) for v in arm.variables if factors[v]
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
            own = np.flatnonzero(self._row_of_cell == row)
            shuffled = rng.permutation(np.repeat(own, np.rint(counts[own]).astype(int)))
            for s, part in enumerate(np.array_split(shuffled, parts)):
                frequencies[s] += np.bincount(part, minlength=len(counts)) / len(part)
        return self._value(frequencies, recipe)

    def _value(self, frequencies: Array, recipe: Recipe) -> Array:
        """The sum over the terms of the products of frequencies, in an order that no batch can change."""
        if recipe.terms is None:
            sliced = [self._sliced(frequencies, f, recipe) for f in recipe.factors]
            return contract(sliced, ()) * np.ones(len(frequencies))
        first, *others = recipe.terms.T
        product = frequencies.take(first, axis=1)
        for factor in others:
            product *= frequencies.take(factor, axis=1)
        return np.asarray(product.sum(axis=1))

    def _sliced(self, frequencies: Array, factor: Factor, recipe: Recipe) -> Named:
        """A factor as a function of the summed variables: Y at 1, and X at x outside C."""
        fixed = {self._problem.reward: 1} | ({} if factor.inside else recipe.do)
        return Named(factor.table.variables, self._layout.view(frequencies, factor.table)).at(fixed)

    def _recipe(self, k: int, arm: Arm, factors: Sequence[Factor]) -> Recipe:
        do, reward = arm.codes(self._problem.domains), self._problem.reward
        used = self._problem.graph.ancestral_graph(reward).needed_factors(reward, do=arm.variables)
        # With factors="all" the other factors only count for S.
        needed = [f for f in factors if f.table.variable in used]
        conditions = [self._cells(f, f.table.given, {}, do) for f in factors]
        rows = np.unique(self._row_of_cell[np.concatenate(conditions)])
        names = tuple(f.table.variable for f in needed)
        terms = None
        if cells((v for v in names if v != reward), self._problem.domains) <= MOST_TERMS:
            terms = np.stack([self._cells(f, names, {reward: 1}, do) for f in needed], axis=1)
        return Recipe(k, do, tuple(needed), terms, rows)

    def _cells(self, factor: Factor, names: tuple[str, ...], fixed: dict[str, int], do: dict[str, int]) -> Indices:
        """The cells of a factor for all values of some variables; outside C, X is x. What is not named is 0."""
        at = self._layout.place[factor.table]
        shape = self._layout.shapes[at]
        sizes = [1 if v in fixed else len(self._problem.domains[v]) for v in names]
        grid = dict(zip(names, np.indices(sizes).reshape(len(names), math.prod(sizes)), strict=True))
        known = fixed | ({} if factor.inside else do)
        found = np.full(math.prod(sizes), self._layout.offsets[at])
        for axis, v in enumerate(factor.table.variables):
            found = found + known.get(v, grid.get(v, 0)) * math.prod(shape[axis + 1 :])
        return found


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
