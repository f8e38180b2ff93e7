from __future__ import annotations

from tests import references_simple
from tests.policies.same_arms import SameArmsAndRecommendation


class TestUniform(SameArmsAndRecommendation):
    name, algorithm = "uniform", references_simple.uniform
