"""Causal graphs with hidden confounders, and the formats they are written in."""

from dobandit.graph.admg import Graph
from dobandit.graph.bits import Bits, members, reached, union
from dobandit.graph.checking import Edge, Origin
from dobandit.graph.edges import edges_in_order
from dobandit.graph.files import GraphLike, as_graph, read_file
from dobandit.graph.formats import Found
from dobandit.graph.implied_independencies import (
    Independence,
    independencies,
    number_of_independencies,
    separating,
    separator,
)
from dobandit.graph.latents import without_latents
from dobandit.graph.names import NAME, QUOTED, check_name, in_quotes, normal, quoted, unquoted
from dobandit.graph.optimal_sets import possibly_optimal
from dobandit.graph.scan import Token, Tokens
from dobandit.graph.separation import reachable
