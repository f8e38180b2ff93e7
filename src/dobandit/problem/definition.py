"""The problem: what can be done, what it costs, what is known of the causes, and what is wanted.

>>> p = Problem("X -> Y", reward="Y", budget=100, costs={"do(X=1)": 3.5}, default_cost=2)
>>> [f"{arm} {cost:g}" for arm, cost in zip(p.arms, p.costs)]
['do() 1', 'do(X=0) 2', 'do(X=1) 3.5']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from dobandit.graph import Graph, GraphLike
from dobandit.numerals import amount
from dobandit.problem.arguments import read_budget
from dobandit.problem.arms import Arm
from dobandit.problem.costs import Cost, Prices, costs_of_arms
from dobandit.problem.data_rules import read_columns
from dobandit.problem.faults import Faults
from dobandit.problem.kinds import OBJECTIVES, CostLike, Goal, Objective, RewardLike, Value
from dobandit.problem.missing import Missing
from dobandit.problem.offered import Offer, read_arms, single_arms
from dobandit.problem.stopping import Stop, StopLike, read_stop
from dobandit.problem.variables import Stated, Variables, read_variables


@dataclass(frozen=True)
class _Fields(Variables):
    budget: float
    objective: Objective
    intervenable: tuple[str, ...]
    arms: tuple[Arm, ...]
    costs: tuple[Cost, ...]
    world: Mapping[str, Any] | None  # what the file says of a world to simulate, not interpreted here
    folder: Path | None  # where relative paths start
    columns: Mapping[str, str]  # the columns of variables whose column has another name
    stop: Stop | None  # when a study may stop before its budget is spent


@dataclass(frozen=True, init=False, repr=False)
class Problem(_Fields):
    """A budgeted causal bandit problem, validated and frozen; an error lists everything that is wrong with it.

    Afterwards `graph` is what is left of `full_graph` when only the observed variables are seen. `costs` stands
    in the order of `arms`: do() first, then every value of every intervenable variable in graph order, then sets of
    variables that are set together, by their size.

    Parameters
    ----------
    graph
        A Graph, a text in our own format, DOT, dagitty or GML, or a graph of networkx or pgmpy.
    reward
        The name of a reward that is 0 or 1, or a table with `variable` and either `values` (what each value is worth)
        or `range` (the ends of a measurement, or "any"). A table with the variable alone means any number. By default
        the reward is the outcome that the file of the graph marks.
    budget
        How much may be spent. Give either this or `horizon`.
    objective
        "cumulative" (earn as much as possible while trying) or "simple" (find the best arm).
    costs
        What a pull costs: ``{"do(X=1)": 3.5}`` for one arm, ``{"do(X)": 3}`` for all values of X, ``{"do()": 0.5}`` for
        an observation, which costs 1 otherwise. A simulation draws ``{"choose": [2, 3]}`` for every trial. Or a
        function of an `Arm`, which is called once for every arm, do() included.
    default_cost
        The cost of setting a variable that `costs` does not mention. Setting several variables costs what is stated for
        the set, ``{"do(X, Z)": 5}``, else the sum.
    domains
        The values of variables that are not 0/1, or "number" for a measurement that only `effect` can adjust for.
    intervenable
        The variables that may be set: by default all that are observed, but for the reward.
    goal
        "max" or "min": whether the reward should be large or small.
    horizon
        The number of pulls, if every pull costs 1.
    observed
        The variables that are seen: by default all. The others are projected out of the graph.
    world
        What to simulate, as in the table `[world]` of a problem file.
    folder
        Where relative paths in `world` start.
    bins
        The cut points of variables that are numbers: ``{"age": [30, 45]}`` gives age the values "<30", "30-45" and
        ">=45". Data and outcomes may have the number or the value.
    columns
        The names of columns of data that are not called like their variable: ``{"age": "customer age"}``.
    missing
        What to do about rows in which a value is missing: "refuse" them as an error, "drop" them, or "category", which
        adds the value "missing" to every observed variable but the reward. Nothing can be set to it, and rows without
        a reward are dropped.
    together
        Sets of variables that may also be set at the same time, to all combinations of values: ``[["Price", "Ad"]]``.
    most_at_once
        Every set of up to so many variables may be set, if each one still matters to the reward. There may be at most
        1,000 arms where variables are set together.
    arms
        Exactly what can be done, beside do(): ``["do(Price=low, Ad=1)"]``. Then `intervenable`, `together` and
        `most_at_once` say nothing new, and are left out.
    stop
        When a study may stop before its budget is spent: ``{"probability": 0.95}`` (that the answer is the best
        option), ``{"loss": 0.01}`` (that is expected of the answer, in units of the reward), or ``{"gain_per_cost":
        True, "pulls_ahead": 1000}`` (the next pull is not expected to earn its cost back over so many uses of the
        answer). Any of them that holds is enough, once the answer has ``min_pulls`` outcomes, by default 10; a
        probability also needs half as many good outcomes of the answer, and bad ones of any options.
    """

    def __init__(
        self,
        graph: GraphLike,
        reward: RewardLike | None = None,
        budget: float | None = None,
        objective: Objective | str = "cumulative",
        costs: Mapping[str, CostLike] | Callable[[Arm], CostLike] | None = None,
        default_cost: CostLike = 1,
        domains: Mapping[str, Iterable[Value]] | None = None,
        intervenable: Iterable[str] | None = None,
        goal: Goal = "max",
        *,
        horizon: int | None = None,
        observed: Iterable[str] | None = None,
        world: Mapping[str, Any] | None = None,
        folder: Path | None = None,
        bins: Mapping[str, Sequence[float]] | None = None,
        columns: Mapping[str, str] | None = None,
        missing: Missing = "refuse",
        together: Iterable[Iterable[str]] | None = None,
        most_at_once: int | None = None,
        arms: Iterable[Arm | str] | None = None,
        stop: StopLike | None = None,
    ) -> None:
        faults = Faults()
        known = read_variables(Stated(graph, observed, reward, domains, bins, missing, goal), faults)
        settable, offered = read_arms(Offer(intervenable, together, most_at_once, arms), known, faults)
        super().__init__(
            **vars(known),
            budget=read_budget(budget, horizon, bool(costs) or default_cost != 1, faults),
            objective=faults.one_of(objective, ("objective",), OBJECTIVES),
            intervenable=settable,
            arms=offered,
            costs=costs_of_arms(offered, Prices(costs, default_cost, horizon is not None), known.settings, faults),
            world=None if world is None else dict(faults.mapping(world, ("world",))),
            folder=folder,
            columns=read_columns(columns, known.full_graph.variables, faults),
            stop=read_stop(stop, objective, faults),
        )
        faults.raise_any()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Problem:
        """The problem that a TOML file describes.

        Parameters
        ----------
        path
            The file. `dobandit init` writes one to start from.

        Returns
        -------
        Problem
            The problem. A `ProblemError` lists everything that is wrong with the file, each with its line.
        """
        from dobandit.problem.file import load

        return load(Path(path))

    @classmethod
    def unit_costs(
        cls, graph: GraphLike, reward: str, horizon: int, objective: Objective | str = "cumulative", **rest: Any
    ) -> Problem:
        """The classical bandit: every pull costs 1.

        Parameters
        ----------
        graph, reward, objective
            As for `Problem`.
        horizon
            The number of pulls.
        **rest
            Other arguments of `Problem`, such as `domains` or `most_at_once`.

        Returns
        -------
        Problem
            A problem with the budget `horizon`.
        """
        return cls(graph, reward, None, objective, horizon=horizon, **rest)

    def with_hidden_causes(self, pairs: Iterable[tuple[str, str]]) -> Problem:
        """The same problem with more hidden causes, each acting on two variables."""
        pairs, other = list(pairs), copy(self)
        for name, known in (("graph", self.graph), ("full_graph", self.full_graph)):
            graph = Graph.from_edges(known.directed, [*known.bidirected, *pairs], known.variables)
            object.__setattr__(other, name, graph)  # frozen, but the copy is new
        return other

    def with_stop(self, stop: StopLike | None) -> Problem:
        """The same problem with another stopping rule, or without one."""
        faults, other = Faults(), copy(self)
        object.__setattr__(other, "stop", read_stop(stop, self.objective, faults))  # frozen, but the copy is new
        faults.raise_any()
        return other

    @property
    def costs_are_drawn(self) -> bool:
        """Whether some cost is a rule that only a simulation can draw from."""
        return any(not isinstance(cost, float) for cost in self.costs)

    @cached_property
    def sets_single_variables(self) -> bool:
        """Whether the arms are do() and all values of single variables, as many algorithms assume."""
        return self.arms == single_arms(self.intervenable, self.settings)

    @cached_property
    def arms_setting(self) -> dict[str, list[int]]:
        """The places of the arms that set each variable, in order."""
        found: dict[str, list[int]] = {}
        for k, arm in enumerate(self.arms):
            for v in arm.variables:
                found.setdefault(v, []).append(k)
        return found

    def __hash__(self) -> int:
        return hash((self.graph, self.reward, self.budget, self.objective, self.goal, self.arms, self.costs))

    def _repr_html_(self) -> str:
        """For notebooks: the graph, and what every arm costs."""
        from html import escape

        from dobandit.markup import html_table

        rows = [
            [str(arm), amount(cost) if isinstance(cost, float) else str(cost)]
            for arm, cost in zip(self.arms, self.costs, strict=True)
        ]
        goal = "large" if self.goal == "max" else "small"
        head = (
            f"<p>Make <b>{escape(self.reward)}</b> {goal}: {self.objective} regret, budget {amount(self.budget)}.</p>"
        )
        return f"{head}{self.graph._repr_html_()}{html_table(['arm', 'cost'], rows)}"

    def __repr__(self) -> str:
        aim = f"{self.goal} {self.reward}, {self.objective}, budget {amount(self.budget)}"
        return f"<Problem: {aim}, {len(self.arms)} arms>"
