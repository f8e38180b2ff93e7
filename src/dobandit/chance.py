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


def uniforms(
    seed: int, purpose: str, block: int, rounds: range, width: int, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1) with axes (round, trial of the block, width), in a new array or in `out`."""
    digest = blake2b(f"{seed}:{purpose}".encode(), digest_size=16).digest()
    start = rounds.start * width * BLOCK // _PER_STEP
    bits = np.random.Philox(key=int.from_bytes(digest, "little"), counter=[start, 0, block, 0])
    return np.random.Generator(bits).random((len(rounds), BLOCK, width), out=out)


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
        self._held: dict[str, tuple[range, int, NDArray[np.float64]]] = {}

    def uniforms(self, trials: NDArray[np.intp], round_: int, width: int, part: str = "") -> NDArray[np.float64]:
        """Uniform numbers with axes (row, width) for the decision or pull number `round_`.

        `part` keeps several draws of the same round apart.
        """
        low, high = int(trials.min()) // BLOCK, int(trials.max()) // BLOCK
        key = f"{self.purpose}{part}:{width}"
        present, stretch, drawn = self._held.get(key, (range(0), 0, np.zeros(0)))
        if not (low in present and high in present and 0 <= round_ - stretch < STRETCH):
            present, stretch = range(low, high + 1), round_ - round_ % STRETCH
            rounds = range(stretch, stretch + STRETCH)
            drawn = np.empty((len(present), STRETCH, BLOCK, width))
            for place, block in zip(drawn, present, strict=True):
                uniforms(self.seed, key, block, rounds, width, out=place)
            self._held[key] = present, stretch, drawn
        of_round = drawn[:, round_ - stretch].reshape(-1, width)
        found: NDArray[np.float64] = of_round.take(trials - present.start * BLOCK, axis=0)
        return found

    def gammas(self, trials: NDArray[np.intp], round_: int, shapes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gamma variates with these shapes, axes (row, width), each a function of its own row's numbers alone.

        Marsaglia and Tsang (2000): a cube of a shifted normal is accepted in at least 95 of 100 cases, else another
        is made from numbers derived from the first ones; the chance that ten in a row fail is below 1e-12.
        """
        boosted = np.where(shapes < 1, shapes + 1, shapes)  # a shape below one is reached from above
        d = (boosted - 1 / 3).ravel()
        u = self.uniforms(trials, round_, 4 * shapes.shape[1], ":gamma").reshape(len(trials), 4, -1)
        own = np.moveaxis(u, 1, 0).reshape(4, -1)  # four numbers for every variate
        found = np.empty(d.shape)
        todo = np.arange(len(d))
        for attempt in range(ATTEMPTS):
            first, second, third = own[:3, todo] if attempt == 0 else _again(own[:3, todo], attempt)
            normal = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)  # Box and Muller (1958)
            v = (1 + normal / np.sqrt(9 * d[todo])) ** 3
            found[todo] = d[todo] * np.abs(v)
            with np.errstate(invalid="ignore", divide="ignore"):
                limit = 0.5 * normal**2 + d[todo] * (1 - v + np.log(v))
            todo = todo[~(np.log1p(-third) < limit)]
            if not len(todo):
                break
        boost = (1 - own[3]) ** (1 / shapes.ravel())
        return np.where(shapes.ravel() < 1, found * boost, found).reshape(shapes.shape)


def _again(u: NDArray[np.float64], attempt: int) -> NDArray[np.float64]:
    """New uniform numbers made from old ones, by the mixing function of SplitMix64 (Steele et al. 2014)."""
    z = (u * 2**53).astype(np.uint64) + np.uint64((attempt * 0x9E3779B97F4A7C15) % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)) * 2.0**-53)
