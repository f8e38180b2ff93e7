"""networkx: a DiGraph (or what behaves like one, such as a model of pgmpy) and back.

networkx has no bidirected edges, so a hidden common cause is a node of its own: `hidden=True` among its
attributes, and an edge to each variable that it acts on. An edge with `dir="both"`, as graphs that were
read from DOT have it, is a hidden common cause of its two ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dobandit.errors import CycleError, DobanditError, GraphError, UnknownAttribute
from dobandit.graph.admg import Graph
from dobandit.graph.checking import Edge, Origin
from dobandit.graph.edges import Edges, edges_in_order
from dobandit.graph.latents import hidden_nodes, without_latents
from dobandit.graph.marks import Marks, arrow, check_setting, hides
from dobandit.graph.names import check_name, normal

if TYPE_CHECKING:
    import networkx


def read(network: Any) -> Graph:
    """The graph of the nodes that are not marked as hidden (`hidden=True`, `observed="no"`), nor listed in
    `network.latents`."""
    if not hasattr(network, "is_directed"):
        raise GraphError(f"expected a networkx DiGraph, not {type(network).__name__}")
    if not network.is_directed():
        raise GraphError("this networkx graph is undirected; build a DiGraph, whose edges have directions")
    for a, b in getattr(network, "undirected_edges", ()):  # of a PDAG of pgmpy
        raise GraphError(
            f"the direction of the edge between {a} and {b} is open; choose one of the graphs that are meant"
        )
    names = list(map(check_name, network.nodes()))
    _check_settings(getattr(network, "graph", {}))
    return without_latents(_whole(network, names), names, _hidden(network), Origin())


def _hidden(network: Any) -> set[str]:
    latents = getattr(network, "latents", None) or ()
    listed = {latents} if isinstance(latents, str) else set(latents)
    marks = Marks()
    for name, given in network.nodes(data=True):
        with _placed(f"node {name}"):
            for key, value in given.items():
                marks.read(name, str(key), value)
            if name in listed:
                marks.add(name, True, "latents")
    return {normal(name) for name in network.nodes() if marks.hidden(name)}


def _whole(network: Any, names: list[str]) -> Graph:
    edges: dict[str, list[Edge]] = {"->": [], "<-": [], "<->": []}
    for a, b, given in network.edges(data=True):
        with _placed(f"edge {a} -> {b}"):
            asked = [arrow(str(key), value) for key, value in given.items()]
        sign = next(filter(None, asked), "->")
        if sign == "->" or (b, a) not in edges[sign] or "type" not in given:  # pgmpy keeps a <-> b as b <-> a, too
            edges[sign].append((a, b))
    directed = [*edges["->"], *((b, a) for a, b in edges["<-"])]
    try:
        return Graph.from_edges(directed, edges["<->"], variables=names)
    except CycleError as error:
        if len(error.cycle) == 3:
            error.message += "; a hidden cause of both is a node with hidden=True and an edge to each"
            error.args = (error.message,)
        raise


def _check_settings(settings: Mapping[str, Any]) -> None:
    """networkx keeps `node [...]` and `edge [...]` of a DOT file here, not at the nodes and edges they hold for."""
    for key, value in settings.items():
        with _placed("the graph"), suppress(UnknownAttribute):  # people keep notes of all kinds there
            check_setting(str(key), value)
    for kind, means in (("node", hides), ("edge", arrow)):
        defaults = settings.get(kind)
        for key, value in defaults.items() if isinstance(defaults, Mapping) else ():
            with _placed(f"the defaults of {kind}s"):
                if means(str(key), value) not in (None, False, "->"):
                    raise GraphError(f"{key}={value} is not at the {kind}s themselves; read the DOT by Graph.from_dot")


@contextmanager
def _placed(place: str) -> Iterator[None]:
    try:
        yield
    except GraphError as error:
        raise GraphError(f"{place}: {error.message}") from None


def write(graph: Edges) -> networkx.DiGraph[str]:
    """The variables in their order, then one hidden node for each `<->`."""
    try:
        import networkx
    except ImportError:
        raise DobanditError("this needs networkx, which is not installed: pip install networkx") from None
    network: networkx.DiGraph[str] = networkx.DiGraph()
    network.add_nodes_from(graph.variables)
    network.add_edges_from(edges_in_order(graph)[0])
    for name, (a, b) in hidden_nodes(graph).items():
        network.add_node(name, hidden=True)
        network.add_edges_from([(name, a), (name, b)])
    return network
