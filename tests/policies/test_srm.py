from __future__ import annotations

from tests import references_simple
from tests.policies.same_arms import SameArmsAndRecommendation


class TestSrm(SameArmsAndRecommendation):
    name, algorithm = "srm", references_simple.srm
    variants = ({"form": "rounds"},)
