"""Pooled evidence for arms that set several variables, against exact distributions by enumeration."""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np

from dobandit.estimate.pooled.invariance import still_changed_by
from dobandit.estimate.pooled.pool import Pool
from dobandit.evidence import CountTable
from dobandit.problem import Problem
from tests.models import random_admg, random_model
from tests.test_pooling import Exact, cells

MODELS = int(os.environ.get("DOBANDIT_SETS", "40"))  # 300 takes some minutes


def models(seed: int, most: int) -> list[Exact]:
    """Random models, half of them with three-valued variables, with arms that set up to so many variables."""
    rng = np.random.default_rng(seed)
    found: list[Exact] = []
    while len(found) < MODELS:
        graph = random_admg(rng, 4, 6)
        model = random_model(graph, rng, (2, 3) if len(found) % 2 == 0 and len(graph.variables) < 6 else (2,))
        reward = graph.variables[-1]
        if model.cards[reward] != 2 or len(graph.ancestors(reward)) < 2:
            continue
        settable = graph.variables[:-1][:4]
        sets = [list(s) for size in range(2, most + 1) for s in combinations(settable, size)]
        domains = {v: range(n) for v, n in model.cards.items()}
        problem = Problem(graph, reward, 100, domains=domains, intervenable=settable, together=sets)
        joints = [model.joint(arm.codes(problem.domains)) for arm in problem.arms]
        found.append(Exact(model, problem, joints))
    return found


def test_arms_share_a_table_if_and_only_if_they_make_it_the_same() -> None:
    """P(V | Z) under all arms, for random V and Z: where the same is left to change, it agrees, else it differs. Arms
    that set the same variable to different values are compared only if Z names it."""
    together = apart = 0
    rng = np.random.default_rng(5)
    for e in models(31, most=2):
        graph, arms = e.problem.graph, e.problem.arms
        for _ in range(6):
            *given, v = graph.in_order(map(str, rng.choice(graph.variables, 3, replace=False)))
            left = [still_changed_by(graph, frozenset(arm.variables), v, tuple(given)) for arm in arms]
            tables = [e.table(CountTable(v, tuple(given)), k) for k in range(len(arms))]
            for i, j in combinations(range(len(arms)), 2):
                differences = np.abs(tables[i] - tables[j])
                a, b = dict(arms[i].settings), dict(arms[j].settings)
                disagree = [x for x in a if x not in given and a[x] != b.get(x, a[x])]
                if v in (*a, *b) or disagree or np.isnan(differences).all():
                    continue
                if left[i] == left[j]:
                    assert np.nanmax(differences) < 1e-12
                    together += 1
                else:
                    assert np.nanmax(differences) > 1e-9
                    apart += 1
    assert min(together, apart) > 20 * MODELS


def test_every_estimate_is_exact() -> None:
    """All tables from exact distributions: every formula of every arm gives the exact mean."""
    kinds = {"two": 0, "private": 0, "shared": 0, "alias": 0}
    for e in models(32, most=3):
        pool, means = Pool(e.problem), e.means
        estimates = pool.circuit.outputs(pool.circuit.values(cells(pool, e)))[:, 0]
        assert not pool.has_none.any()
        for place, arm in enumerate(pool.arm_of):
            assert abs(estimates[place] - means[arm]) < 1e-12
        for k, other in enumerate(pool.alias_of):
            assert abs(means[k] - means[other]) < 1e-12
        private = [t for t in pool.tables if t.arms[0] != 0]
        kinds["two"] += len(pool.pairs)
        kinds["private"] += len(private)
        kinds["shared"] += sum(len({e.problem.arms[k].variables for k in t.arms}) > 1 for t in private)
        kinds["alias"] += int(pool.is_alias.sum())
    assert all(n >= MODELS / 4 for n in kinds.values()), kinds


def test_no_outcome_is_counted_twice_for_the_same_factor() -> None:
    """Where an arm has two formulas, no arm informs a private table of one and the other's table of that variable."""
    for e in models(33, most=2)[:20]:
        pool = Pool(e.problem)
        gradients = pool.circuit.gradient(pool.circuit.values(np.full((pool.layout.size, 1), 0.5)))[..., 0] != 0
        used = [
            [t for t, at in zip(pool.tables, pool.layout.slices, strict=True) if row[at].any()] for row in gradients
        ]
        for pair in pool.pairs:
            for a in used[pair.first]:
                for b in used[pair.second]:
                    if a.variable == b.variable and a.arms[0] != b.arms[0]:
                        assert not set(a.arms) & set(b.arms)
