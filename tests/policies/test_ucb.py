"""UCB1: blind to costs."""

from __future__ import annotations

from tests import references
from tests.policies.same_arms import SameArms


class TestUcb(SameArms):
    name = "ucb"
    reference = staticmethod(lambda: references.ucb)
