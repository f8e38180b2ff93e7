"""What observations say about an option that they do not identify, with the error of a finite log.

>>> import dobandit as db
>>> log = {"X": [0, 0, 1, 1], "Y": [0, 1, 0, 1], "share": [0.3, 0.2, 0.1, 0.4]}
>>> found = db.bounds("X -> Y; X <-> Y", log, do={"X": 1}, reward="Y", weights="share")
>>> round(found.low, 6), round(found.high, 6)
(0.4, 0.9)

The bounds of a finite log are estimates. The interval that is reported is wider: with the stated confidence it contains
the bounds that an endless log would have. Natural bounds without instruments are means of a bounded variable and have
Wilson's interval. All others are maxima and minima, whose estimates are too narrow on average; their error and their
bias are both measured by drawing the distribution from its posterior (a Bayesian bootstrap, Rubin 1981; Hall's basic
interval), always by the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import DataError, DobanditError, NotIdentifiable
from dobandit.estimate.observational.agreeing import Ends, Natural, Query, Sharp
from dobandit.estimate.observational.agreeing_means import Bounds
from dobandit.estimate.observational.from_rows import effect
from dobandit.estimate.observational.interval import deviations, score_distances, squared_error
from dobandit.estimate.observational.linear_program import can_solve
from dobandit.estimate.observational.plugin import Rows
from dobandit.estimate.observational.question import arm_of, checked_level, codes_of
from dobandit.estimate.observational.scale import Scale, infer_scale, is_distribution, problem_scale
from dobandit.evidence import Data, Source, Weights, check_spelling, count, fit, open_source
from dobandit.graph import Graph, GraphLike, as_graph
from dobandit.identification import is_identifiable
from dobandit.problem import Arm, Problem, Value

DRAWS = 200  # of the distribution: the ends of a 95 % interval are then the 5 outermost draws
Counts = Callable[[tuple[str, ...]], Array]  # how often each combination of values of these variables was seen


def bounds(
    graph: GraphLike, data: Data, do: Mapping[str, Value], reward: str, weights: Weights = None, level: float = 0.95
) -> Bounds:
    """The means of the reward after an intervention that agree with the observations, whatever the hidden causes are.

    Parameters
    ----------
    graph, data, do, reward, weights
        As for `effect`. The ends of the reward's range count: those of a Problem, else the least and the largest value
        in the data.
    level
        The confidence with which the interval contains the bounds of an endless log, between 0 and 1.

    Returns
    -------
    Bounds
        The ends, and the method. With probabilities as weights they are the bounds themselves. Where observations
        identify the effect, they are the ends of its confidence interval.
    """
    try:
        found = effect(graph, data, do, reward, weights, level)
        return Bounds(found.low, found.high, "sharp")
    except NotIdentifiable:
        pass
    problem = graph if isinstance(graph, Problem) and graph.reward == reward else None
    if problem and not problem.has_range:
        raise DobanditError(f"bounds need the ends of the reward: give {reward} a range ([reward] range = [0, 10])")
    source = open_source(data, weights)
    if isinstance(graph, Problem):
        source = fit(source, graph)
    return _Log(as_graph(graph), reward, source, problem).bounds(arm_of(do), checked_level(level))


def arm_bounds(problem: Problem, source: Source, arms: Sequence[Arm], level: float = 0.95) -> list[Bounds | None]:
    """The bounds of those arms that observations do not identify; None for the others, and where the ends of the reward
    are not known.

    Parameters
    ----------
    problem
        The problem, whose values the rows must have.
    source
        The rows.
    arms
        What is set.
    level
        As for `bounds`.
    """
    asked = [a for a in arms if problem.has_range and not is_identifiable(problem.graph, a.variables, problem.reward)]
    if not asked:
        return [None] * len(arms)
    log = _Log(problem.graph, problem.reward, fit(source, problem), problem)
    return [log.bounds(arm, level) if arm in asked else None for arm in arms]


class _Log:
    """The rows of a log, counted as they are needed."""

    def __init__(self, graph: Graph, reward: str, source: Source, problem: Problem | None) -> None:
        check_spelling(source, graph.variables)
        self._source, self._reward, self._problem = source, reward, problem
        # A number without bins has no values to count by: it stays out, as if it were hidden.
        numbers = problem.numbers if problem else frozenset[str]()
        self._graph = graph.project(set(graph.variables) - numbers) if numbers else graph
        self._known: dict[tuple[str, ...], Array] = {}

    def bounds(self, arm: Arm, level: float) -> Bounds:
        reward, graph = self._reward, self._graph
        needed = graph.in_order(graph.ancestral([reward]) | set(arm.variables))
        scale = self._scale(needed)
        cards = {v: len(scale.domains[v]) for v in needed}
        query = Query(graph, codes_of(arm, scale.domains), reward, cards, np.array(scale.worth), bool(scale.between))

        def counts(group: tuple[str, ...]) -> Array:
            if group not in self._known:
                self._known[group] = count(self._source, [group], scale.domains, scale.between)[group]
            return self._known[group]

        total = float(counts((reward,)).sum())
        if not total > 0:
            raise DataError(f"{self._source.name}: there are no rows to estimate from")
        return bounds_of(query, counts, 0.0 if is_distribution(self._source, total) else level)

    def _scale(self, needed: Sequence[str]) -> Scale:
        if self._problem is None:
            return infer_scale(self._source, needed, self._reward)
        return problem_scale(self._problem, self._source, declared=True)


def bounds_of(query: Query, counts: Counts, level: float) -> Bounds:
    """The bounds from the counts of observations; level 0: the counts are the distribution itself."""
    natural, sharp = Natural(query), Sharp.of(query) if can_solve() else None
    ends = _natural(natural, counts(natural.variables), level)
    tighter = _sampled(sharp.ends, counts(sharp.variables), level, query.range) if sharp else None
    if tighter is None:
        return Bounds(*ends, "natural", natural.instruments)
    low, high = max(ends[0], tighter[0]), min(ends[1], tighter[1])  # both hold
    return Bounds(min(low, high), max(low, high), "sharp")


def _natural(natural: Natural, counts: Array, level: float) -> Ends:
    ends = natural.ends(counts / counts.sum())
    if level == 0:
        return ends
    found = _by_score(natural, counts, level)
    if not natural.instruments:
        return found
    sampled = _sampled(natural.ends, counts, level, natural.query.range) or ends
    low, high = max(found[0], sampled[0]), min(found[1], sampled[1])
    return min(low, high), max(low, high)


def _by_score(natural: Natural, counts: Array, level: float) -> Ends:
    """Wilson's interval for the two ends without instruments, each the mean of a bounded variable."""
    query, (lowest, highest) = natural.query, natural.query.range
    rows, width = counts.sum(), highest - lowest
    before = tuple(range(len(natural.covariates) + len(natural.instruments)))
    as_set = counts.sum(axis=before)[tuple(query.settings.values())]
    z, found = deviations(level), list[float]()
    for unseen in (0.0, 1.0):
        values = np.append((query.worth - lowest) / width, unseen)
        shares = np.append(as_set, rows - as_set.sum()) / rows
        mean = float(shares @ values)
        variance = max(float(shares @ values**2) - mean**2, 0.0)
        down, up = score_distances(mean, squared_error(Rows(*(np.array([n]) for n in (rows, variance, 1.0))), z))
        found.append(lowest + width * (mean + up if unseen else mean - down))
    return max(found[0], lowest), min(found[1], highest)


def _sampled(ends: Callable[[Array], Ends | None], counts: Array, level: float, within: Ends) -> Ends | None:
    """The ends at the observed frequencies, moved outwards by their error and their bias."""
    rows = counts.sum()
    estimate = ends(counts / rows)
    if estimate is None or level == 0:
        return estimate
    rng = np.random.default_rng(0)
    weights = counts.ravel() + 1.0 / counts.size  # one more row, spread over all combinations
    drawn = (ends(rng.dirichlet(weights).reshape(counts.shape)) for _ in range(DRAWS))
    draws = np.array([found for found in drawn if found is not None])
    inner, outer = (1 - level) / 2, (1 + level) / 2
    low = min(np.quantile(draws[:, 0], inner), 2 * estimate[0] - np.quantile(draws[:, 0], outer))
    high = max(np.quantile(draws[:, 1], outer), 2 * estimate[1] - np.quantile(draws[:, 1], inner))
    return max(float(low), within[0]), min(float(high), within[1])
