"""How rare the arms of a problem are among the observations of a world, exactly, and what algorithms make of it."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.published import MOST_CELLS, Factor, factors_of, has_no_backdoor
from dobandit.policies import by_variable, threshold_m, threshold_n
from dobandit.problem import Arm, Problem
from dobandit.worlds import World


class Rarity(NamedTuple):
    """How rare the interventions are among observations, in the order of the arms (without do())."""

    q: Array  # q_{i,x}
    k: Indices  # k_i, the size of the c-component
    cells: Array  # the number of values of Pa~(X_i)


class Thresholds(NamedTuple):
    """n(q) of the paper and the m of the papers before it, for the true q."""

    n: float  # in the form that Algorithm 2 uses on this graph
    n_general: float  # q_{i,x} = min_z P(X_i = x, Pa~ = z), to the power of k_i
    n_no_backdoor: float  # q_{i,x} = P(X_i = x): never larger; meant for graphs without open back-door paths
    m: int  # Lattimore et al. 2016, Nair et al. 2021: counts variables
    m_prime: int  # the same as the paper quotes it: counts arms; differs only where variables have many values
    m_c: int  # m(C), Maiti et al. 2022: counts variables, each by its rarest cell min_{x,z}, to the power of k_i


def thresholds(problem: Problem, world: World, costs: Array) -> Thresholds:
    """All thresholds; `costs` in units of the cost of do(), do() first.

    >>> from dobandit.worlds import parallel
    >>> world = parallel(n=50)
    >>> thresholds(Problem(world.graph, "Y", budget=1), world, np.array([1] + [4.0] * 100))
    Thresholds(n=8.0, n_general=8.0, n_no_backdoor=8.0, m=2, m_prime=2, m_c=2)
    """
    plain, general = (found.q**found.k for found in (marginal_rarity(problem, world), general_rarity(problem, world)))
    n_plain, n_general = (float(threshold_n(q[np.newaxis], costs[np.newaxis, 1:])[0]) for q in (plain, general))
    return Thresholds(
        n=n_plain if has_no_backdoor(problem) else n_general,
        n_general=n_general,
        n_no_backdoor=n_plain,
        m=_m(_by_variable(plain, problem), len(problem.intervenable)),
        m_prime=_m(plain, len(plain)),
        m_c=_m(_by_variable(general, problem), 2 * len(problem.intervenable)),
    )


def _m(rarity: Array, largest: int) -> int:
    return int(threshold_m(rarity[np.newaxis], largest)[0])


def _by_variable(rarity: Array, problem: Problem) -> Array:
    """The rarity of each variable's rarest value."""
    with_do = np.concatenate([[1.0], rarity])
    return np.asarray(by_variable(with_do[np.newaxis], problem)[0])


def rarity(problem: Problem, world: World) -> Rarity:
    """In the form that Algorithm 2 uses on this graph."""
    return (marginal_rarity if has_no_backdoor(problem) else general_rarity)(problem, world)


def marginal_rarity(problem: Problem, world: World) -> Rarity:
    """P(X_i = x), k = 1: the no-backdoor form."""
    fitted = world.fit(problem)
    q = np.concatenate([fitted.distribution([v]) for v in problem.intervenable])
    return Rarity(q, np.ones(len(q), dtype=np.intp), np.ones(len(q)))


def general_rarity(problem: Problem, world: World) -> Rarity:
    """min_z P(X_i = x, Pa~(X_i) = z) in G[An(Y)]: 1 for what does not act on the reward, 0 where observations
    cannot tell the effect (X_i has a child in its own c-component, or there are more cells than data can fill)."""
    fitted = world.fit(problem)
    graph = problem.graph.ancestral_graph(problem.reward)
    found: list[tuple[Array, int, int]] = []
    for v in problem.intervenable:
        values = len(problem.domains[v].known)
        if v not in graph:
            found.append((np.ones(values), 1, 1))
            continue
        component = graph.c_component(v)
        around = graph.with_parents(component) - {v}  # Pa~
        cells = math.prod(len(problem.domains[u]) for u in around)
        if graph.has_confounded_child(v) or cells * values > MOST_CELLS:
            found.append((np.zeros(values), len(component), cells))
        else:
            joint = fitted.distribution([v, *sorted(around)])
            found.append((joint.reshape(values, -1).min(axis=1), len(component), cells))
    q, k, z = zip(*found, strict=True)
    repeats = list(map(len, q))
    return Rarity(np.concatenate(q), np.repeat(k, repeats), np.repeat(np.array(z, dtype=float), repeats))


class Cells(NamedTuple):
    """The cells whose rows S of Algorithm 1 counts, for every arm; all 0 where it learns from its own pulls only."""

    variables: int  # |V|, in G[An(Y)]
    rarest: Array  # p_{i,x}: the probability of the rarest cell
    alphabet: Array  # W_i: the number of values of all variables but X_i and the reward
    number: Array  # of cells in all factors together, at most


def cells_of(problem: Problem, world: World) -> Cells:
    """What the lemma on E[S] needs, from the exact distributions of the world."""
    graph = problem.graph.ancestral_graph(problem.reward)
    joint = cache(world.fit(problem).distribution)
    rarest, alphabet, number = np.zeros((3, len(problem.arms)))
    for i, arm in enumerate(problem.arms):
        factors = () if arm.observes else factors_of(problem, arm.variables[0], only_relevant=False)
        if not factors:
            continue
        rarest[i] = min((_rarest(joint(f.table.given), f, arm, problem) for f in factors if f.table.given), default=1.0)
        others = [len(problem.domains[v]) for v in graph.variables if v not in (*arm.variables, problem.reward)]
        alphabet[i] = math.prod(others)
        # Inside the c-component of X_i every x' is needed, outside only x.
        values = len(problem.domains[arm.variables[0]])
        number[i] = alphabet[i] * sum(values if f.inside else 1 for f in factors)
    return Cells(len(graph.variables), rarest, alphabet, number)


def _rarest(joint: Array, factor: Factor, arm: Arm, problem: Problem) -> float:
    """The probability of the rarest condition of a factor: X is x outside its c-component, any x' inside."""
    ((variable, code),) = arm.codes(problem.domains).items()
    if variable in factor.table.given and not factor.inside:
        joint = np.asarray(joint.take(code, axis=factor.table.given.index(variable)))
    return float(joint.min())
