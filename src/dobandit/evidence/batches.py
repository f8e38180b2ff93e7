"""Tables that are counted together: from one question to a source, whose answer fits into memory.

A log of a thousand variables has half a million pairs of them, and a source must not be read once for each. So the
variables are put into blocks, and the tables whose variables are in the same blocks are counted from the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np

from dobandit.arrays import Array, Indices

Group = tuple[str, ...]  # the variables of a table

MARKED = 2**22  # numbers that mark the values of some rows


def batches(groups: Sequence[Group], fits: Callable[[Sequence[str], int], bool]) -> Iterator[list[Group]]:
    """The groups in lists, each of which is counted from one question. `fits(block, n)` says whether n blocks of
    variables, as large as this one, can be read together.

    >>> list(batches([("A", "B"), ("A", "C"), ("B", "C")], lambda block, blocks: blocks * len(block) <= 2))
    [[('A', 'B')], [('A', 'C')], [('B', 'C')]]
    """
    block: dict[str, int] = {}
    last: list[str] = []
    for v in dict.fromkeys(v for group in groups for v in group):
        last = [*last, v] if fits([*last, v], 2) else [v]
        block[v] = block[last[0]] if len(last) > 1 else len(block)
    batch, named = list[Group](), dict[str, None]()
    for group in sorted(groups, key=lambda group: sorted({block[v] for v in group})):
        if batch and (new := [v for v in group if v not in named]) and not fits([*named, *new], 1):
            yield batch
            batch, named = [], {}
        batch.append(group)
        named.update(dict.fromkeys(group))
    if batch:
        yield batch


def pairs_counted(codes: Mapping[str, Indices], weights: Array, cards: Mapping[str, int]) -> Callable[[Group], Array]:
    """The counts of any two of these variables, from the codes of rows: one product of matrices has all of them."""
    sizes = [cards[v] for v in codes]
    start = dict(zip(codes, accumulate(sizes, initial=0), strict=False))
    total, rows = sum(sizes), len(weights)
    places = np.stack([codes[v] + start[v] for v in codes], axis=1)
    counts, together = np.zeros((total, total)), max(1, MARKED // total)
    for first in range(0, rows, together):
        part = slice(first, first + together)
        marked = np.zeros((len(places[part]), total))
        np.put_along_axis(marked, places[part], 1.0, axis=1)
        counts += (marked * weights[part, np.newaxis]).T @ marked

    def of(group: Group) -> Array:
        a, b = group
        return counts[start[a] : start[a] + cards[a], start[b] : start[b] + cards[b]].copy()  # to keep no more

    return of
