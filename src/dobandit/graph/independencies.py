"""The independencies that a graph promises, so that data can contradict it before money is spent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from dobandit.graph.admg import Graph


class Independence(NamedTuple):
    """a and b are independent given these variables."""

    a: str
    b: str
    given: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.a} ⫫ {self.b}" + (f" | {', '.join(self.given)}" if self.given else "")


def independencies(graph: Graph) -> Iterator[Independence]:
    """One promise for every two variables that some set separates, with a smallest such set.

    If any set separates two variables, then so do all their other ancestors together.

    >>> [str(i) for i in independencies(Graph("A -> B -> C; A -> D; C <-> D"))]
    ['A ⫫ C | B', 'B ⫫ D | A']
    """
    for a, b in combinations(graph.variables, 2):
        given = graph.ancestral([a, b]) - {a, b}
        if b in graph.children(a) | graph.siblings(a) or not graph.separated(a, b, given):
            continue
        for candidate in graph.variables:
            if candidate in given and graph.separated(a, b, given - {candidate}):
                given -= {candidate}
        yield Independence(a, b, tuple(v for v in graph.variables if v in given))
