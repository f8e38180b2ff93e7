"""The mechanisms of a c-component with its hidden causes, drawn to agree with what was observed.

Every hidden cause is a root with a few values, so that the c-component is a mixture: what was observed of it, summed
over the values of its hidden causes. Its tables are drawn from their posterior by Gibbs sampling (Diebolt and Robert
1994): rows are dealt to the values of the hidden causes, then the tables are drawn as if these had been seen. Where
observations do not identify the tables, the prior decides between those that agree with the observations. To reach all
of these, the chains start from the prior with few rows, and are shown more and more of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import reduce

import numpy as np

from dobandit.arrays import Array, Indices

FIRST_ROWS, SWEEPS = 16, 10  # rows that count at first; sweeps before their number is doubled
LAST_SWEEPS, BETWEEN = 20, 5  # sweeps with all rows; sweeps between two draws of one chain
CHAINS = 64
TINY = 1e-300  # chances never vanish, so that no row becomes impossible

Tables = dict[str, Array]  # of hidden causes and variables: axes (draw, inputs, itself)


class Mixture:
    """A c-component: the tables of its hidden causes and of its variables, and what was observed of it.

    Parameters
    ----------
    inputs
        What each hidden cause (nothing) and each variable reads, in the order of the axes of its table.
    cards
        The numbers of values of all of these.
    codes
        For each observed variable its codes in the combinations of values that occur.
    rows
        How often each combination occurs.
    priors
        The parameters of the Dirichlet distribution of a row of each table.
    """

    def __init__(
        self,
        inputs: Mapping[str, tuple[str, ...]],
        cards: Mapping[str, int],
        codes: Mapping[str, Indices],
        rows: Array,
        priors: Mapping[str, Array],
    ) -> None:
        self.rows, self.priors = rows, priors
        hidden = [name for name in inputs if name not in codes]
        self.combinations = math.prod(cards[name] for name in hidden)
        values = np.indices([cards[name] for name in hidden]).reshape(len(hidden), 1, self.combinations)
        known = {v: column[:, np.newaxis] for v, column in codes.items()} | dict(zip(hidden, values, strict=True))
        axes = {name: (*read, name) for name, read in inputs.items()}
        self._shapes = {name: tuple(cards[axis] for axis in along) for name, along in axes.items()}
        size = (len(rows), self.combinations)
        self._places = {
            name: np.broadcast_to(np.ravel_multi_index([known[a] for a in along], self._shapes[name]), size)
            for name, along in axes.items()
        }  # in the flat table: of each combination that occurs, and of the hidden causes

    def drawn(self, draws: int, rng: np.random.Generator) -> Tables:
        """So many draws of all tables."""
        if self.combinations == 1:  # nothing is hidden
            return self._from_counts(np.broadcast_to(self.rows[:, np.newaxis], (draws, len(self.rows), 1)), rng)
        chains = min(draws, CHAINS)
        tables = self._from_counts(np.zeros((chains, len(self.rows), self.combinations)), rng)  # the prior
        for share in self._shares():
            tables = self._swept(tables, share, rng)
        found = [tables]
        while len(found) * chains < draws:
            for _ in range(BETWEEN):
                tables = self._swept(tables, 1.0, rng)
            found.append(tables)
        return {name: np.concatenate([part[name] for part in found])[:draws] for name in tables}

    def divergence(self, tables: Tables, known: Array) -> Array:
        """By draw, how far the chances of the rows are below those that are known of the combinations: the
        Kullback-Leibler divergence, per row."""
        ratio = np.log(known) - np.log(self._joint(tables).sum(axis=-1))
        return np.asarray(ratio @ self.rows / max(self.rows.sum(), 1.0))

    def _shares(self) -> Iterator[float]:
        """The share of the rows that counts in each sweep."""
        total = max(float(self.rows.sum()), 1.0)
        for doubled in range(max(math.ceil(math.log2(total / FIRST_ROWS)), 0)):
            yield from [FIRST_ROWS * 2**doubled / total] * SWEEPS
        yield from [1.0] * LAST_SWEEPS

    def _swept(self, tables: Tables, share: float, rng: np.random.Generator) -> Tables:
        joint = self._joint(tables)
        chances = joint / joint.sum(axis=-1, keepdims=True)
        number = np.floor(share * self.rows + rng.random(joint.shape[:-1])).astype(np.int64)
        return self._from_counts(rng.multinomial(number, chances).astype(float), rng)

    def _joint(self, tables: Tables) -> Array:
        """The chance of each combination and of the hidden causes: axes (draw, combination, values of the causes)."""
        factors = (tables[name].reshape(len(tables[name]), -1)[:, at] for name, at in self._places.items())
        return np.maximum(reduce(np.multiply, factors), TINY)

    def _from_counts(self, counts: Array, rng: np.random.Generator) -> Tables:
        """Tables drawn with the values of hidden causes known, from counts with axes (draw, combination, values)."""
        draws, found = len(counts), Tables()
        for name, places in self._places.items():
            shape = self._shapes[name]
            size = math.prod(shape)
            at = np.arange(draws)[:, np.newaxis] * size + places.ravel()
            total = np.bincount(at.ravel(), counts.reshape(-1), draws * size).astype(float)
            found[name] = dirichlet(total.reshape(draws, *shape), self.priors[name], rng)
        return found


def dirichlet(counts: Array, prior: Array, rng: np.random.Generator) -> Array:
    """Tables drawn after these counts; the last axis is the variable."""
    weights = rng.standard_gamma(counts + prior) + TINY
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
