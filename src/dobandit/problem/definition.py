"""The problem: what can be done, what it costs, what is known of the causes, and what is wanted.

>>> p = Problem("X -> Y", reward="Y", budget=100, costs={"do(X=1)": 3.5}, default_cost=2)
>>> [f"{arm} {cost:g}" for arm, cost in zip(p.arms, p.costs)]
['do() 1', 'do(X=0) 2', 'do(X=1) 3.5']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dobandit.errors import GraphError, listing
from dobandit.graph import Graph, as_graph
from dobandit.problem.arms import Arm
from dobandit.problem.costs import Choose, Cost, Uniform, costs_of_arms
from dobandit.problem.faults import Faults, is_positive
from dobandit.problem.labels import is_numeral, label
from dobandit.problem.rewards import BINARY, Worth, read_reward

OBJECTIVES = ("cumulative", "simple")
GOALS = ("max", "min")

if TYPE_CHECKING:  # a problem has no arrays of its own, and is read without NumPy
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


class Problem:
    """A budgeted causal bandit problem, validated and frozen; all that is wrong with it is said at once.

    `graph` is what is left of `full_graph` when only the observed variables are seen. `costs` stands
    in the order of `arms`: do() first, then every value of every intervenable variable in graph order.
    """

    graph: Graph
    full_graph: Graph
    reward: str
    reward_values: tuple[float, ...]  # the worth of each value of the reward, in the user's units
    reward_is_continuous: bool  # numbers between the two reward_values occur
    budget: float
    objective: str
    goal: str
    domains: Mapping[str, tuple[str, ...]]  # the values of every variable of the full graph
    intervenable: tuple[str, ...]
    arms: tuple[Arm, ...]
    costs: tuple[Cost, ...]
    world: Mapping[str, Any] | None  # what the file says of a world to simulate, not interpreted here
    folder: Path | None  # where relative paths start

    def __init__(
        self,
        graph: Graph | str,
        reward: str | Mapping[str, object] | None = None,
        budget: float | None = None,
        objective: str = "cumulative",
        costs: Mapping[str, object] | None = None,
        default_cost: object = 1,
        domains: Mapping[str, Iterable[object]] | None = None,
        intervenable: Iterable[str] | None = None,
        goal: str = "max",
        *,
        horizon: int | None = None,
        observed: Iterable[str] | None = None,
        world: Mapping[str, object] | None = None,
        folder: Path | None = None,
    ) -> None:
        faults = Faults()
        full = _graph(graph, faults)
        faults.hidden = full.origin.hidden
        kept = full.variables if observed is None else faults.names(observed, ("observed",), full.variables)
        name, worth, continuous = read_reward(reward or full.origin.outcome, full.variables, faults)
        if name in full and name not in kept:
            faults.add(("observed",), f"the reward {name} must be observed")
        known, worth = _domains(domains, full, name, worth, faults)
        settable = _settable(intervenable, full, kept, name, faults)
        arms = (Arm(), *(Arm(v, value) for v in settable for value in known[v]))
        if horizon is not None and (costs or default_cost != 1):
            faults.add(("costs",), "with a horizon every pull costs 1: remove the costs, or give a budget instead")
        self.__dict__.update(
            graph=full if observed is None else full.project([v for v in kept if v in full]),
            full_graph=full,
            reward=name,
            reward_values=tuple(worth.values()),
            reward_is_continuous=continuous,
            budget=_budget(budget, horizon, faults),
            objective=faults.one_of(objective, ("objective",), OBJECTIVES),
            goal=faults.one_of(goal, ("goal",), GOALS),
            domains=known,
            intervenable=settable,
            arms=arms,
            costs=costs_of_arms(arms, costs, default_cost, {v: known[v] for v in kept}, faults),
            world=None if world is None else dict(faults.mapping(world, ("world",))),
            folder=folder,
        )
        faults.raise_any()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Problem:
        """The problem that a TOML file describes."""
        from dobandit.problem.file import load

        return load(Path(path))

    @classmethod
    def unit_costs(
        cls, graph: Graph | str, reward: str, horizon: int, objective: str = "cumulative", **rest: Any
    ) -> Problem:
        """The classical bandit: every pull costs one, and there are `horizon` of them."""
        return cls(graph, reward, None, objective, horizon=horizon, **rest)

    def with_hidden_causes(self, pairs: Iterable[tuple[str, str]]) -> Problem:
        """The same problem for somebody who allows for more hidden causes, each acting on two variables."""
        pairs, other = list(pairs), object.__new__(Problem)
        graph, full_graph = (
            Graph.from_edges(known.directed, [*known.bidirected, *pairs], known.variables)
            for known in (self.graph, self.full_graph)
        )
        other.__dict__.update(self.__dict__, graph=graph, full_graph=full_graph)
        return other

    def utility(self, earned: Numbers, rows: Numbers | float = 1.0) -> Numbers:
        """Rewards on the scale from 0 (worst) to 1 (best) that policies see; of so many rows together."""
        low, high = min(self.reward_values), max(self.reward_values)
        share = (earned - low * rows) / (high - low)
        return share if self.goal == "max" else rows - share

    @property
    def hidden(self) -> tuple[str, ...]:
        """The variables of the full graph that nobody observes."""
        return tuple(v for v in self.full_graph.variables if v not in self.graph)

    @property
    def costs_are_drawn(self) -> bool:
        """Whether some cost is a rule that only a simulation can draw from."""
        return any(isinstance(cost, Choose | Uniform) for cost in self.costs)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Problem cannot be changed (setting {name}); build a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Problem cannot be changed (deleting {name}); build a new one")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if isinstance(other, Problem) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.graph, self.reward, self.budget, self.objective, self.goal, self.arms, self.costs))

    def __repr__(self) -> str:
        return f"<Problem: {self.goal} {self.reward}, {self.objective}, budget {self.budget:g}, {len(self.arms)} arms>"


def _graph(graph: object, faults: Faults) -> Graph:
    try:
        return as_graph(graph)
    except GraphError as error:
        faults.add(("graph",), str(error))
        faults.raise_any()
        raise AssertionError from None


def _domains(
    stated: object, graph: Graph, reward: str, worth: Worth | None, faults: Faults
) -> tuple[dict[str, tuple[str, ...]], Worth]:
    """The values of every variable, 0/1 where nothing is stated, and what those of the reward are worth."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(graph.variables, BINARY)
    for name, values in faults.mapping(stated, ("domains",)).items():
        place = ("domains", str(name))
        if name not in graph:
            faults.unknown(place, f"there is no variable {name}", str(name), graph.variables)
        elif isinstance(values, str) or not isinstance(values, Iterable):
            faults.add(place, f"expected a list of values, not {values!r}")
        else:
            found[name] = _values(list(values), place, faults) or BINARY
    worth = _worth(found.get(reward, BINARY), reward, worth, isinstance(stated, Mapping) and reward in stated, faults)
    return {v: tuple(worth) if v == reward else values for v, values in found.items()}, worth


def _worth(values: tuple[str, ...], reward: str, worth: Worth | None, is_stated: bool, faults: Faults) -> Worth:
    """What the values of the reward are worth: what is said, else the numbers that they are."""
    place = ("domains", reward)
    if worth is None:
        if all(map(is_numeral, values)):
            return {value: float(value) for value in values}
        faults.add(place, f"nothing says what {listing(values)} are worth: give reward values")
    elif is_stated and set(values) != set(worth):
        faults.add(place, f"the values {listing(values)} are not those of the reward, {listing(worth)}")
    return worth or {"0": 0.0, "1": 1.0}


def _values(values: list[object], place: tuple[str, ...], faults: Faults) -> tuple[str, ...]:
    labels = tuple(map(label, values))
    if len(labels) < 2:
        faults.add(place, "a variable needs at least two values")
    elif "" in labels:
        faults.add(place, "a value must not be empty")
    elif len(set(labels)) < len(labels):
        faults.add(place, f"a value is listed twice: {listing(labels)} (values compare by their text)")
    else:
        return labels
    return ()


def _settable(
    stated: Iterable[str] | None, graph: Graph, observed: Iterable[str], reward: str, faults: Faults
) -> tuple[str, ...]:
    """The variables that may be set, in graph order."""
    place = ("intervenable",)
    if stated is None:
        wanted = set(graph.origin.exposures or graph.variables) & set(observed) - {reward}
    else:
        wanted = set(faults.names(stated, place, graph.variables))
        if reward in wanted:
            faults.add(place, f"the reward {reward} cannot be set")
        for name in sorted(wanted - set(observed)):
            faults.add(place, f"{name} is not observed, so it cannot be set")
    return tuple(v for v in graph.variables if v in wanted and v != reward)


def _budget(budget: object, horizon: object, faults: Faults) -> float:
    if budget is not None and horizon is not None:
        faults.add(("horizon",), "give either a budget or a horizon, not both")
    elif horizon is not None:
        if is_positive(horizon) and horizon == int(horizon):
            return float(horizon)
        faults.add(("horizon",), f"expected a whole number of pulls, at least 1, not {horizon!r}")
    elif budget is None:
        faults.add(("budget",), "is missing: say how much may be spent (or give a horizon, a number of pulls)")
    elif is_positive(budget):
        return float(budget)
    else:
        faults.add(("budget",), f"expected a positive number, not {budget!r}")
    return 1.0
