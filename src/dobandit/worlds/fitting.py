"""Whether a problem fits a world, and the world with its values in the problem's order.

Names and labels must agree. The problem may observe fewer variables than the world has. The edges
are not compared: how a policy fares with a graph that is wrong is a fair thing to simulate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import WorldError, listing
from dobandit.numerals import amount
from dobandit.problem import Problem
from dobandit.worlds.tables import Node, number

if TYPE_CHECKING:
    from dobandit.worlds.model import World


def fitted(world: World, problem: Problem) -> World:
    """The world with the labels of the problem in the problem's order.

    The labels of a reward that takes numbers in a range stay as they are.
    """
    order = {v: _order(world, problem, v) for v in problem.graph.variables}
    names = {v: problem.domains[v].known for v in order if not _in_between(problem, v)}
    if all(world.domains[v] == names[v] for v in names):
        return world
    nodes = tuple(_reordered(node, order) for node in world.nodes)
    return replace(world, nodes=nodes, domains={**world.domains, **names})


def worth(world: World, problem: Problem) -> Array:
    """What each value of the reward is worth, for a world that is fitted to the problem."""
    if not problem.reward_is_continuous:
        return np.array(problem.reward_values)
    low, high = problem.reward_values
    values = [number(label) for label in world.domains[problem.reward]]
    for label, value in zip(world.domains[problem.reward], values, strict=True):
        if value is None or not low <= value <= high:
            raise WorldError(
                f"the reward {problem.reward} has the value {label} in the world, "
                "but the problem says "
                + (f"numbers from {amount(low)} to {amount(high)}" if problem.has_range else "numbers")
            )
    return np.array(values, dtype=float)


def _order(world: World, problem: Problem, variable: str) -> list[int]:
    """The world's code of each value of the variable in the problem's order."""
    if variable not in world.graph:
        hidden = any(node.name == variable for node in world.nodes)
        raise WorldError(
            f"{variable} is hidden in the world, but the problem observes it"
            if hidden
            else f"the world has no variable {variable}, which the problem observes; "
            f"it has {listing(world.graph.variables)}"
        )
    ours, theirs = world.domains[variable], problem.domains[variable].known
    if _in_between(problem, variable):
        return list(range(len(ours)))
    if set(ours) != set(theirs) and variable == problem.reward:
        ours = _by_worth(ours, problem)
    if set(ours) != set(theirs):
        raise WorldError(
            f"{variable} has the values {listing(world.domains[variable])} in the world, "
            f"but {listing(theirs)} in the problem"
        )
    return [ours.index(label) for label in theirs]


def _by_worth(ours: tuple[str, ...], problem: Problem) -> tuple[str, ...]:
    """The problem's names of the reward's values where the world has the numbers that they are worth:
    a world with 0 and 1 fits a problem with no = 0 and yes = 1."""
    numbers = [number(label) for label in ours]
    names = dict(zip(problem.reward_values, problem.domains[problem.reward], strict=True))
    fits = len(names) == len(ours) and set(numbers) == set(names)
    return tuple(names[value] for value in numbers if value is not None) if fits else ours


def _in_between(problem: Problem, variable: str) -> bool:
    return variable == problem.reward and problem.reward_is_continuous


def _reordered(node: Node, order: dict[str, list[int]]) -> Node:
    table = node.table
    for axis, name in enumerate((*node.inputs, node.name), 1):
        if name in order:
            table = table.take(order[name], axis=axis)
    return node._replace(table=table)
