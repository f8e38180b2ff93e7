"""networkx: a DiGraph (or what behaves like one, such as a model of pgmpy) and back.

networkx has no bidirected edges, so a hidden common cause is a node of its own: `hidden=True` among its
attributes, and an edge to each variable that it acts on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dobandit.errors import CycleError, DobanditError, GraphError
from dobandit.graph.admg import Graph, Origin
from dobandit.graph.formats import edges_in_order, without_latents

if TYPE_CHECKING:
    import networkx


def read(network: Any) -> Graph:
    """The graph of the nodes that are not marked `hidden` or `latent`, nor listed in `network.latents`."""
    if not hasattr(network, "is_directed"):
        raise GraphError(f"expected a networkx DiGraph, not {type(network).__name__}")
    if not network.is_directed():
        raise GraphError("this networkx graph is undirected; build a DiGraph, whose edges have directions")
    data = dict(network.nodes(data=True))
    latents = set(getattr(network, "latents", None) or ())
    hidden = {n for n, given in data.items() if n in latents or given.get("hidden") or given.get("latent")}
    return without_latents(_whole(network, list(data)), list(data), hidden, Origin())


def _whole(network: Any, names: list[str]) -> Graph:
    try:
        return Graph.from_edges(network.edges(), variables=names)
    except CycleError as error:
        if len(error.cycle) == 3:
            error.message += "; a hidden cause of both is a node with hidden=True and an edge to each"
            error.args = (error.message,)
        raise


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
