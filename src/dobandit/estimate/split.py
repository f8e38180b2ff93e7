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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dobandit.chance import Chance
from dobandit.evidence.tally import Layout, Tallied
from dobandit.graph import Graph
from dobandit.problem import Arm, Problem

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_CELLS = 2**14  # a table with more cells than observations will ever fill has S = 0 anyway


@dataclass(frozen=True)
class Factor:
    """P(variable | given) as a factor of the effect of x: `given` holds X at x' inside C, at x outside."""

    table: Tallied
    inside: bool


def factors_of(problem: Problem, variable: str, only_relevant: bool) -> tuple[Factor, ...]:
    """The factors of the effect of a variable, or none where the child condition fails in G[An(Y)]."""
    graph = problem.graph.subgraph(problem.graph.ancestral(problem.reward))
    tied = graph.c_component(variable) if variable in graph else frozenset[str]()
    if variable in graph and tied & graph.children(variable):
        return ()
    used = _relevant(graph, variable, problem.reward, tied) if only_relevant else list(graph.variables)
    tables = []
    for rest, v in enumerate(used):
        given = tuple(u for u in graph.variables if u in graph.effective_parents(v))
        tables.append(Factor(Tallied(v, given, len(used), rest), v in tied))
    too_wide = any(_cells(problem, f.table) > MOST_CELLS for f in tables)
    return () if too_wide else tuple(tables)


def _relevant(graph: Graph, variable: str, reward: str, tied: frozenset[str]) -> list[str]:
    """The variables whose factors the sum needs; the others sum to one.

    From the reward upwards: a factor needs the factors of its given variables, but X as x is a constant.
    """
    needed, todo = {reward}, [reward]
    while todo:
        v = todo.pop()
        above = graph.effective_parents(v)
        if v not in tied:
            above -= {variable}
        new = above - needed
        needed |= new
        todo += new
    return [v for v in graph.variables if v in needed]


class Split:
    """S and Y of every arm from the counts of their factors, for the rows of a batch."""

    def __init__(self, problem: Problem, layout: Layout, factors: Mapping[str, Sequence[Factor]]) -> None:
        self.arms = len(problem.arms)
        starts = [_row_starts(layout, k) for k in range(len(layout.tables))]
        self._starts = np.concatenate([np.zeros(0, dtype=np.intp), *starts])
        self._row_of_cell = np.repeat(np.arange(len(self._starts)), np.diff([*self._starts, layout.size]))
        self._recipes = [
            (k, *_places(problem, layout, factors[arm.variable], arm, self._row_of_cell))
            for k, arm in enumerate(problem.arms)
            if arm.variable is not None and factors[arm.variable]
        ]

    def estimates(self, counts: Array) -> tuple[Array, Array]:
        """S and Y with axes (row, arm); Y is 0 where S is."""
        smallest, value = np.zeros((len(counts), self.arms)), np.zeros((len(counts), self.arms))
        if not self._recipes:
            return smallest, value
        totals = np.add.reduceat(counts, self._starts, axis=1)
        frequencies = counts / np.maximum(totals, 1)[:, self._row_of_cell]
        for arm, terms, conditions in self._recipes:
            smallest[:, arm] = totals[:, conditions].min(axis=1)
            rows = np.flatnonzero(smallest[:, arm] >= 1)
            if len(rows):
                value[rows, arm] = self._sum(frequencies[rows], terms)
        return np.floor(smallest), value

    def split_once(self, counts: Array, arm: int, parts: int, rng: np.random.Generator) -> Array:
        """The estimates Y^1, ..., Y^S of one arm in one row for one random split of every cell's rows."""
        terms, conditions = next((t, c) for k, t, c in self._recipes if k == arm)
        frequencies = np.zeros((parts, len(counts)))
        for row in conditions.tolist():
            cells = np.flatnonzero(self._row_of_cell == row)
            shuffled = rng.permutation(np.repeat(cells, np.rint(counts[cells]).astype(int)))
            for s, part in enumerate(np.array_split(shuffled, parts)):
                frequencies[s] += np.bincount(part, minlength=len(counts)) / len(part)
        estimates: Array = np.prod(frequencies[:, terms], axis=-1).sum(axis=-1)
        return estimates

    def _sum(self, frequencies: Array, terms: Indices) -> Array:
        """The sum over the terms of the products of frequencies."""
        product_ = frequencies[:, terms[:, 0]]
        for cells in terms.T[1:]:
            product_ *= frequencies[:, cells]
        total: Array = product_.sum(axis=1)
        return total


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


def _places(
    problem: Problem, layout: Layout, factors: Sequence[Factor], arm: Arm, row_of_cell: Indices
) -> tuple[Indices, Indices]:
    """The cells of every factor in every term of the sum, and the rows that S counts."""
    by_variable = {f.table.variable: f for f in factors}
    needed = _needed_for_value(by_variable, str(arm.variable), problem.reward)
    codes = {v: range(len(problem.domains[v])) for v in problem.graph.variables}
    codes[problem.reward] = range(1, 2)  # terms with Y=0 contribute nothing
    x = problem.domains[str(arm.variable)].index(str(arm.value))
    terms = [
        [_cell(layout, by_variable[v], dict(zip(needed, values, strict=True)), str(arm.variable), x) for v in needed]
        for values in product(*(codes[v] for v in needed))
    ]
    cells = np.array(terms, dtype=np.intp)
    return cells, np.unique(np.array(list(_conditions(problem, layout, factors, arm, x, row_of_cell)), dtype=np.intp))


def _needed_for_value(factors: Mapping[str, Factor], variable: str, reward: str) -> list[str]:
    """Factors that do not sum to one; with factors="all" the others only count for S."""
    needed, todo = {reward}, [reward]
    while todo:
        factor = factors[todo.pop()]
        above = set(factor.table.given) - (set() if factor.inside else {variable})
        todo += above - needed
        needed |= above
    return [v for v in factors if v in needed]


def _cell(layout: Layout, factor: Factor, values: Mapping[str, int], variable: str, x: int) -> int:
    """The cell of P(v | z) in a term; outside C, X is x."""
    k = layout.place[factor.table]
    at = [x if v == variable and not factor.inside else values[v] for v in (*factor.table.given, factor.table.variable)]
    return int(layout.offsets[k] + np.ravel_multi_index(at, layout.shapes[k]))


def _conditions(
    problem: Problem, layout: Layout, factors: Sequence[Factor], arm: Arm, x: int, row_of_cell: Indices
) -> Iterator[int]:
    """The rows (table, z) that the sum may look at: all z, but outside C only those with X=x."""
    for factor in factors:
        k = layout.place[factor.table]
        ranges = [
            [x] if v == arm.variable and not factor.inside else range(size)
            for v, size in zip(factor.table.given, layout.shapes[k], strict=False)
        ]
        for z in product(*ranges):
            yield int(row_of_cell[layout.offsets[k] + np.ravel_multi_index((*z, 0), layout.shapes[k])])


def _cells(problem: Problem, table: Tallied) -> int:
    return int(np.prod([float(len(problem.domains[v])) for v in table.given]))
