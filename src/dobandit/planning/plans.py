"""A plan: what to expect of each budget, the budget that is needed, and what a longer log would be worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dobandit.evidence import frame
from dobandit.markup import html_table
from dobandit.numerals import amount, number
from dobandit.problem import Objective

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Outlook:
    """What to expect of a policy with a budget and a log of so many rows, on average over the worlds."""

    budget: float
    policy: str
    regret: float
    se: float
    chance_best: float
    chance_within: float
    log_rows: int

    def cells(self) -> list[str]:
        """Budget, regret and its standard error, and the two chances, for people."""
        chances = [f"{chance:.0%}" for chance in (self.chance_best, self.chance_within)]
        return [amount(self.budget), number(self.regret, 3), number(self.se, 2), *chances]

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "log_rows"}


@dataclass(frozen=True)
class Plan:
    """What to expect of budgets. `rows` has an outlook for each policy and budget.

    For simple regret, an answer is within a loss if the mean of the option that is named at the end is. For cumulative
    regret, the whole run is within a loss if it loses at most so much per unit of budget; and the best option is found
    if most of the money was spent on the one with the best mean per cost.
    """

    objective: Objective
    rows: Sequence[Outlook]
    other_logs: Sequence[Outlook]  # the first policy with the problem's budget, and a shorter and a longer log
    log_rows: int  # that the policies start from
    within: float  # the loss that is asked for, in the user's units
    chance: float  # and the chance of it
    trials: int
    assumptions: Sequence[str]  # sentences

    @property
    def policies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.policy for row in self.rows))

    def of(self, policy: str) -> list[Outlook]:
        """The outlooks of a policy, by budget."""
        return [row for row in self.rows if row.policy == policy]

    def needed_by(self, policy: str) -> float | None:
        """The smallest of the budgets with which a policy reaches the chance; None if none does."""
        return next((row.budget for row in self.of(policy) if row.chance_within >= self.chance), None)

    @property
    def needed(self) -> float | None:
        """The smallest of the budgets with which some policy reaches the chance; None if none does."""
        found = [budget for policy in self.policies if (budget := self.needed_by(policy)) is not None]
        return min(found, default=None)

    def told(self) -> list[str]:
        """How much is needed, a sentence for each policy, and what a longer log is worth."""
        several = len(self.policies) > 1
        sentences = [(f"{policy}: " if several else "") + self._needed_told(policy) for policy in self.policies]
        return sentences + ([self._longer_log_told()] if self.other_logs else [])

    def _needed_told(self, policy: str) -> str:
        aim = f"for a {self.chance:.0%} chance to {self.aim}"
        if (budget := self.needed_by(policy)) is not None:
            return f"About {amount(budget)} {aim}."
        last = self.of(policy)[-1]
        return (
            f"More than {amount(last.budget)} {aim}: with {amount(last.budget)} the chance is {last.chance_within:.0%}."
        )

    @property
    def aim(self) -> str:
        """What is to be reached."""
        if self.objective == "simple":
            return f"name an option within {number(self.within, 3)} of the best"
        return f"lose at most {number(self.within, 3)} per unit of budget"

    def _longer_log_told(self) -> str:
        """The longest log against more experiments."""
        longest = max(self.other_logs, key=lambda row: row.log_rows)
        own = self.of(longest.policy)
        now = next(row for row in own if row.budget == longest.budget)
        what = f"A log of {longest.log_rows:,} rows would"
        if now.regret - longest.regret <= 2 * np.hypot(now.se, longest.se):
            before, then = number(now.regret, 2), number(longest.regret, 2)
            return f"{what} change little: the expected regret is {before} now, {then} then."
        if self.objective == "cumulative":
            return f"{what} lower the expected regret from {number(now.regret, 3)} to {number(longest.regret, 3)}."
        more = next((row.budget for row in own if row.regret <= longest.regret), None)
        worth = f"about {amount(more)}" if more is not None else f"more than {amount(own[-1].budget)}"
        return f"{what} help as much as raising the budget from {amount(now.budget)} to {worth}."

    def to_dicts(self) -> list[dict[str, Any]]:
        """A record for each policy and budget."""
        return [row.to_dict() for row in self.rows]

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame, or a polars one where pandas is not installed."""
        records = self.to_dicts()
        return frame({name: np.array([record[name] for record in records]) for name in records[0]})

    def plot(self) -> Figure:
        """Regret and the two chances against the budget, as a figure of matplotlib."""
        from dobandit.plots import Expected, plan_figure

        curves = [
            Expected(
                policy,
                *np.array(
                    [[r.budget, r.regret, r.se, r.chance_best, r.chance_within] for r in self.of(policy)]
                ).T.tolist(),
            )
            for policy in self.policies
        ]
        return plan_figure(
            curves,
            regret=f"{self.objective} regret",
            within=self.aim,
            best="name the best option" if self.objective == "simple" else "spend most on the best option",
            chance=self.chance,
            needed=self.needed,
        )

    def __repr__(self) -> str:
        return f"<Plan: {self._needed_told(self.policies[0])[:-1]}, {self.trials} worlds>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        heads = [
            "policy",
            "budget",
            f"{self.objective} regret",
            "± s.e.",
            "best option",
            f"within {number(self.within, 3)}",
        ]
        cells = [[row.policy, *row.cells()] for row in self.rows]
        return html_table(heads, cells, [*self.told(), *self.assumptions])
