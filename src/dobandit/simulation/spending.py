"""What a stopping rule saved in a simulation, and how often the answer was right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.problem import Stop

SAME = 1e-9  # means that differ by less are equal
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Stopping:
    """What a stopping rule did, by policy. All arrays have the axes (trial, place on the grid).

    A `gap` is how far the answer is below the best arm: in its mean, or for cumulative regret in its mean per cost.
    """

    rule: Stop
    early: Mapping[str, Flags]  # whether the rule ended the trial
    gaps: Mapping[str, Array]

    def summary(self, budgets: tuple[float, ...], spent: Mapping[str, Array]) -> list[dict[str, Any]]:
        """One row for each policy and budget: how often the rule stopped, what was spent (mean and quartiles), the
        share of the budget that the rule saved, and how often the answer was the best arm (`right`, and in trials that
        stopped early `right_if_stopped`), or within the loss of the rule (`within`)."""
        return [
            self._row(name, budget, self.early[name][:, j], self.gaps[name][:, j], spent[name][:, j])
            for name in self.early
            for j, budget in enumerate(budgets)
        ]

    def _row(self, policy: str, budget: float, early: Flags, gap: Array, spent: Array) -> dict[str, Any]:
        right = gap <= SAME
        return {
            "policy": policy,
            "budget": budget,
            "stopped": float(early.mean()),
            "spent": float(spent.mean()),
            "quartiles": np.quantile(spent, QUARTILES).tolist(),
            "saved": float(np.where(early, 1 - spent / budget, 0.0).mean()),
            "right": float(right.mean()),
            "right_if_stopped": float(right[early].mean()) if early.any() else None,
            "within": None if self.rule.loss is None else float((gap <= self.rule.loss + SAME).mean()),
        }
