from __future__ import annotations

from tests import references_simple
from tests.policies.same_arms import SameArmsAndRecommendation


class TestParallelBandit(SameArmsAndRecommendation):
    name, algorithm = "parallel-bandit", references_simple.parallel_bandit
    variants = (
        {"form": "half"},
        {"explored": "both-values"},
        {"pooled": True},
    )
