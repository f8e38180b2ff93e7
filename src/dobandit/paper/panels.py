"""What a panel of the paper is: a world, costs, a grid, policies, and what the paper says about it.

The thirteen panels of its experiments are in `panels.toml`; `reproduce` runs them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any

from dobandit import worlds
from dobandit.errors import DobanditError, did_you_mean, listing
from dobandit.graph import Graph
from dobandit.paper import claims
from dobandit.paper.claims import Claim
from dobandit.paper.published import points
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


# -- the panels ----------------------------------------------------------------------------------------

_DATA: Mapping[str, Any] = tomllib.loads(files("dobandit.paper").joinpath("panels.toml").read_text(encoding="utf-8"))
CHOICES: tuple[str, ...] = tuple(_DATA["choices"])
_QUOTED = {  # numbers of the paper in texts
    "at_cost_6": points("fig4-cost", "paper-simple")[6.0].regret,
    "at_budget_800": points("fig4-budget", "paper-simple")[800.0].regret,
}


def _notes(keys: Iterable[str]) -> dict[str, str]:
    """By policy."""
    return {note["policy"]: note["text"].format(**_QUOTED) for note in (_DATA["notes"][key] for key in keys)}


def _experiment(entry: Mapping[str, Any]) -> Experiment:
    """Of the parallel model with so many variables, or of the XOR model on a graph of the paper."""
    parallel = entry.get("parallel")
    return Experiment(
        objective=entry["objective"],
        graph=worlds.parallel(parallel).graph if parallel else getattr(worlds, entry["graph"]),
        model="parallel" if parallel else "xor",
        policies=tuple(entry["policies"]),
        variants=entry["variants"],
        notes=_notes(entry["notes"]),
    )


_CLAIMS = {
    key: Claim(c["text"], getattr(claims, c["check"]), tuple(c.get("of", ())), tuple(c.get("also", ())))
    for key, c in _DATA["claims"].items()
}
_EXPERIMENTS = {key: _experiment(entry) for key, entry in _DATA["experiments"].items()}


def _panel(name: str, entry: Mapping[str, Any]) -> Panel:
    """A panel against costs where it states a budget, else against budgets."""
    first, last, step = entry["grid"]
    return Panel(
        name=name,
        figure=f"Figure {entry['figure']}",
        experiment=_EXPERIMENTS[entry["experiment"]],
        axis="cost" if "budget" in entry else "budget",
        grid=tuple(map(float, range(first, last + 1, step))),
        claims=tuple(_CLAIMS[key] for key in entry["claims"]),
        costs=tuple(entry.get("costs", ())),
        budget=entry.get("budget"),
        remark=entry.get("remark", ""),
        own_notes=_notes(entry.get("notes", ())),
    )


PANELS = {name: _panel(name, entry) for name, entry in _DATA["panels"].items()}


def panels_of(name: str) -> list[Panel]:
    """The panel of this name, or all of a figure (`fig10`); an unknown name is answered with the nearest."""
    known = name.strip().lower()
    if found := [panel for panel in PANELS.values() if known in (panel.name, panel.name.partition("-")[0])]:
        return found
    meant = did_you_mean(known, PANELS, most=3) or f"there are {listing(PANELS, most=len(PANELS))}"
    raise DobanditError(f"there is no panel {name!r}; {meant}")
