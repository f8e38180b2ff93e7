from __future__ import annotations

from tests import references_simple
from tests.policies.same_arms import SameArmsAndRecommendation


class TestGammaNb(SameArmsAndRecommendation):
    name, algorithm = "gamma-nb", references_simple.gamma_nb
    variants = ({"explored": "both-values"},)
