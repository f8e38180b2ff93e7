from __future__ import annotations

from tests import references_simple
from tests.policies.same_arms import SameArmsAndRecommendation


class TestShRr(SameArmsAndRecommendation):
    name, algorithm = "sh-rr", references_simple.sh_rr
