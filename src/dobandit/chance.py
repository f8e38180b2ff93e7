"""Chance as a function: the same question always gets the same random numbers.

The question is (seed, purpose, block, round). A block is always 64 trials, drawn together whether or
not all of them are alive or asked for, so that results are the same bits whatever the number of
processes, the size of the batches or the company of other policies. Philox is a counter-based
generator (Salmon et al. 2011): seed and purpose make its key, block and round its counter, and a
stretch of rounds can be drawn in one call with the same numbers as one by one.

>>> one_by_one = [uniforms(7, "outcome", block=2, rounds=range(r, r + 1), width=3) for r in range(5)]
>>> bool((uniforms(7, "outcome", 2, range(5), 3) == np.concatenate(one_by_one)).all())
True
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

BLOCK = 64
_PER_STEP = 4  # numbers that Philox makes from one value of its counter


def uniforms(seed: int, purpose: str, block: int, rounds: range, width: int) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1) with axes (round, trial of the block, width)."""
    digest = blake2b(f"{seed}:{purpose}".encode(), digest_size=16).digest()
    start = rounds.start * width * BLOCK // _PER_STEP
    bits = np.random.Philox(key=int.from_bytes(digest, "little"), counter=[start, 0, block, 0])
    return np.random.Generator(bits).random((len(rounds), BLOCK, width))


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A stream of its own for what is drawn once: the parameters of a world, the rows of a sample."""
    digest = blake2b(f"{seed}:{purpose}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
