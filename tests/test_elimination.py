"""The order in which variables are summed out: each time the one whose neighbours span the smallest table."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence

import pytest

from dobandit.elimination import elimination_order, widest


def plainly(scopes: Sequence[tuple[str, ...]], keep: Sequence[str], cards: Mapping[str, int]) -> Iterator[str]:
    """The same by its definition: the tables are looked at before every step."""
    tables = [set(scope) for scope in scopes]
    order = list(dict.fromkeys(v for scope in scopes for v in scope))
    left = [v for v in order if v not in keep]
    while left:
        joined = {v: set().union({v}, *(table for table in tables if v in table)) for v in left}
        first = min(left, key=lambda v: (math.prod(cards[u] or 1 for u in joined[v]), order.index(v)))
        yield first
        left.remove(first)
        tables = [*(table for table in tables if first not in table), joined[first] - {first}]


@pytest.mark.parametrize("seed", range(50))
def test_the_smallest_table_is_next(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"v{i}" for i in range(rng.randint(1, 12))]
    scopes = [tuple(rng.sample(names, rng.randint(1, min(len(names), 5)))) for _ in range(rng.randint(1, 12))]
    cards = {v: rng.randint(0 if seed % 5 == 0 else 1, 4) for v in names}
    keep = rng.sample(names, rng.randint(0, min(2, len(names))))
    assert list(elimination_order(scopes, keep, cards)) == list(plainly(scopes, keep, cards))


def test_a_table_that_is_too_large_at_once_is_enough() -> None:
    """All orders of a thousand variables need not be tried to know it."""
    names = tuple(f"v{i}" for i in range(1000))
    assert widest([names], (), dict.fromkeys(names, 2), enough=10**6) == 2**1000
