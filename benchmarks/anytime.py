"""How often a run ever leaves its confidence sequences: `status --anytime` says at most one in twenty.

Every run follows a policy that looks at the rewards, and its intervals are worked out after every pull, as a study does
it (level 95 % for all options together). A run has left if the mean of any option was outside at any time. For
comparison: the usual 95 % intervals of each mean (Wilson's), looked at in the same way from the tenth pull on.

usage: python benchmarks/anytime.py [--runs 1000] [--pulls 400] [--seed 1]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from _script import options, record
from dobandit.arrays import Array
from dobandit.certainty import sequence_ends

LEVEL, FIRST = 0.95, 10
REWARDS = {  # the values of a reward, and how likely they are for each option
    "rare, 2 and 3 %": ((0.0, 1.0), ((0.98, 0.02), (0.97, 0.03))),
    "0/1, four options": ((0.0, 1.0), ((0.6, 0.4), (0.55, 0.45), (0.5, 0.5), (0.5, 0.5))),
    "skewed": ((0.0, 0.2, 1.0), ((0.90, 0.08, 0.02), (0.87, 0.10, 0.03))),
}
POLICIES = ("thompson", "best and worst")


class Left(NamedTuple):
    """The shares of runs that ever left their intervals."""

    sequences: float
    usual: float


class Ends:
    """The ends of confidence sequences; many runs have the same counts, and those are worked out once."""

    def __init__(self, values: Array, level: float) -> None:
        self._values, self._level, self._known = values, level, dict[bytes, tuple[float, float]]()

    def after(self, counts: Array) -> Array:
        """Of counts with axes (run, value): axes (run, end)."""
        different, place = np.unique(counts, axis=0, return_inverse=True)
        new = np.array([row.tobytes() not in self._known for row in different])
        for row, low, high in zip(
            different[new], *sequence_ends(self._values, different[new], self._level), strict=True
        ):
            self._known[row.tobytes()] = float(low), float(high)
        return np.array([self._known[row.tobytes()] for row in different])[place.ravel()]


def play(values: Array, chances: Array, policy: str, runs: int, pulls: int, rng: np.random.Generator) -> Left:
    """All runs in lock step."""
    number_of_options, every, means = len(chances), np.arange(runs), chances @ values
    counts = np.zeros((runs, number_of_options, len(values)))
    ends = Ends(values, 1 - (1 - LEVEL) / number_of_options)
    left, usual = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    for pull in range(pulls):
        arm = chosen(counts, values, policy, pull, rng)
        reward = (rng.random((runs, 1)) > chances.cumsum(axis=1)[arm][:, :-1]).sum(axis=1)
        counts[every, arm, reward] += 1
        seen = counts[every, arm]  # the intervals of the other options are what they were
        low, high = ends.after(seen).T
        left |= (means[arm] < low) | (means[arm] > high)
        number = seen.sum(axis=1)
        usual |= (number >= FIRST) & is_outside(seen @ values / number, number, means[arm])
    return Left(float(left.mean()), float(usual.mean()))


def chosen(counts: Array, values: Array, policy: str, pull: int, rng: np.random.Generator) -> Array:
    """Thompson sampling, or what looks best and what looks worst in turn: unlucky options are left alone."""
    number, total = counts.sum(axis=2), counts @ values
    if policy == "thompson":
        return np.asarray(rng.beta(total + 0.5, number - total + 0.5).argmax(axis=1))
    guess = (total + 0.5) / (number + 1)
    return np.asarray((guess if pull % 2 else -guess).argmax(axis=1))


def is_outside(share: Array, number: Array, mean: Array) -> Array:
    """Whether a mean is outside Wilson's interval."""
    return np.asarray((share - mean) ** 2 > 1.96**2 * mean * (1 - mean) / number)


def main() -> None:
    asked = options(__doc__, runs=1000, pulls=400, seed=1)
    runs, pulls = (20, 20) if asked.smoke else (asked.runs, asked.pulls)
    print(f"runs that ever leave their intervals, {runs:,} runs of {pulls:,} pulls, seed {asked.seed}")
    print(f"{'rewards':20}{'policy':16}{'at all times':>14}{'usual intervals':>17}")
    worst = 0.0
    for kind, (values, chances) in REWARDS.items():
        for number, policy in enumerate(POLICIES):
            rng = np.random.default_rng([asked.seed, list(REWARDS).index(kind), number])
            found = play(np.array(values), np.array(chances), policy, runs, pulls, rng)
            worst = max(worst, found.sequences)
            print(f"{kind:20}{policy:16}{found.sequences:>14.1%}{found.usual:>17.1%}", flush=True)
    record("runs that ever leave their confidence sequences", worst, 1 - LEVEL)


if __name__ == "__main__":
    main()
