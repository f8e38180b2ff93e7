"""Worlds with an option that observations do not identify: several on each graph, which are played in lock step.

Their classes are those of the suite: a graph comes with its first world, and others are drawn on the same graph, with
as many values of every hidden cause, until they belong to the class. So every world is distributed as in the suite,
but those on one graph belong together: standard errors are computed from the sums over graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.chance import generator
from dobandit.evidence import Evidence, open_source
from dobandit.evidence.logged import Logged, read_log
from dobandit.policies import policy
from dobandit.problem import Problem
from dobandit.simulation import draw_costs
from dobandit.simulation.engine import Played, Setting, play
from dobandit.suite import COSTS, USUAL_COSTS, find
from dobandit.suite import generators as make
from dobandit.suite.classes import BIAS, SEEN, STEEP, WORSE
from dobandit.worlds import World

Array = NDArray[np.float64]
STRONG: dict[str, Any] = {"alpha": STEEP, "hidden": (2,)}
SOURCES = {"bow": "bow", "bow-strong": "bow-strong", "bow-reversed": "bow-strong"}  # an older suite has no bow-reversed
MOST = 2000  # draws of the other worlds of a graph: on some hardly any belongs to the class


class Group(NamedTuple):
    """Some worlds on one graph, and what is played there."""

    problem: Problem
    worlds: list[World]
    costs: Array
    means: Array
    luck: int
    log: int  # rows of the log that every world starts with

    def played(self, name: str, budgets: tuple[float, ...], compiled: Any = None) -> Played:
        """What a policy does."""
        made = policy(name)
        compiled = compiled or made.compile(self.problem)
        each = np.arange(len(self.worlds))
        setting = Setting(self.problem, World.stack(self.worlds), each, each, self.costs, budgets, self.luck)
        return play(
            made, setting, logged=self._logged(compiled) if self.log and made.reads_logs else None, compiled=compiled
        )

    def _logged(self, compiled: Any) -> Any:
        layout = Evidence.none(self.problem, compiled.tables, 1).layout
        rows = (open_source(world.sample("do()", self.log, self.luck + k)) for k, world in enumerate(self.worlds))
        logs = [read_log(self.problem, source, layout) for source in rows]
        fields: Any = [np.array([getattr(log, field) for log in logs]) for field in Logged._fields]
        return Logged(*fields)


def groups(name: str, objective: Any, log: int, trials: int, each: int, seed: int, budget: float) -> Iterator[Group]:
    """So many worlds of a class, in groups of `each`."""
    for i in range(-(-trials // each)):
        chance = generator(seed, f"bows:{name}:{i}")
        worlds = drawn(name, chance, each)
        graph, domains, luck = worlds[0].graph, worlds[0].domains, int(chance.integers(2**53))
        problem = Problem(graph, "Y", budget, objective, default_cost=COSTS[USUAL_COSTS[objective]], domains=domains)
        means = np.array([world.means(problem) for world in worlds])
        yield Group(problem, worlds, draw_costs([problem] * len(worlds), luck), means, luck, log)


def drawn(name: str, chance: np.random.Generator, number: int) -> list[World]:
    """Worlds of a class on one graph."""
    first = next(world for world in _draws(name, chance) if _belongs(name, world))
    found = [first]
    for _ in range(MOST):
        if len(found) == number:
            break
        other = make.random_world(chance, first.graph, **({} if name == "bow" else STRONG))
        alike = all(a.table.shape == b.table.shape for a, b in zip(first.nodes, other.nodes, strict=True))
        if alike and _belongs(name, other):
            found.append(other)
    return found


def _draws(name: str, chance: np.random.Generator) -> Iterator[World]:
    while True:
        yield find(SOURCES[name]).draw(chance, 0)


def _belongs(name: str, world: World) -> bool:
    if name == "bow":
        return True
    problem = make.problem_of(world)
    means, (seeing, seen) = world.means(problem), make.observed_means(world, problem.arms)
    is_strong = np.abs(seeing - means)[seen > SEEN].max() >= BIAS
    return bool(is_strong and (name == "bow-strong" or means.max() - means[seeing.argmax()] >= WORSE))


def mean_and_error(found: list[Array]) -> tuple[Any, Any]:
    """The mean over the worlds of all graphs, and its standard error, graphs being independent; for each graph an array
    with the world as its first axis."""
    mean, number = np.concatenate(found).mean(axis=0), sum(map(len, found))
    sums = np.array([(one - mean).sum(axis=0) for one in found])
    return mean, np.sqrt((sums**2).sum(axis=0)) / number
