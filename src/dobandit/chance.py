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
STRETCH = 64  # rounds that are drawn together
ATTEMPTS = 10
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


class Chance:
    """The random numbers of one purpose for a batch of rows: row r is trial `trials[r]`, whose block and place
    in it say which numbers are its own.

    Numbers are made for stretches of rounds at a time, because starting the generator costs more than drawing.
    """

    def __init__(self, seed: int, purpose: str) -> None:
        self.seed, self.purpose = seed, purpose
        self._stretches: dict[str, tuple[tuple[int, ...], int, NDArray[np.float64]]] = {}

    def uniforms(self, trials: NDArray[np.intp], round_: int, width: int, part: str = "") -> NDArray[np.float64]:
        """Uniform numbers with axes (row, width) for the decision or pull number `round_`.

        `part` keeps several draws of the same round apart.
        """
        blocks = trials // BLOCK
        present = tuple(dict.fromkeys(blocks.tolist()))
        stretch = round_ - round_ % STRETCH
        key = f"{self.purpose}{part}:{width}"
        held = self._stretches.get(key)
        if held is None or held[1] != stretch or not set(present) <= set(held[0]):
            rounds = range(stretch, stretch + STRETCH)
            drawn = np.stack([uniforms(self.seed, key, block, rounds, width) for block in present])
            held = self._stretches[key] = (present, stretch, drawn)
        place = np.zeros(max(held[0]) + 1, dtype=np.intp)
        place[list(held[0])] = np.arange(len(held[0]))
        found: NDArray[np.float64] = held[2][place[blocks], round_ - stretch, trials % BLOCK]
        return found

    def gammas(self, trials: NDArray[np.intp], round_: int, shapes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gamma variates with these shapes, axes (row, width), each a function of its own row's numbers alone.

        Marsaglia and Tsang (2000): a cube of a shifted normal is accepted in at least 95 of 100 cases, else the
        next attempt is made, with numbers of its own; the chance that ten in a row fail is below 1e-12.
        """
        width = shapes.shape[1]
        boosted = np.where(shapes < 1, shapes + 1, shapes)  # a shape below one is reached from above
        d = boosted - 1 / 3
        found = np.full(shapes.shape, np.nan)
        for attempt in range(ATTEMPTS):
            u = self.uniforms(trials, round_, 3 * width, f":gamma{attempt}").reshape(len(trials), 3, width)
            normal = np.sqrt(-2 * np.log1p(-u[:, 0])) * np.cos(2 * np.pi * u[:, 1])  # Box and Muller (1958)
            v = (1 + normal / np.sqrt(9 * d)) ** 3
            with np.errstate(invalid="ignore", divide="ignore"):
                accepted = (v > 0) & (np.log1p(-u[:, 2]) < 0.5 * normal**2 + d - d * v + d * np.log(v))
            found = np.where(np.isnan(found) & (accepted | (attempt == ATTEMPTS - 1)), d * np.abs(v), found)
            if not np.isnan(found).any():
                break
        if (shapes < 1).any():
            u = self.uniforms(trials, round_, width, ":boost")
            found = np.where(shapes < 1, found * (1 - u) ** (1 / shapes), found)
        return found
