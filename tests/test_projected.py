"""The estimator of Algorithms 3-5: right in the limit on every graph where it applies, smoothed as printed before."""

from __future__ import annotations

import numpy as np
import pytest

from dobandit import worlds
from dobandit.estimate.published.projected import Projected
from dobandit.evidence.count_tables import Layout
from dobandit.graph import Graph
from dobandit.problem import Problem
from dobandit.worlds import World
from tests import named_graphs as named
from tests.models import random_admg

MANY = 1e13  # rows, so that add-one counts do not matter


def counted(problem: Problem, layout: Layout, world: World, rows: float) -> np.ndarray:
    """The tables of so many rows that are distributed exactly as the world says."""
    counts = np.zeros((1, layout.size))
    for table in layout.tables:
        joint = world.distribution([*table.given, table.variable], "do()")
        counts[0, layout.slice(table)] = rows * joint.ravel()
    return counts


def checked(problem: Problem, world: World) -> int:
    """How many arms of this problem have an estimate; it must be the truth."""
    projected = Projected(problem)
    layout = Layout(problem, projected.tables)
    means = projected.means(layout, counted(problem, layout, world, MANY))[0]
    known = ~np.isnan(means)
    np.testing.assert_allclose(means[known], world.means(problem)[known], atol=1e-9)
    return int(known.sum())


@pytest.mark.parametrize("graph", [named.FIG6, named.FIG7, named.FIG11, named.FIG12], ids="6 7 11 12".split())
def test_the_papers_graphs(graph: Graph) -> None:
    problem = Problem(graph, "Y", budget=1)
    assert checked(problem, worlds.random(problem.graph, 4)) == len(problem.arms) - 1  # all but do()


def test_random_graphs() -> None:
    """Three-valued variables among them. An arm has an estimate just where the child condition holds in G[An(Y)]."""
    estimated = 0
    for seed in range(150):
        graph = random_admg(np.random.default_rng(seed), 3, 6)
        reward = graph.variables[-1]
        domains = {graph.variables[0]: ["a", "b", "c"]}
        problem = Problem(graph, reward, budget=1, domains=domains)
        found = checked(problem, worlds.random(graph, seed, domains))
        above = graph.subgraph(graph.ancestral(reward))
        fits = [v for v in graph.variables[:-1] if v not in above or not above.c_component(v) & above.children(v)]
        assert found == sum(len(problem.domains[v]) for v in fits)
        estimated += found
    assert estimated > 500


def test_add_one_and_the_threshold_by_hand() -> None:
    """Z -> X -> Y, Z -> Y: rows (Z, X, Y) 111 110 010 000. E[Y | do(X=1)] = sum_z P(z) P(y | x=1, z)."""
    problem = Problem("Z -> X -> Y; Z -> Y", "Y", budget=1)
    rows = np.array([[1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0]])
    for fewest, expected in [
        (1, 3 / 6 * 2 / 4 + 3 / 6 * 1 / 3),  # P(z) = (2+1)/(4+2); Z=1: (1+1)/(2+2), Z=0: (0+1)/(1+2)
        (2, 3 / 6 * 2 / 4 + 3 / 6 * 1 / 2),  # one row is too few: one half
    ]:
        projected = Projected(problem, fewest)
        layout = Layout(problem, projected.tables)
        counts = np.zeros((1, layout.size))
        for k, row in enumerate(rows):
            here = np.array([0])
            layout.add(counts, here, here, row[np.newaxis], row[2:].astype(float), np.array([k]))
        arm = [str(a) for a in problem.arms].index("do(X=1)")
        assert projected.means(layout, counts)[0, arm] == pytest.approx(expected, abs=1e-15)
        assert projected.rarity(layout, counts, np.array([4.0]))[0, arm] == 1 / 4  # the cell (x=1, z=0)


def test_rarity_is_raised_to_the_size_of_the_component() -> None:
    problem = Problem(named.FIG12, "Y", budget=1)
    projected = Projected(problem)
    layout = Layout(problem, projected.tables)
    world = worlds.random(problem.graph, 4)
    found = projected.rarity(layout, counted(problem, layout, world, MANY), np.array([MANY]))[0]
    cells = world.distribution(["X1", "X2", "X3", "X4"], "do()")
    by_name = dict(zip(map(str, problem.arms), found, strict=True))
    assert by_name["do(X3=1)"] == pytest.approx(cells[:, :, 1].min() ** 2, abs=1e-12)  # X3 <-> X4
    assert by_name["do(X2=0)"] == pytest.approx(cells[:, 0].sum(axis=(1, 2)).min(), abs=1e-12)
