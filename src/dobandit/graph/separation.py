"""m-separation: which independencies a graph with hidden causes implies.

A path is blocked by a set if it passes through a member that is no collider, or through a collider
that is not in the set and has no descendant there. Walking the graph and remembering only whether
the last edge arrived with an arrowhead finds everything that is not blocked, in linear time.
"""

from __future__ import annotations

from dobandit.graph.bits import Bits, union


def reachable(graph: Bits, start: int, given: int, cut: int = 0, last: int = 0) -> tuple[int, int]:
    """The variables that are m-connected to `start` given `given`, in the graph in which nothing points to `cut`, which
    is a part of `given`: all of them, and those from which the walk could go on against an arrow. It ends when it could
    go on from one of `last`."""
    opens = graph.above(given, cut)  # a collider lets through if it or a descendant is given
    at_head, at_tail = 0, start  # by whether the last edge pointed at the variable
    new_head, new_tail = 0, start
    while new_head or new_tail:
        through = (new_head | new_tail) & ~given
        turning = new_head & opens | new_tail & ~given
        if turning & last:
            break
        turning &= ~cut
        heads = (union(graph.children, through) | union(graph.siblings, turning & graph.confounded)) & ~cut
        tails = union(graph.parents, turning)
        new_head, new_tail = heads & ~at_head, tails & ~at_tail
        at_head, at_tail = at_head | new_head, at_tail | new_tail
    return at_head | at_tail, at_head & opens | at_tail & ~given
