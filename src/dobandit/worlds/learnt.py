"""Worlds that agree with a log: the graph is the problem's, and the tables are drawn to explain the rows.

What observations identify is as sure as the log makes it. What they leave open is decided by an assumption: every
`<->` is a hidden cause with four values, and the rows of all tables have a uniform prior, as those of random worlds do.
So the worlds differ where the log cannot tell, and what a policy does in many of them shows what to expect in the one
behind the log.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import generator
from dobandit.errors import DataError, listing
from dobandit.evidence import Data, Sample, fit, open_source, read_sample
from dobandit.graph import Graph
from dobandit.problem import Problem, label
from dobandit.worlds.families import MOST_HIDDEN, inputs_of
from dobandit.worlds.mixtures import Mixture, Tables, dirichlet
from dobandit.worlds.model import World
from dobandit.worlds.tables import Labels, Node, check_size

LEVELS = 16  # groups of the numbers of a measured reward, beside those that are frequent by themselves
LARGEST = 2**15  # combinations of values, hidden ones included, of a c-component that is fitted in seconds
UNIFORM = 1.0  # with Jeffreys' 1/2 hidden causes are stronger, and plans predicted too much regret (benchmarks/plan.py)
MISFIT = 0.01  # divergence per row from which the worlds are said not to agree with the log


def from_log(problem: Problem, log: Data, draws: int = 64, seed: int = 0) -> World:
    """Worlds on the problem's graph that agree with a log.

    A hidden cause with four values stands for every `<->`; where that makes too many combinations, it has fewer. The
    tables are drawn from their posterior, given the plain observations of the log. The rows of the tables and the
    hidden causes have a uniform prior, as in random worlds. The numbers of a measured reward are grouped, and each
    group is one value. A c-component that is too large even with hidden causes of two values is not fitted: its tables
    come from the prior, and a warning says so.

    Parameters
    ----------
    problem
        The problem.
    log
        Anything that `effect` reads: a frame, columns, or the path of a file.
    draws
        How many worlds.
    seed
        Of the draws.

    Returns
    -------
    World
        A batch: the first axis of every table is the draw.

    >>> log = {"X": [0, 0, 0, 1, 1, 1, 1, 1], "Y": [0, 0, 1, 0, 1, 1, 1, 1]}
    >>> from_log(Problem("X -> Y; X <-> Y", reward="Y", budget=100), log, draws=3)
    <World: X and Y, 1 hidden, 3 trials>
    """
    problem.require_values()
    observed, rng = _read(problem, log), generator(seed, "worlds from a log")
    graph, tables = problem.graph, Tables()
    for component in graph.c_components:
        tables |= _drawn(observed, graph, component, draws, rng)
    inputs = inputs_of(graph)[1]
    return World(graph, tuple(Node(name, read, tables[name]) for name, read in inputs.items()), observed.domains)


class _Observed(NamedTuple):
    """Combinations of values that occur in a log, and in how many rows."""

    domains: Labels
    codes: Mapping[str, Indices]
    rows: Array
    measured: str | None  # the reward, if its values are groups of numbers

    def among(self, variables: Iterable[str]) -> _Observed:
        """The combinations of values of some variables."""
        names = tuple(variables)
        if not names:
            return self._replace(codes={}, rows=self.rows.sum(keepdims=True))
        found, which = np.unique(np.stack([self.codes[v] for v in names]), axis=1, return_inverse=True)
        rows = np.asarray(np.bincount(which.ravel(), self.rows, found.shape[1]), dtype=float)
        return self._replace(codes=dict(zip(names, found, strict=True)), rows=rows)

    def frequency(self, variables: Iterable[str]) -> Array:
        """In how many rows these variables have the values that they have in each combination."""
        kept = [self.codes[v] for v in variables]
        if not kept:
            return np.full(len(self.rows), self.rows.sum())
        which = np.unique(np.stack(kept), axis=1, return_inverse=True)[1].ravel()
        return np.asarray(np.bincount(which, self.rows)[which])

    def prior(self, v: str) -> Array:
        """Of a row of the table of v. That of groups of numbers weighs as much as that of two values."""
        card = len(self.domains[v])
        if v != self.measured:
            return np.full(card, UNIFORM)
        return np.asarray(2 * UNIFORM * np.bincount(self.codes[v], self.rows, card) / self.rows.sum())


def _read(problem: Problem, log: Data) -> _Observed:
    """The plain observations; rows in which a value is missing tell nothing of a world, which has no such value."""
    numbers = [problem.reward] if problem.reward_is_continuous else []
    sample = read_sample(fit(open_source(log), problem), problem.graph.variables, problem.domains, numbers)
    domains: dict[str, tuple[str, ...]] = {v: problem.domains[v].known for v in problem.graph.variables}
    codes, measured = dict(sample.codes), None
    if numbers and len(sample.weights):
        (measured,) = numbers
        domains[measured], codes[measured] = _grouped(sample, measured)
    whole = np.all([codes[v] < len(domains[v]) for v in codes], axis=0)
    if not sample.weights[whole].sum():
        raise DataError("the log has no complete plain observations, with which worlds could agree")
    return _Observed(domains, {v: column[whole] for v, column in codes.items()}, sample.weights[whole], measured)


def _grouped(sample: Sample, variable: str) -> tuple[tuple[str, ...], Indices]:
    """Groups of numbers, each called by its mean: a frequent number is a group, and the others, in their order, make
    groups of about as many rows each."""
    numbers, which = np.unique(sample.numbers[variable], return_inverse=True)
    rows = np.bincount(which.ravel(), sample.weights, len(numbers))
    alone = rows >= rows.sum() / LEVELS
    others = np.where(alone, 0.0, rows)
    level = np.floor(LEVELS * (others.cumsum() - others / 2) / max(others.sum(), 1.0))
    group = np.unique(np.where(alone, LEVELS + np.arange(len(numbers)), level), return_inverse=True)[1].ravel()
    means = np.clip(np.bincount(group, rows * numbers) / np.bincount(group, rows), numbers[0], numbers[-1])
    return tuple(label(float(mean)) for mean in means), group[which.ravel()]


def _drawn(log: _Observed, graph: Graph, component: frozenset[str], draws: int, rng: np.random.Generator) -> Tables:
    """Draws of all tables of a c-component."""
    inputs = inputs_of(graph)[1]
    hidden = [name for name in inputs if name not in graph and any(name in inputs[v] for v in component)]
    own = {name: read for name, read in inputs.items() if name in component or name in hidden}
    seen = log.among(graph.in_order(graph.with_parents(component)))
    fitting = (k for k in range(MOST_HIDDEN, 1, -1) if k ** len(hidden) * len(seen.rows) <= LARGEST)
    values = next(fitting, None)
    cards = {v: len(log.domains[v]) for v in seen.codes} | dict.fromkeys(hidden, values or MOST_HIDDEN)
    priors = {name: log.prior(name) if name in component else np.ones(cards[name]) for name in own}
    shapes = {name: tuple(cards[axis] for axis in (*read, name)) for name, read in own.items()}
    for name, shape in shapes.items():
        check_size(name, shape)
    if values is None:
        _warn(graph, component, "have too many combinations of values to be fitted: their tables are drawn at random")
        return {name: dirichlet(np.zeros((draws, *shape)), priors[name], rng) for name, shape in shapes.items()}
    mixture = Mixture(own, cards, seen.codes, seen.rows, priors)
    tables = mixture.drawn(draws, rng)
    off = float(np.median(mixture.divergence(tables, _known(seen, graph, component))))
    if off > MISFIT + len(seen.rows) / seen.rows.sum():  # each combination adds a little by chance
        _warn(graph, component, f"depend on each other in the log as hidden causes with {values} values cannot explain")
    return tables


def _known(seen: _Observed, graph: Graph, component: frozenset[str]) -> Array:
    """Q[c-component] of the combinations that occur, by frequencies: the product of P(v | effective parents)."""
    found = np.ones(len(seen.rows))
    for v in component:
        given = graph.ordered_effective_parents(v)
        found = found * seen.frequency((*given, v)) / seen.frequency(given)
    return found


def _warn(graph: Graph, component: frozenset[str], what: str) -> None:
    names = listing(graph.in_order(component))
    warnings.warn(f"worlds from the log agree with it only in part: {names} {what}", stacklevel=4)
