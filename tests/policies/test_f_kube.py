"""F-KUBE: reward per cost, optimistically."""

from __future__ import annotations

import numpy as np
import pytest

from dobandit.policies.registry import policy
from dobandit.problem import Problem
from dobandit.simulation.engine import play
from tests import references
from tests.policies.same_arms import CONFOUNDED, PAPER, SMALL, THREE, assert_same_arms, setting


@pytest.mark.parametrize(
    "problem", [SMALL, THREE, PAPER, CONFOUNDED], ids=["small", "three-valued", "fig6", "confounded"]
)
def test_the_same_arms_as_the_reference(problem: Problem) -> None:
    assert_same_arms("f-kube", lambda: references.f_kube, setting(problem, seed=5, budget=250, first=60))


@pytest.mark.parametrize("budget", [0.5, 1, 4.9, 11])
def test_the_same_arms_when_money_is_short(budget: float) -> None:
    assert_same_arms("f-kube", lambda: references.f_kube, setting(PAPER, seed=6, budget=budget))


def test_as_published_it_is_ucb() -> None:
    """The published curve of F-KUBE is that of UCB1: without the division by cost the two are the same."""
    given = setting(PAPER, seed=5, budget=120)
    one, other = (play(policy(name), given) for name in ("f-kube[as_published=true]", "ucb"))
    # Ties fall by numbers of their own, so single pulls may differ; the shares may not.
    assert np.abs(one.pulls.mean(axis=0) - other.pulls.mean(axis=0)).max() < 4
