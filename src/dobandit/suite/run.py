"""Policies against each other on a class of worlds.

Trial i of a class is a function of (seed, class, i) alone: its world, the luck of its outcomes, and one number for
each arm from which its cost is drawn. So all policies, both objectives and all kinds of costs meet the same trials,
and asking for more trials changes none of the first ones.

Where all trials have the same graph they run in lock step; where each has its own, each is a simulation of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dobandit import simulation
from dobandit.arrays import Array
from dobandit.chance import generator
from dobandit.errors import SimulationError, listing
from dobandit.graph import Graph
from dobandit.policies import Policy, PolicyLike
from dobandit.problem import Objective, Problem, RewardLike
from dobandit.suite.classes import BUDGETS, COSTS, UNIT, Source
from dobandit.suite.comparison import Comparison
from dobandit.suite.networks import find
from dobandit.worlds import World


class Setup(NamedTuple):
    """What is to be played, in words that can be sent to another process."""

    world: str  # its name
    objective: Objective
    costs: str
    budgets: tuple[float, ...]
    seed: int
    drop_hidden: bool


def compare(
    world: str,
    objective: Objective = "cumulative",
    *,
    costs: str | None = None,
    budgets: Sequence[float] | None = None,
    policies: Iterable[PolicyLike] | None = None,
    trials: int = 100,
    seed: int = 0,
    drop_hidden: bool = False,
    executor: simulation.Submits | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Run policies on the trials of a class of worlds.

    Parameters
    ----------
    world
        A name in `suite.WORLDS`, or `FILE.bif?hide=A,B&reward=Y`.
    objective
        "cumulative" or "simple".
    costs
        A name in `suite.COSTS`; default: that of the class.
    budgets
        The budgets to compare; default: `suite.BUDGETS` of the objective.
    policies
        Names of policies, or policies of your own; default: all of dobandit's for the objective.
    trials, seed
        How many trials, and the seed of their worlds, costs and outcomes.
    drop_hidden
        Whether policies are told a wrong graph: the true one without its bidirected edges.
    executor
        Anything with `submit` that does the work.
    progress
        Called with the share of the work that is done.

    Returns
    -------
    Comparison
        Results with the truth about every trial.
    """
    source = find(world)
    _check("objective", objective, BUDGETS)
    _check("costs", chosen := costs or source.costs[objective], COSTS)
    simulation.check_trials(trials)
    grid = tuple(sorted({float(b) for b in budgets or BUDGETS[objective]}))
    setup = Setup(source.name, objective, chosen, grid, seed, drop_hidden)
    first = None if source.offers is None else _problem(setup, source, _drawn(setup, source, 0))
    players = tuple(simulation.chosen_policies(policies, objective, first).values())
    jobs: list[tuple[Setup, tuple[Policy, ...], range]] = [(setup, players, range(i, i + 1)) for i in range(trials)]
    if source.one_graph:  # all trials of one policy at a time, in lock step
        jobs = [(setup, (made,), range(trials)) for made in players]
    parts: list[Comparison] = []
    for part in simulation.carried_out(play, jobs, executor):
        parts.append(part)
        if progress is not None:
            progress(len(parts) / len(jobs))
    found = simulation.joined(parts)
    truth = parts[:1] if source.one_graph else parts  # all jobs on one graph have the same trials
    return replace(
        found,
        means=np.concatenate([simulation.spread(part.means, part.arms, found.arms, np.nan) for part in truth]),
        prices=np.concatenate([simulation.spread(part.prices, part.arms, found.arms, np.nan) for part in truth]),
    )


def _check(what: str, given: str, known: Iterable[str]) -> None:
    if given not in known:
        raise SimulationError(f"{what}: there is no {given!r}; it must be one of {listing(known)}")


def play(setup: Setup, policies: Sequence[PolicyLike], trials: range) -> Comparison:
    """What these policies do in these trials."""
    source = find(setup.world)
    worlds = [_drawn(setup, source, i) for i in trials]
    world = World.stack(worlds) if source.one_graph else worlds[0]
    seed = _seed(setup) if source.one_graph else _seed(setup, f":{trials.start}")
    problem = _problem(setup, source, world)
    results = simulation.simulate(problem, world, policies, len(trials), seed, setup.budgets)
    means, prices = simulation.above_worst(problem, world), simulation.draw_costs([problem] * len(trials), seed)
    found = {
        **vars(results),
        "optimum": "fractional" if setup.objective == "cumulative" else "best arm",
        "spent": {name: _spent(results.pulls[name], prices) for name in results.policies},
        "regret": {name: regret_of(results, name, means, prices) for name in results.policies},
    }
    return Comparison(**found, world=setup.world, costs=setup.costs, means=means, prices=prices)


def _drawn(setup: Setup, source: Source, trial: int) -> World:
    return source.draw(generator(_seed(setup, f":{trial}"), "world"), trial)


def regret_of(results: simulation.Results, name: str, means: Array, prices: Array) -> Array:
    """Against the best arm, or against spending everything, to the last fraction of a pull, on the best mean per cost:
    a simulation would measure against whole pulls where costs are whole, and the classes would not compare."""
    if results.objective == "simple":
        best, found = means.max(axis=1, keepdims=True), np.take_along_axis(means, results.recommended[name], axis=1)
    else:
        best = (means / prices).max(axis=1, keepdims=True) * np.array(results.grid)
        found = np.stack([pulls @ mean for pulls, mean in zip(results.pulls[name], means, strict=True)])
    return np.asarray(best - found)


def _spent(pulls: Array, prices: Array) -> Array:
    """One product for each budget, so that the last digit of one does not depend on how many others there are."""
    return np.array([[row @ price for row in of_trial] for of_trial, price in zip(pulls, prices, strict=True)])


def _seed(setup: Setup, of: str = "") -> int:
    """A seed for a class, or for one of its trials; a network has the same wherever its file lies."""
    return int(generator(setup.seed, f"suite:{Path(setup.world).name}{of}").integers(2**53))


def _problem(setup: Setup, source: Source, world: World) -> Problem:
    graph = world.graph
    if setup.drop_hidden:
        graph = Graph.from_edges(graph.directed, variables=graph.variables)
    reward: RewardLike = source.reward
    domains = dict(world.domains)
    if source.ends is not None:
        reward = {"variable": source.reward, "range": source.ends}
        del domains[source.reward]
    budget = setup.budgets[-1]
    return Problem(
        graph,
        reward=reward,
        objective=setup.objective,
        domains=domains,
        **({"horizon": budget} if setup.costs == UNIT else {"budget": budget, "default_cost": COSTS[setup.costs]}),
        **({} if source.offers is None else source.offers(graph)),
    )
