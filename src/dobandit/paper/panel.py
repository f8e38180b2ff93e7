"""What a panel of the paper is: a world, costs, a grid, policies, and what the paper says about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dobandit import worlds
from dobandit.graph import Graph
from dobandit.paper.claims import Claim
from dobandit.problem import Axis, CostLike, Objective, Problem
from dobandit.worlds import World

LABELS: Mapping[Axis, str] = {"budget": "budget", "cost": "cost of intervening"}


@dataclass(frozen=True)
class Experiment:
    """What the two panels of a figure share."""

    objective: Objective
    graph: Graph
    model: str  # of the world: xor or parallel
    policies: tuple[str, ...]  # those of the paper
    variants: Mapping[str, str]  # another form of a policy that the published curve may show
    notes: Mapping[str, str]  # why a policy's curve differs from the published one

    def world(self) -> World | Callable[[int], World]:
        """The world of all trials, or a function that makes each trial's own."""
        if self.model == "parallel":
            return worlds.parallel(n=len(self.graph.variables) - 1)
        return partial(worlds.xor, self.graph)


@dataclass(frozen=True)
class Panel:
    """Regret against the budget, or against the cost of every intervention."""

    name: str
    figure: str
    experiment: Experiment
    axis: Axis
    grid: tuple[float, ...]
    claims: tuple[Claim, ...]
    costs: tuple[float, ...] = ()  # an intervention costs one of these, drawn for every arm and trial
    budget: float | None = None  # where the cost varies
    remark: str = ""
    own_notes: Mapping[str, str] = field(default_factory=dict)  # besides those of the experiment

    @property
    def notes(self) -> Mapping[str, str]:
        """Why a policy's curve differs from the published one."""
        return {**self.experiment.notes, **self.own_notes}

    @property
    def objective(self) -> Objective:
        return self.experiment.objective

    @property
    def policies(self) -> tuple[str, ...]:
        """The paper's, each followed by its variant, and those that it speaks of but leaves out of the figure."""
        shown = [form for name in self.experiment.policies for form in self.forms(name)]
        return tuple(dict.fromkeys([*shown, *(name for claim in self.claims for name in claim.also)]))

    def forms(self, policy: str) -> tuple[str, ...]:
        """A policy of the paper as its own paper defines it, and its variant if there is one."""
        variant = self.experiment.variants.get(policy)
        return (policy, variant) if variant else (policy,)

    @property
    def x_label(self) -> str:
        return LABELS[self.axis]

    def problem(self) -> Problem:
        cost: CostLike = {"choose": list(self.costs)} if self.costs else 1
        budget = max(self.grid) if self.budget is None else self.budget
        return Problem(self.experiment.graph, "Y", budget, self.objective, default_cost=cost)

    def setting(self) -> dict[str, Any]:
        """All that the numbers depend on, besides the policy, the seed and the trials."""
        return {
            "objective": self.objective,
            "graph": str(self.experiment.graph),
            "model": self.experiment.model,
            "axis": self.axis,
            "grid": list(self.grid),
            "costs": list(self.costs),
            "budget": self.budget,
        }

    def describe(self) -> str:
        """The setting in one line."""
        drawn = ", drawn for every arm and trial" if len(self.costs) > 1 else ""
        return f"{self.describe_world()}; {self.describe_money()}{drawn}"

    def describe_world(self) -> str:
        graph = self.experiment.graph
        hidden = f", {len(graph.bidirected)} hidden" if graph.bidirected else ""
        return f"{self.experiment.model} model, {len(graph.variables) - 1} variables{hidden}"

    def describe_money(self) -> str:
        if self.budget is not None:
            return f"budget {self.budget:g}, interventions cost c"
        *others, last = [f"{cost:g}" for cost in self.costs]
        return f"interventions cost {', '.join(others)} or {last}" if others else f"interventions cost {last}"
