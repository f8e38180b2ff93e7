"""Which effects observations reveal, and by which recipe.

Many recipes may be right; people want the short one. Where covariates block every back-door path,
the recipe averages over a smallest set of them. Elsewhere every variable without which the effect is
still identifiable is hidden (the graph is projected onto the others) before the recipe is written.
"""

from __future__ import annotations

from functools import lru_cache

from dobandit.errors import GraphError, NotIdentifiable
from dobandit.graph import Graph
from dobandit.identification import tian
from dobandit.identification.estimand import Estimand
from dobandit.identification.expressions import Sum, Table

EVERYTHING = "all"


def is_identifiable(graph: Graph, do: str, on: str) -> bool:
    """Whether observations, if there are enough, reveal the effect of setting `do` on `on`.

    `on` is a variable, or "all" for the distribution of everything else. Complete: False means that
    two models exist which agree on all observations and disagree on the effect.
    """
    try:
        _expression(graph, do, on)
    except NotIdentifiable:
        return False
    return True


@lru_cache(maxsize=4096)
def identify(graph: Graph, do: str, on: str) -> Estimand:
    """The recipe for P(on | do(do)) from observations; raises `NotIdentifiable`, which names the obstacle."""
    formula = _expression(graph, do, on)
    if on == EVERYTHING:
        return Estimand(do, tuple(v for v in graph.variables if v != do), "c-factor", formula)
    if do not in graph.ancestral(on):
        return Estimand(do, (on,), "observed", tian.effect(graph.project(on), do, on))
    covariates = backdoor_set(graph, do, on)
    if covariates is None:
        return Estimand(do, (on,), "c-factor", tian.effect(_smallest(graph, do, on), do, on))
    method = "adjustment" if covariates else "no-backdoor"
    return Estimand(do, (on,), method, _adjusted(graph, do, on, covariates))


def _expression(graph: Graph, do: str, on: str) -> Sum:
    graph.parents(do)  # an unknown variable is refused here
    if on == EVERYTHING:
        return tian.effect_on_all(graph, do)
    if do == on:
        raise GraphError(f"the effect of {do} on itself is no question: it is set")
    return tian.effect(graph, do, on)


def backdoor_set(graph: Graph, do: str, on: str) -> frozenset[str] | None:
    """A smallest set of covariates that blocks every back-door path, or None if no set does.

    If any set does, then so do all ancestors of the two that the treatment does not act on. Causes far
    from the outcome are given up first: what acts on the outcome itself explains more of it, and asks
    for less overlap with the treatment.
    """
    seen = graph.without_edges(out_of=do)
    covariates = graph.ancestral([do, on]) - graph.descendants(do) - {do, on}
    if not seen.separated(do, on, covariates):
        return None
    for candidate in graph.variables:
        if candidate in covariates and seen.separated(do, on, covariates - {candidate}):
            covariates -= {candidate}
    return covariates


def _adjusted(graph: Graph, do: str, on: str, covariates: frozenset[str]) -> Sum:
    """Σ_z P(on | do, z) P(z), with P(z) as a product along the order of the graph."""
    seen = graph.project(covariates)
    outcome = Table(on, (do, *seen.variables))
    return Sum(covariates, (outcome, *tian.factors(seen, covariates)))


def _smallest(graph: Graph, do: str, on: str) -> Graph:
    """The graph projected onto few variables that still identify the effect."""
    graph = graph.project(graph.ancestral(on))
    for candidate in graph.variables:
        if candidate not in (do, on):
            fewer = graph.project(set(graph.variables) - {candidate})
            if is_identifiable(fewer, do, on):
                graph = fewer
    return graph
