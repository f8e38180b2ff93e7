"""Rows with the reward as a number: who got what, what else is known of them, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.errors import DataError
from dobandit.estimate.observational.question import codes_of
from dobandit.estimate.observational.scale import Scale
from dobandit.evidence import Sample, Source, read_sample
from dobandit.problem import Arm


@dataclass(frozen=True)
class Cases:
    """Rows, each with the number of times that it occurs."""

    sample: Sample
    scale: Scale
    outcome: Array
    source: str

    @property
    def weights(self) -> Array:
        return self.sample.weights

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    def average(self, values: Array | Flags) -> float:
        return float(self.weights @ values / self.total)

    def have(self, arm: Arm) -> Flags:
        """Which rows happened to have what the arm sets."""
        found = np.ones(len(self.weights), dtype=bool)
        for v, place in codes_of(arm, self.scale.domains).items():
            found &= self.sample.codes[v] == place
        return found

    def column(self, variable: str) -> Array | Indices:
        return self.sample.numbers[variable] if variable in self.sample.numbers else self.sample.codes[variable]

    def one_by_one(self) -> Cases:
        """The same rows, each as often as it occurs."""
        if (self.weights % 1 != 0).any():
            raise DataError(
                f"{self.source}: tables cannot hold this effect, and without tables weights are whole numbers"
            )
        rows = np.repeat(np.arange(len(self.weights)), self.weights.astype(int))
        codes = {v: column[rows] for v, column in self.sample.codes.items()}
        numbers = {v: column[rows] for v, column in self.sample.numbers.items()}
        return Cases(Sample(codes, numbers, np.ones(len(rows))), self.scale, self.outcome[rows], self.source)


def read_cases(source: Source, variables: Iterable[str], reward: str, scale: Scale) -> Cases:
    """The plain observations of these variables and the reward."""
    variables = [reward, *(v for v in variables if v != reward)]
    numbers = {*scale.between, *scale.numbers} & set(variables)
    sample = read_sample(source, variables, scale.domains, numbers)
    if not sample.weights.sum() > 0:
        raise DataError(f"{source.name}: there are no rows to estimate from")
    outcome = sample.numbers[reward] if reward in numbers else np.array(scale.worth)[sample.codes[reward]]
    return Cases(sample, scale, outcome, source.name)
