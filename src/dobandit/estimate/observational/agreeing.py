"""All means of an option that agree with a distribution of observations, where it does not identify the mean.

In rows that have X = x anyway, setting X to x would have changed nothing. So a part of E[Y | do(x)] is seen,
E[Y 1(X=x)], and the rest lies between the ends of the reward's range: the *natural* bounds (Manski 1990; Tian and
Pearl 2000). Variables that X does not act on sharpen them where the graph says that Y under do(x) does not depend on
them, as for an instrument: then the bounds hold for each of their values, and the tightest count. The *sharp* bounds
use everything that the graph implies, by a linear program over response types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dobandit.arrays import Array
from dobandit.elimination import Factor, contract
from dobandit.estimate.observational.linear_program import Program
from dobandit.estimate.observational.responses import MOST_ENTRIES, ResponseTypes, number_of_entries, response_types
from dobandit.evidence import MOST_CELLS
from dobandit.graph import Graph

Ends = tuple[float, float]
LARGEST = 2**14  # numbers of a linear program that is solved hundreds of times in seconds


@dataclass(frozen=True)
class Query:
    """The mean of a reward after some variables were set, by the numbers of their values."""

    graph: Graph
    do: Mapping[str, int]
    reward: str
    cards: Mapping[str, int]
    worth: Array  # of the values of the reward, in the user's units
    is_measured: bool = False  # whether the reward is any number between two ends, and the two values stand for these

    @cached_property
    def relevant(self) -> Graph:
        """The part of the graph that acts on the reward. A variable that nothing but one hidden cause acts on is made a
        cause itself: after that cause did its part, the two are the same (Evans 2016)."""
        graph = self.graph.ancestral_graph(self.reward)
        lone = {v for v in graph.variables if not graph.parents(v) and len(graph.siblings(v)) == 1} - set(self.do)
        pairs = {pair: [v for v in pair if v in lone][:1] for pair in graph.bidirected}
        directed = [(*v, *(set(pair) - set(v))) for pair, v in pairs.items() if v]
        arrows = graph.directed | {(a, b) for a, b in directed}
        return Graph.from_edges(arrows, [pair for pair, v in pairs.items() if not v], graph.variables)

    @cached_property
    def settings(self) -> dict[str, int]:
        """What is set and still acts on the reward when the rest is set, too."""
        acting = self.graph.without_edges(into=self.do).ancestral(self.reward)
        return {v: value for v, value in self.do.items() if v in acting}

    @cached_property
    def range(self) -> Ends:
        return float(self.worth.min()), float(self.worth.max())

    def size(self, variables: Iterable[str]) -> float:
        return float(np.prod([float(self.cards[v]) for v in variables]))


class Natural:
    """Natural bounds. `variables` are the axes of the joint distributions that it takes."""

    def __init__(self, query: Query) -> None:
        self.query = query
        graph, settings = query.relevant, query.settings
        below = frozenset(settings).union(*(graph.descendants(v) for v in settings))
        before = frozenset(graph.variables) - below - {query.reward}
        if query.size([*before, *settings, query.reward]) > MOST_CELLS:
            before = frozenset()
        cut = graph.without_edges(into=settings)
        related = [v for v in graph.in_order(before) if not cut.separated(v, query.reward, before - {v})]
        self.covariates = tuple(related)
        self.instruments = tuple(v for v in graph.in_order(before) if v not in related)
        if not self.instruments:
            self.covariates = ()  # the mean over their values would be the same
        self.variables = (*self.covariates, *self.instruments, *settings, query.reward)

    def ends(self, joint: Array) -> Ends:
        lower, upper, weights = self.by_cell(joint)
        strata = (int(self.query.size(self.covariates)), -1)
        tightest = np.max(np.where(weights > 0, lower, -np.inf).reshape(strata), axis=1)
        loosest = np.min(np.where(weights > 0, upper, np.inf).reshape(strata), axis=1)
        shares = weights.reshape(strata).sum(axis=1)
        seen = shares > 0
        low, high = float(tightest[seen] @ shares[seen]), float(loosest[seen] @ shares[seen])
        return (low, high) if low <= high else ((low + high) / 2,) * 2  # in a finite sample they may cross

    def by_cell(self, joint: Array) -> tuple[Array, Array, Array]:
        """For every value of covariates and instruments: both ends of the conditional mean, and the probability."""
        before = len(self.covariates) + len(self.instruments)
        weights = joint.sum(axis=tuple(range(before, joint.ndim)))
        kept: tuple[slice | int, ...] = (slice(None),) * before
        as_set = joint[(*kept, *self.query.settings.values())]
        lowest, highest = self.query.range
        with np.errstate(invalid="ignore", divide="ignore"):
            seen = as_set @ self.query.worth / weights
            unseen = 1 - as_set.sum(axis=-1) / weights
        return seen + lowest * unseen, seen + highest * unseen, weights


class Sharp:
    """Sharp bounds by response types of the one c-component that observations leave open."""

    def __init__(self, query: Query, component: frozenset[str]) -> None:
        self.query, self.component = query, component
        self.variables = query.relevant.variables
        settings = {v: value for v, value in query.settings.items() if v in component}
        self.types: ResponseTypes = response_types(query.relevant, component, query.cards, settings)
        cells = int(query.size(self.types.members))
        rows = self.types.observed + np.arange(self.types.observed.shape[1]) * cells
        self.program = Program(rows, rows.shape[1] * cells)

    @classmethod
    def of(cls, query: Query) -> Sharp | None:
        """The program for this query; None where there are several open c-components or too many response types, or
        where the reward is measured: a measurement has more values than its two ends."""
        if query.is_measured:
            return None
        graph = query.relevant
        open_ones = [c for c in graph.c_components if _is_open(graph, c, query.settings)]
        if len(open_ones) != 1 or query.size(graph.variables) > MOST_CELLS:
            return None
        if number_of_entries(graph, open_ones[0], query.cards) > MOST_ENTRIES:
            return None
        found = cls(query, open_ones[0])
        return found if found.types.observed.size <= LARGEST else None

    def ends(self, joint: Array) -> Ends | None:
        """None where a combination never occurs that the effect depends on."""
        known, worth = self.known(joint), self.worth(joint)
        if np.isnan(worth).any():
            return None
        least, largest = self.program.extremes(known, worth)
        return float(least @ worth), float(largest @ worth)

    def known(self, joint: Array) -> Array:
        """Q[c-component], which the response types must add up to."""
        return self._product(joint, self.component, (*self.types.outside, *self.types.members)).ravel()

    def worth(self, joint: Array) -> Array:
        """The mean of the reward after do for each response type."""
        means: Array = np.take_along_axis(self._around(joint), self.types.changed.T, axis=1).sum(axis=0)
        return means

    def _around(self, joint: Array) -> Array:
        """What each combination of values of the c-component is worth, by the values of its parents outside: the mean
        of the reward over all other variables, whose tables are known."""
        query, types = self.query, self.types
        factors = [Factor((query.reward,), query.worth[np.newaxis])]
        others = [component for component in query.relevant.c_components if component != self.component]
        factors += [self._after_setting(joint, component) for component in others]
        held = [v for v in types.outside if v in query.settings]
        factors += [Factor((v,), np.eye(query.cards[v])[[query.settings[v]]]) for v in held]
        axes = (*types.outside, *types.left)
        undefined = any(np.isnan(f.values).any() for f in factors)
        low = contract([Factor(f.axes, np.nan_to_num(f.values, nan=0.0)) for f in factors], axes)[0]
        shape = [query.cards[v] for v in axes]
        found = np.broadcast_to(low, shape).reshape(types.changed.shape[1], -1)
        if undefined:
            high = contract([Factor(f.axes, np.nan_to_num(f.values, nan=1.0)) for f in factors], axes)[0]
            found = np.where(np.broadcast_to(high != low, shape).reshape(found.shape), np.nan, found)
        return found

    def _after_setting(self, joint: Array, component: frozenset[str]) -> Factor:
        """Q[component] after do: what is set is summed out inside, and read outside."""
        query = self.query
        axes = query.relevant.in_order(query.relevant.with_parents(component))
        values = self._product(joint, component, axes)
        inside = [v for v in axes if v in component and v in query.settings]
        summed = values.sum(axis=tuple(axes.index(v) for v in inside))
        left = tuple(v for v in axes if v not in inside)
        return Factor(left, summed[np.newaxis]).at(query.settings)

    def _product(self, joint: Array, component: frozenset[str], axes: tuple[str, ...]) -> Array:
        """Q[component], the product of P(v | effective parents) over its members; NaN where it is undefined."""
        graph, found = self.query.relevant, np.ones([1] * len(axes))
        for v in graph.in_order(component):
            given = graph.ordered_effective_parents(v)
            counts = _margin(joint, graph.variables, (*given, v))
            with np.errstate(invalid="ignore"):
                table = Factor((*given, v), (counts / counts.sum(axis=-1, keepdims=True))[np.newaxis])
            present = tuple(a for a in axes if a in table.axes)
            moved = table.values[0].transpose([table.axes.index(a) for a in present])
            factor = moved.reshape([self.query.cards[a] if a in present else 1 for a in axes])
            found = np.where(found == 0, 0.0, found * factor)  # zero times what is undefined is zero
        return np.broadcast_to(found, [self.query.cards[a] for a in axes])


def _is_open(graph: Graph, component: frozenset[str], settings: Mapping[str, int]) -> bool:
    """Whether something that is set has a child in its own c-component that is not set."""
    return any(graph.children(v) & component - set(settings) for v in settings if v in component)


def _margin(joint: Array, variables: tuple[str, ...], kept: tuple[str, ...]) -> Array:
    left = [v for v in variables if v in kept]
    margin: Array = joint.sum(axis=tuple(i for i, v in enumerate(variables) if v not in kept))
    return margin.transpose([left.index(v) for v in kept])
