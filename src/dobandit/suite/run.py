"""Policies against each other on a class of worlds.

Trial i of a class is a function of (seed, class, i) alone: its world, the luck of its outcomes, and one number for
each arm from which its cost is drawn. So all policies, both objectives and all kinds of costs meet the same trials,
and asking for more trials changes none of the first ones.

Where all trials have the same graph they run in lock step; where each has its own, each is a simulation of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.chance import generator
from dobandit.errors import SimulationError, listing
from dobandit.graph import Graph
from dobandit.policies import policies_for, policy, spec_of
from dobandit.problem import Problem
from dobandit.simulation import Results, Submits, draw_costs, simulate
from dobandit.suite.classes import BUDGETS, COSTS, Source
from dobandit.suite.comparison import Comparison, Played
from dobandit.suite.networks import find
from dobandit.worlds import World


class Setup(NamedTuple):
    """What is to be played, in words that can be sent to another process."""

    world: str  # its name
    objective: str
    costs: str
    budgets: tuple[float, ...]
    seed: int
    drop_hidden: bool


def compare(
    world: str,
    objective: str = "cumulative",
    *,
    costs: str | None = None,
    budgets: Sequence[float] | None = None,
    policies: Sequence[str] | None = None,
    trials: int = 100,
    seed: int = 0,
    drop_hidden: bool = False,
    executor: Executor | Submits | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Run policies on the trials of a class of worlds (`suite.WORLDS`, or `FILE.bif?hide=A,B&reward=Y`).

    With `drop_hidden`, the policies are told a wrong graph: the true one without its bidirected edges.
    """
    source = find(world)
    _check("objective", objective, BUDGETS)
    _check("costs", chosen := costs or source.costs[objective], COSTS)
    if trials != int(trials) or trials < 1:
        raise SimulationError(f"trials: expected a whole number, at least 1, not {trials!r}")
    names = [spec_of(policy(p)) for p in (policies_for(objective) if policies is None else policies)]
    if not names or len(set(names)) < len(names):
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        raise SimulationError(f"policies: {twice[0]} is named twice" if twice else "policies: expected at least one")
    grid = tuple(sorted({float(b) for b in budgets or BUDGETS[objective]}))
    setup = Setup(source.name, objective, chosen, grid, seed, drop_hidden)
    parts = _run(setup, _jobs(source.one_graph, names, trials), executor, progress)
    played = {name: [trial for part in parts for trial in part.get(name, ())] for name in names}
    return Comparison(source.name, objective, chosen, grid, played)


def _check(what: str, given: str, known: Iterable[str]) -> None:
    if given not in known:
        raise SimulationError(f"{what}: there is no {given!r}; known are {listing(known)}")


Job = tuple[tuple[str, ...], range]  # policies, and the trials that they are run on
Part = dict[str, list[Played]]


def _jobs(one_graph: bool, names: Sequence[str], trials: int) -> list[Job]:
    """All trials of one policy at a time in lock step, or all policies in one trial at a time."""
    if one_graph:
        return [((name,), range(trials)) for name in names]
    return [(tuple(names), range(i, i + 1)) for i in range(trials)]


def _run(
    setup: Setup, jobs: list[Job], executor: Executor | Submits | None, progress: Callable[[float], None] | None
) -> list[Part]:
    futures = [executor.submit(play, setup, *job) for job in jobs] if executor else None
    parts = []
    for i, job in enumerate(jobs):
        parts.append(futures[i].result() if futures else play(setup, *job))
        if progress is not None:
            progress((i + 1) / len(jobs))
    return parts


def play(setup: Setup, names: tuple[str, ...], trials: range) -> Part:
    """What these policies do in these trials."""
    source = find(setup.world)
    worlds = [source.draw(generator(_seed(setup, f":{i}"), "world"), i) for i in trials]
    world = World.stack(worlds) if source.one_graph else worlds[0]
    seed = _seed(setup) if source.one_graph else _seed(setup, f":{trials.start}")
    problem = _problem(setup, source, world)
    results = simulate(problem, world, names, len(trials), seed, setup.budgets)
    costs = draw_costs([problem] * len(trials), seed)
    return {name: _played(results, name, _worths(problem, world), costs) for name in names}


def _seed(setup: Setup, of: str = "") -> int:
    """A seed for a class, or for one of its trials; a network has the same wherever its file lies."""
    return int(generator(setup.seed, f"suite:{Path(setup.world).name}{of}").integers(2**53))


def _problem(setup: Setup, source: Source, world: World) -> Problem:
    graph = world.graph
    if setup.drop_hidden:
        graph = Graph.from_edges(graph.directed, variables=graph.variables)
    return Problem(
        graph,
        reward=source.reward,
        budget=setup.budgets[-1],
        objective=setup.objective,
        default_cost=COSTS[setup.costs],
        domains=world.domains,
    )


def _worths(problem: Problem, world: World) -> Array:
    """The mean of every arm above the worst value of the reward, with axes (trial, arm)."""
    scale = max(problem.reward_values) - min(problem.reward_values)
    return problem.utility(np.atleast_2d(world.means(problem))) * scale


def _played(results: Results, name: str, means: Array, costs: Array) -> list[Played]:
    of_trials = results.pulls, results.recommended, results.contradicted, results.broken
    did = zip(means, costs, *(found[name] for found in of_trials), strict=True)
    return [Played(results.arms, mean, cost, results.grid, *rest) for mean, cost, *rest in did]
