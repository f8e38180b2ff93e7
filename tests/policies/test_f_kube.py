"""F-KUBE: reward per cost, optimistically."""

from __future__ import annotations

from functools import partial

from tests import references
from tests.policies.same_arms import PAPER, SameArms, assert_same_arms, setting


class TestFKube(SameArms):
    name = "f-kube"
    reference = staticmethod(lambda: references.f_kube)


def test_as_published_it_is_ucb() -> None:
    """The published curve of F-KUBE seems to be that of UCB1: without the division by cost it pulls the same arms."""
    reference = partial(references.ucb, name="f-kube")  # whose luck it has
    assert_same_arms("f-kube[as_published=true]", lambda: reference, setting(PAPER, seed=5, budget=120))
