"""Worlds to simulate in: discrete structural causal models whose truth is known exactly.

A world knows what policies and studies do not: the hidden causes and every probability. It answers with the
exact mean reward of every arm, and it draws what would have been seen.

>>> from dobandit.problem import Problem
>>> world = xor("X -> Y; X <-> Y", seed=1)
>>> problem = Problem(world.graph, reward="Y", budget=100)
>>> [f"{arm} {mean:.3f}" for arm, mean in zip(problem.arms, world.means(problem))]
['do() 0.320', 'do(X=0) 0.712', 'do(X=1) 0.288']
>>> list(world.sample("do(X=1)", n=4, seed=0)["X"])
[np.int64(1), np.int64(1), np.int64(1), np.int64(1)]
"""

from dobandit.arrays import Array
from dobandit.errors import WorldError
from dobandit.worlds.described import of
from dobandit.worlds.families import inputs_of, parallel, random, two_values, xor
from dobandit.worlds.graphs import N5, N6, N6_HIDDEN, N7
from dobandit.worlds.learnt import from_log
from dobandit.worlds.model import World
from dobandit.worlds.networks import from_bif
from dobandit.worlds.simulator import SampledWorld, Simulator, from_simulator
from dobandit.worlds.tables import Node
from dobandit.worlds.tabulated import from_tables

__all__ = [
    "Node",
    "SampledWorld",
    "Simulator",
    "World",
    "WorldError",
    "from_bif",
    "from_log",
    "from_simulator",
    "from_tables",
    "of",
    "parallel",
    "random",
    "xor",
]
