"""Causal graphs with hidden confounders, and the formats they are written in.

What reads formats is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.graph.admg import Graph
from dobandit.graph.bits import Bits, members, reached, union
from dobandit.graph.checking import Edge, Origin
from dobandit.graph.edges import edges_in_order
from dobandit.graph.files import GraphLike, as_graph, read_file
from dobandit.graph.implied_independencies import (
    Independence,
    independencies,
    number_of_independencies,
    separating,
    separator,
)
from dobandit.graph.names import QUOTED, check_name, in_quotes, name_pattern, normal, quoted, unquoted
from dobandit.graph.separation import reachable
from dobandit.later import loaded_later

if TYPE_CHECKING:
    from dobandit.graph.formats import Found
    from dobandit.graph.latents import without_latents
    from dobandit.graph.optimal_sets import possibly_optimal
    from dobandit.graph.scan import Token, Tokens

_LATER = {
    "formats": ("Found",),
    "latents": ("without_latents",),
    "optimal_sets": ("possibly_optimal",),
    "scan": ("Token", "Tokens"),
}

__getattr__ = loaded_later(__name__, _LATER)
