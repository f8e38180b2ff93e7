"""Which effects observations reveal, and by which recipe.

Many recipes may be right; people want the short one. Where covariates block every back-door path,
the recipe averages over a minimal set of them. Elsewhere every variable without which the effect is
still identifiable is hidden (the graph is projected onto the others) before the recipe is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from dobandit.errors import GraphError, NotIdentifiable
from dobandit.graph import Graph, GraphLike, as_graph, normal, separating, separator
from dobandit.identification import tian
from dobandit.identification.estimand import Estimand, Method
from dobandit.identification.expressions import Sum, Table
from dobandit.identification.tian import Do

EVERYTHING = "all"
LARGE = 30  # variables; in smaller graphs every one of them is tried in turn


def is_identifiable(graph: GraphLike, do: str | Iterable[str], on: str) -> bool:
    """Whether observations, if there are enough, reveal the effect of setting `do` on `on`.

    Parameters
    ----------
    graph
        A Graph, whatever `Graph` takes, or a Problem.
    do
        The variable that is set, or several that are set together.
    on
        The variable whose distribution is wanted, or "all" for the joint distribution of everything else.

    Returns
    -------
    bool
        The answer is complete: False means that two models agree on all observations and disagree on the effect.
    """
    return _is_identifiable(*_checked(graph, do, on))


def identify(graph: GraphLike, do: str | Iterable[str], on: str | None = None) -> Estimand:
    """The formula for P(on | do(do)) from observations.

    Parameters
    ----------
    graph, do, on
        As for `is_identifiable`; `on` is the reward of a Problem, if it is left out.

    Returns
    -------
    Estimand
        The formula, which can be printed and evaluated on tables.

    Raises
    ------
    NotIdentifiable
        No amount of observations reveals the effect. The text names the obstacle.

    Examples
    --------
    >>> print(identify("Z -> A -> B -> Y; Z -> Y; A -> Y", do=["A", "B"], on="Y"))
    P(Y | do(A, B)) = Σ_Z P(Y | A, B, Z) P(Z)
    """
    on = getattr(graph, "reward", None) if on is None else on
    if on is None:
        raise GraphError('a graph does not say which variable the effect is on: name it, as in on="Y"')
    return _identify(*_checked(graph, do, on))


def _checked(given: GraphLike, do: str | Iterable[str], on: str) -> tuple[Graph, Do, str]:
    """The graph, what is set in its order, and the outcome, if they are different variables of the graph."""
    names = [do] if isinstance(do, str) else list(do) if isinstance(do, Iterable) else [do]
    for what, name in (*(("do", name) for name in names), ("on", on)):
        if not isinstance(name, str):
            raise GraphError(f"{what}: expected the name of a variable, not {name!r}")
    graph, names, on = as_graph(given), list(map(normal, names)), normal(on)
    graph.in_order(names if _is_everything(graph, on) else [*names, on])  # an unknown variable is refused here
    if on in names:
        raise GraphError(f"do and on are both {on}; name another variable that it may have an effect on")
    return graph, graph.in_order(names), on


@lru_cache(maxsize=4096)
def _identify(graph: Graph, do: Do, on: str) -> Estimand:
    if _is_everything(graph, on):
        everything = tuple(v for v in graph.variables if v not in do)
        return Estimand(do, everything, "c-factor", tian.effect_on_all(graph, do))
    acting = graph.acting(on, do)
    if not acting:
        return Estimand(do, (on,), "observed", tian.effect(graph.project(on), (), on))
    covariates = backdoor_set(graph, acting, on)
    if covariates is not None:
        method: Method = "adjustment" if covariates else "no-backdoor"
        return Estimand(do, (on,), method, _adjusted(graph, acting, on, covariates))
    return Estimand(do, (on,), "c-factor", tian.effect(_smallest(graph, acting, on), acting, on))


def backdoor_set(graph: Graph, do: Do, on: str) -> frozenset[str] | None:
    """A minimal set of covariates that blocks every back-door path, or None if no set does.

    Of the possible sets it is the one closest to the outcome: what acts on the outcome itself explains more of
    it, and asks for less overlap with the treatment.
    """
    if len(do) == 1:
        bits = graph.bits
        x, y = bits.place[do[0]], bits.place[on]
        found = separating(bits, 1 << x, y, allowed=~bits.descending[x], without_effects=1 << x)
        return None if found is None else bits.names(found)
    backdoor, allowed = graph.proper_backdoor(do, on)
    return separator(backdoor, frozenset(do), on, allowed)


def _is_identifiable(graph: Graph, do: Do, on: str) -> bool:
    try:
        tian.effect_on_all(graph, do) if _is_everything(graph, on) else tian.check(graph, do, on)
    except NotIdentifiable:
        return False
    return True


def _is_everything(graph: Graph, on: str) -> bool:
    """ "all" means everything else, unless a variable has that name."""
    return on == EVERYTHING and on not in graph


def _adjusted(graph: Graph, do: Do, on: str, covariates: frozenset[str]) -> Sum:
    """Σ_z P(on | do, z) P(z), with P(z) as a product along the order of the graph."""
    seen = graph.project(covariates)
    outcome = Table(on, (*do, *seen.variables))
    return Sum(covariates, (outcome, *tian.factors(seen, covariates)))


def _smallest(graph: Graph, do: Do, on: str) -> Graph:
    """The graph projected onto few variables that still identify the effect.

    In a large graph, what the hidden causes of `do` act on is tried first, with its parents: these decide, and they are
    few. Where they do not do, the whole graph is looked at, which says what the obstacle is.
    """
    graph = graph.ancestral_graph(on)
    deciding = graph.with_parents(frozenset[str]().union(*map(graph.c_component, do)))
    near = graph.project({*do, on} | deciding) if len(graph.variables) > LARGE else graph
    if near is not graph and _is_identifiable(near, do, on):
        graph = near
    else:
        tian.check(graph, do, on)
    for candidate in graph.variables:
        if candidate not in (*do, on):
            fewer = graph.project(set(graph.variables) - {candidate})
            if _is_identifiable(fewer, do, on):
                graph = fewer
    return graph
