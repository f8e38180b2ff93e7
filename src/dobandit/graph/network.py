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
from dobandit.graph.formats import edges_in_order, without_latents
from dobandit.graph.marks import Marks, arrow, check_setting, hides

if TYPE_CHECKING:
    import networkx


def read(network: Any) -> Graph:
    """The graph of the nodes that are not marked as hidden (`hidden=True`, `observed="no"`), nor listed in
    `network.latents`."""
    if not hasattr(network, "is_directed"):
        raise GraphError(f"expected a networkx DiGraph, not {type(network).__name__}")
    if not network.is_directed():
        raise GraphError("this networkx graph is undirected; build a DiGraph, whose edges have directions")
    names = list(network.nodes())
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
    return {name for name in network.nodes() if marks.hidden(name)}


def _whole(network: Any, names: list[str]) -> Graph:
    edges: dict[str, list[Edge]] = {"->": [], "<-": [], "<->": []}
    for a, b, given in network.edges(data=True):
        with _placed(f"edge {a} -> {b}"):
            asked = [arrow(str(key), value) for key, value in given.items()]
        edges[next(filter(None, asked), "->")].append((a, b))
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


def write(graph: Graph) -> networkx.DiGraph[str]:
    """The variables in their order, then one hidden node for each `<->`."""
    try:
        import networkx
    except ImportError:
        raise DobanditError("this needs networkx, which is not installed: pip install networkx") from None
    directed, bidirected = edges_in_order(graph)
    network: networkx.DiGraph[str] = networkx.DiGraph()
    network.add_nodes_from(graph.variables)
    network.add_edges_from(directed)
    for a, b in bidirected:
        name = f"U_{a}_{b}"
        while name in network:
            name += "_"
        network.add_node(name, hidden=True)
        network.add_edges_from([(name, a), (name, b)])
    return network
