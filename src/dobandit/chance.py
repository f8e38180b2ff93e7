"""Chance as a function: the same question always gets the same random numbers.

The question is (seed, purpose, block, round). A block is always 64 trials, drawn together whether or
not all of them are alive or asked for, so that results are the same bits whatever the number of
processes, the size of the batches or the company of other policies. Philox is a counter-based
generator (Salmon et al. 2011): seed and purpose make its key, block and round its counter, and a
stretch of rounds can be drawn in one call with the same numbers as one by one. Gamma variates, of which many are
needed, have a faster generator for every trial and stretch.

>>> one_by_one = [uniforms(7, "outcome", block=2, rounds=range(r, r + 1), width=3) for r in range(5)]
>>> bool((uniforms(7, "outcome", 2, range(5), 3) == np.concatenate(one_by_one)).all())
True
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices

BLOCK = 64
STRETCH = 64  # rounds that are drawn together
AT_HAND = 2**21  # numbers that are kept for when they are asked for again: 16 MB
ATTEMPTS = 10  # after a gamma variate was refused twice; that all of them fail has a chance below 1e-12
GAMMAS = 2**13  # variates for which one generator of a trial makes the numbers together
_PER_STEP = 4  # numbers that Philox makes from one value of its counter


def uniforms(seed: int, purpose: str, block: int, rounds: range, width: int, out: Array | None = None) -> Array:
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
        self._held: dict[tuple[str, int], tuple[range, Array]] = {}
        self._held_by_trial: dict[str, tuple[Indices, int, NDArray[np.float32]]] = {}

    def uniforms(self, trials: Indices, round_: int | Indices, width: int, part: str = "") -> Array:
        """Uniform numbers with axes (row, width) for the decision or pull number `round_`, one for all rows or each.

        `part` keeps several draws of the same round apart.
        """
        key = f"{self.purpose}{part}:{width}"
        if isinstance(round_, int):
            drawn, first = self._stretch(key, trials, round_ // STRETCH, width)
            of_round = drawn[:, round_ % STRETCH].reshape(-1, width)
            return np.asarray(of_round.take(trials - first * BLOCK, axis=0))
        found = np.empty((len(trials), width))
        for stretch in np.unique(round_ // STRETCH).tolist():
            rows = np.flatnonzero(round_ // STRETCH == stretch)
            drawn, first = self._stretch(key, trials[rows], stretch, width)
            block, place = np.divmod(trials[rows] - first * BLOCK, BLOCK)
            found[rows] = drawn[block, round_[rows] % STRETCH, place]
        return found

    def _stretch(self, key: str, trials: Indices, stretch: int, width: int) -> tuple[Array, int]:
        """The numbers of a stretch of rounds for the blocks of these trials, and the number of the first block."""
        ends = (trials.min(), trials.max()) if len(trials) > 1 else (trials[0], trials[0])
        low, high = (int(trial) // BLOCK for trial in ends)
        present, drawn = self._held.get((key, stretch), (range(0), np.zeros(0)))
        if not (low in present and high in present):
            present = range(low, high + 1)
            rounds = range(stretch * STRETCH, (stretch + 1) * STRETCH)
            drawn = np.empty((len(present), STRETCH, BLOCK, width))
            for place, block in zip(drawn, present, strict=True):
                uniforms(self.seed, key, block, rounds, width, out=place)
            self._hold((key, stretch), present, drawn)
        return drawn, present.start

    def _hold(self, which: tuple[str, int], present: range, drawn: Array) -> None:
        """Keep these numbers at hand, and forget the oldest ones if it is too much."""
        self._held.pop(which, None)
        self._held[which] = present, drawn
        while len(self._held) > 1 and sum(numbers.size for _, numbers in self._held.values()) > AT_HAND:
            del self._held[next(iter(self._held))]

    def gammas(self, trials: Indices, round_: int | Indices, shapes: Array, part: str = "") -> Array:
        """Gamma variates with these shapes, axes (row, width), each a function of its own trial's numbers alone, for
        the decision number `round_`, one for all rows or each.

        Marsaglia and Tsang (2000): a cube of a shifted normal is accepted in at least 95 of 100 cases, else another
        is made from the second numbers, or from ones derived from these; that ten in a row fail has a chance below
        1e-12.
        """
        if not isinstance(round_, int):
            found = np.empty(shapes.shape)
            for number in np.unique(round_).tolist():
                rows = np.flatnonzero(round_ == number)
                found[rows] = self.gammas(trials[rows], number, shapes[rows], part)
            return found
        numbers = self._for_gammas(part, trials, round_, shapes.shape[1])
        (normal, slack), second, shrink = numbers[:2].astype(float), numbers[2:4], numbers[4]
        is_small = shapes < 1
        d = shapes - 1 / 3 + is_small  # a shape below one is reached from above
        v = _cubed(normal, d)
        found = np.ascontiguousarray(d * v)
        flat = found.ravel()
        failed = _failed(slack, d, v)
        if len(failed):
            flat[failed] = _others(d.take(failed), *(other.take(failed).astype(float) for other in second))
        small = is_small.ravel().nonzero()[0]
        if len(small):
            flat[small] *= np.exp(-shrink.take(small) / shapes.take(small))
        return found

    def normals(self, trials: Indices, round_: int | Indices, width: int, part: str = "") -> Array:
        """Standard normal variates with axes (row, width), each a function of its own trial's numbers alone, for the
        decision number `round_`, one for all rows or each."""
        if isinstance(round_, int):
            return np.asarray(self._for_gammas(part, trials, round_, width)[0], dtype=float)
        found = np.empty((len(trials), width))
        for number in np.unique(round_).tolist():
            rows = np.flatnonzero(round_ == number)
            found[rows] = self.normals(trials[rows], number, width, part)
        return found

    def _for_gammas(self, part: str, trials: Indices, round_: int, width: int) -> NDArray[np.float32]:
        """Numbers for one round, with axes (kind, row, width). Every trial has a generator of its own for a stretch of
        rounds, because how much a normal number takes from the generator is not fixed."""
        key = f"{self.purpose}{part}:gamma:{width}"
        present, stretch, drawn = self._held_by_trial.get(key, (trials[:0], 0, np.zeros(0, dtype=np.float32)))
        together = max(1, min(STRETCH, GAMMAS // max(width, 1)))
        is_same = present.tobytes() == trials.tobytes()
        if not (0 <= round_ - stretch < together and (is_same or np.isin(trials, present).all())):
            present, stretch = np.unique(trials), round_ - round_ % together
            drawn = np.empty((5, len(present), together, width), dtype=np.float32)
            for i, generator in enumerate(generators(self.seed, key, present, stretch)):
                _fill_for_gammas(generator, drawn[:, i])
            self._held_by_trial[key] = present, stretch, drawn
            is_same = present.tobytes() == trials.tobytes()
        of_round: NDArray[np.float32] = drawn[:, :, round_ - stretch]
        return of_round if is_same else of_round.take(np.searchsorted(present, trials), axis=1)


def generators(seed: int, purpose: str, trials: Indices, first: int) -> Iterator[np.random.Generator]:
    """A generator for each trial in turn, which begins with what belongs to the round `first`: the fastest that NumPy
    has, from a place of its own."""
    bits = np.random.SFC64(0)
    generator, state = np.random.Generator(bits), bits.state
    for trial in trials.tolist():
        digest = blake2b(f"{seed}:{purpose}:{trial}:{first}".encode(), digest_size=24).digest()
        state["state"]["state"][:] = *np.frombuffer(digest, dtype="<u8"), 1
        bits.state = state
        yield generator


def _fill_for_gammas(generator: np.random.Generator, numbers: NDArray[np.float32]) -> None:
    """A normal number, and for its test half its square and an exponential number; all that a second time; and an
    exponential number. Half the usual precision takes half as long to make."""
    for normal, slack in (numbers[:2], numbers[2:4]):
        generator.standard_normal(out=normal, dtype=np.float32)
        generator.standard_exponential(out=slack, dtype=np.float32)
        slack += 0.5 * normal * normal
    generator.standard_exponential(out=numbers[4], dtype=np.float32)


def _cubed(normal: Array, d: Array) -> Array:
    root = 1 + normal / np.sqrt(9 * d)
    return np.asarray(root * root * root)


def _failed(slack: Array, d: Array, v: Array) -> Indices:
    """Where the variate d*v is not to be taken. A v below zero fails by its logarithm."""
    taken = slack + d * (1 - v + np.log(np.maximum(v, 1e-300)))
    return (taken.ravel() <= 0).nonzero()[0]


def _others(d: Array, normal: Array, slack: Array) -> Array:
    """Gamma variates of shape d + 1/3 from these numbers, and from as many attempts as it takes."""
    v = _cubed(normal, d)
    found, todo = np.asarray(d * np.abs(v)), _failed(slack, d, v)
    for attempt in range(ATTEMPTS if len(todo) else 0):
        first, second, third = _again(slack[todo], 3 * attempt + np.arange(3)[:, np.newaxis])
        normal = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)  # Box and Muller (1958)
        v = _cubed(normal, d[todo])
        found[todo] = d[todo] * np.abs(v)
        todo = todo[_failed(0.5 * normal * normal - np.log1p(-third), d[todo], v)]
        if not len(todo):
            break
    return found


def _again(u: Array, attempt: int | NDArray[np.integer]) -> Array:
    """Uniform numbers made from other ones, by the mixing function of SplitMix64 (Steele et al. 2014)."""
    z = (u * 2**48).astype(np.uint64) + np.asarray(attempt).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)) * 2.0**-53)
