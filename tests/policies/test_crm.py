"""CRM: back-door adjustment over parents."""

from __future__ import annotations

import pytest

from dobandit.problem import Problem
from tests import references
from tests.policies.same_arms import CONFOUNDED, PAPER, SMALL, THREE, assert_same_arms, setting


@pytest.mark.parametrize(
    "problem", [SMALL, THREE, PAPER, CONFOUNDED], ids=["small", "three-valued", "fig6", "confounded"]
)
def test_the_same_arms_as_the_reference(problem: Problem) -> None:
    assert_same_arms("crm", references.Crm, setting(problem, seed=5, budget=250, first=60))


@pytest.mark.parametrize("budget", [0.5, 1, 4.9, 11])
def test_the_same_arms_when_money_is_short(budget: float) -> None:
    assert_same_arms("crm", references.Crm, setting(PAPER, seed=6, budget=budget))
