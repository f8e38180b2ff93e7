"""Arms with the same mean and arms that are never the best, against POMIS and random models."""

from __future__ import annotations

import numpy as np
import pytest

import dobandit as db
from dobandit.estimate.pooled import standings
from dobandit.problem import Problem
from tests.models import marginal, random_admg, random_model


def family(seed: int, **rest: object) -> tuple[np.random.Generator, Problem]:
    """A random graph with all sets of up to four of its variables."""
    rng = np.random.default_rng([9, seed])
    graph = random_admg(rng, 3, 5)
    reward = graph.variables[-1]
    settable = [v for v in graph.variables[:-1] if rng.random() < 0.8]
    return rng, Problem(graph, reward, 10, "simple", intervenable=settable, most_at_once=4, **rest)  # type: ignore[arg-type]


def test_undominated_sets_of_a_complete_offer_are_the_possibly_optimal_ones() -> None:
    for seed in range(150):
        _, problem = family(seed)
        found = {
            frozenset(arm.variables)
            for arm, standing in zip(problem.arms, standings(problem), strict=True)
            if standing.alias_of is None and not standing.never_best
        }
        assert found == db.possibly_optimal(problem.graph, problem.reward, problem.intervenable), problem.graph


def test_in_random_models_no_dominated_arm_is_the_only_best_and_aliases_are_equal() -> None:
    """Of any offer: some arms of the complete one are taken at random."""
    dominated = 0
    for seed in range(60):
        rng, problem = family(seed)
        offered = [arm for arm in problem.arms if rng.random() < 0.7 and not arm.observes]
        problem = Problem(problem.graph, problem.reward, 10, "simple", arms=offered)
        found = standings(problem)
        for _ in range(3):
            model = random_model(problem.graph, rng, deterministic=0.3)
            joints = [model.joint(arm.codes(problem.domains)) for arm in problem.arms]
            means = np.array([marginal(joint, problem.graph, problem.reward)[1] for joint in joints])
            for k, one in enumerate(found):
                if one.alias_of is not None:
                    assert means[k] == pytest.approx(means[one.alias_of], abs=1e-12)
                if one.never_best:
                    dominated += 1
                    for others in one.dominated_by:
                        rivals = [m for arm, m in zip(problem.arms, means, strict=True) if arm.variables == others]
                        assert max(rivals) >= means[k] - 1e-12
    assert dominated > 200


def test_what_costs_less_is_not_dominated_while_money_is_earned() -> None:
    """With P(X=1) = 1/2 and means .2 and .9, do() earns .55 per unit and do(X=1), at the cost 2, .45."""
    for objective, cost, never in (("simple", 2, True), ("cumulative", 2, False), ("cumulative", 1, True)):
        problem = Problem("X -> Y", "Y", 10, objective, default_cost=cost)
        assert [one.never_best for one in standings(problem)] == [never, False, False]


def test_recommendations_leave_out_what_is_never_best() -> None:
    """do() is pulled to learn from, but one of the pairs is named."""
    problem = Problem("{A, B} -> Y", "Y", 40, "simple", most_at_once=2, default_cost=5)
    world = db.worlds.random(problem.graph, seed=1)
    results = db.simulate(problem, world, ["causal-explore"], trials=8, seed=0)
    named = {len(problem.arms[int(k)].variables) for k in np.asarray(results.recommended["causal-explore"]).ravel()}
    assert named == {2}


def test_thompson_on_possibly_optimal_arms_plays_no_other() -> None:
    problem = Problem.unit_costs("{A, B} -> Y", "Y", horizon=60, most_at_once=2)
    world = db.worlds.random(problem.graph, seed=1)
    results = db.simulate(problem, world, ["thompson[arms=pomis]"], trials=4, seed=0)
    pulls = np.asarray(results.pulls["thompson[arms=pomis]"]).reshape(-1, len(problem.arms)).sum(axis=0)
    assert [len(arm.variables) == 2 for arm in problem.arms] == (pulls > 0).tolist()
    with pytest.raises(db.DobanditError, match=r"no arm sets a possibly optimal set"):
        db.simulate(Problem("{A, B} -> Y", "Y", 9), world, ["thompson[arms=pomis]"], trials=1)


def test_no_dominated_arm_is_pulled_to_earn() -> None:
    """At equal costs only pairs earn, and do() is pulled instead of a pair that would be pulled to learn."""
    problem = Problem.unit_costs("{A, B} -> Y", "Y", horizon=200, most_at_once=2)
    world = db.worlds.random(problem.graph, seed=2)
    results = db.simulate(problem, world, ["causal-thompson"], trials=4, seed=0)
    pulls = np.asarray(results.pulls["causal-thompson"]).reshape(-1, len(problem.arms)).sum(axis=0)
    assert {len(arm.variables) for arm, number in zip(problem.arms, pulls, strict=True) if number} <= {0, 2}
