"""Complete identification of P(y | do(s)), where one or several variables S are set (Tian and Pearl 2002).

Write Q[S] for the distribution of S when everything else is set by hand. Q[V] is what is observed,
and it falls apart into the c-components of the graph, each a product of the observed P(v | z) with z
the effective parents. After do(s) only D matters, the ancestors of y when S is cut out, and
P(y | do(s)) sums the product of Q[D_j] over the c-components D_j of D. Each Q[D_j] lies inside some
known Q[S]; `_inside` narrows S down to it by summing out what is no ancestor and keeping the
c-component, or gets stuck, and then nothing else would help either (Huang and Valtorta 2006).
"""

from __future__ import annotations

from dataclasses import replace

from dobandit.errors import NotIdentifiable
from dobandit.graph import Graph
from dobandit.identification.expressions import Expression, Ratio, Sum, Table, product, ratio

Do = tuple[str, ...]  # what is set, in graph order


def effect(graph: Graph, do: Do, y: str) -> Sum:
    """P(y | do(s)) as an expression in s and y; raises `NotIdentifiable`."""
    relevant = graph.ancestral_graph(y)
    if not any(x in relevant for x in do):
        return product(factors(relevant, frozenset(relevant.variables)), set(relevant.variables) - {y})
    wanted = relevant.subgraph(set(relevant.variables).difference(do)).ancestral_graph(y)
    return product(_components(relevant, wanted, do, y), set(wanted.variables) - {y})


def check(graph: Graph, do: Do, y: str) -> None:
    """Raise `NotIdentifiable` where `effect` does. Only the c-components of what is set decide: in the others, what no
    longer acts on y acts on nothing that does, and sums out."""
    relevant = graph.ancestral_graph(y)
    acting = frozenset(x for x in do if x in relevant)
    if not acting:
        return
    bits, is_set = relevant.bits, relevant.bits.of(acting)
    wanted = bits.above(bits.of([y]), cut=is_set) & ~is_set
    for whole in dict.fromkeys(relevant.c_component(x) for x in relevant.in_order(acting)):
        for part in relevant.subgraph(bits.names(wanted & bits.of(whole))).c_components:
            _inside(relevant, part, whole, factors(relevant, whole), do, y)


def effect_on_all(graph: Graph, do: Do) -> Sum:
    """P(everything else | do(s)).

    For a single x it is Q[C \\ {x}] for the c-component C of x, times what x leaves unchanged, and exists if and only
    if no child of x is in C (Tian and Pearl 2002, the child condition).
    """
    if len(do) > 1:
        wanted = graph.subgraph(set(graph.variables).difference(do))
        return Sum(frozenset(), tuple(_components(graph, wanted, do, "all")))
    (x,) = do
    tied = graph.c_component(x)
    if graph.has_confounded_child(x):
        raise NotIdentifiable(do, "all", _hidden_path(graph.subgraph(tied), do))
    own = product(factors(graph, tied), {x})
    others = factors(graph, frozenset(graph.variables) - tied)
    return Sum(frozenset(), (own, *others) if own.factors else tuple(others))


def _components(graph: Graph, wanted: Graph, do: Do, y: str) -> list[Expression]:
    """Q[D_j] for every c-component D_j of the wanted part of the graph."""
    found: list[Expression] = []
    for part in wanted.c_components:
        whole = graph.c_component(next(iter(part)))
        found += _inside(graph, part, whole, factors(graph, whole), do, y)
    return found


def factors(graph: Graph, part: frozenset[str]) -> list[Expression]:
    """P(v | effective parents of v) for every v in the part, in order."""
    return [_factor(graph, v) for v in graph.in_order(part)]


def _factor(graph: Graph, v: str) -> Table:
    return Table(v, graph.ordered_effective_parents(v))


def _inside(
    graph: Graph, wanted: frozenset[str], whole: frozenset[str], known: list[Expression], do: Do, y: str
) -> list[Expression]:
    """Q[wanted] from Q[whole] = the product of `known`; both are c-components, wanted inside whole."""
    if wanted == whole:
        return known
    within = graph.subgraph(whole)
    above = within.ancestral(wanted)
    if above == whole:
        raise NotIdentifiable(do, y, _hidden_path(within, do))
    narrowed = product(known, whole - above)  # Q[above]: what is no ancestor sums out
    if above == wanted:
        return [_averaged(graph, narrowed, graph.with_parents(wanted))]
    kept = within.subgraph(above)
    smaller = kept.c_component(next(iter(wanted)))
    return _inside(graph, wanted, smaller, _conditionals(graph, kept, narrowed, smaller), do, y)


def _conditionals(graph: Graph, kept: Graph, known: Sum, part: frozenset[str]) -> list[Expression]:
    """Q[part] from Q[kept] for a c-component of `kept`, as conditionals in the order of `kept`.

    Each is Q[v_1..v_i] / Q[v_1..v_{i-1}], with Q[v_1..v_i] the sum of Q[kept] over what comes later.
    """
    found: list[Expression] = []
    for i, v in enumerate(kept.variables):
        if v in part:
            later = set(kept.variables[i + 1 :])
            conditional = ratio(v, _sum_out(known, later), _sum_out(known, {v, *later}))
            tied = kept.subgraph(kept.variables[: i + 1]).c_component(v)  # it depends on these and their parents only
            found.append(_averaged(graph, conditional, graph.with_parents(tied)))
    return found


def _sum_out(known: Sum, variables: set[str]) -> Sum:
    return product(known.factors, known.over | variables)


def _averaged(graph: Graph, known: Expression, arguments: frozenset[str]) -> Expression:
    """A part of the recipe, averaged over variables that it only seems to depend on."""
    seeming = known.free - arguments
    if not seeming:
        return known
    if not isinstance(known, Ratio):
        known = Ratio(known.variable, product([known]), Sum(frozenset(), ()))
    seen = graph.project(seeming)
    return replace(known, average=seeming, weights=tuple(_factor(seen, v) for v in seen.variables))


def _hidden_path(tied: Graph, do: Do) -> list[str]:
    """The shortest row of hidden causes from something that is set to one of its children inside a c-component."""
    able = [x for x in do if x in tied and tied.children(x)]
    return min((_path_to_child(tied, x) for x in able), key=len)


def _path_to_child(tied: Graph, x: str) -> list[str]:
    came_from: dict[str, str] = {x: x}
    todo = [x]
    for node in todo:
        if node in tied.children(x):
            path = [node]
            while path[-1] != x:
                path.append(came_from[path[-1]])
            return path[::-1]
        for other in tied.in_order(tied.siblings(node)):
            if other not in came_from:
                came_from[other] = node
                todo.append(other)
    raise AssertionError(f"{x} has no child in its c-component")
