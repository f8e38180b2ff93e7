from __future__ import annotations

from tests import references_simple
from tests.policies.same_arms import SameArmsAndRecommendation


class TestPaperSimple(SameArmsAndRecommendation):
    name, algorithm = "paper-simple", references_simple.paper_simple
    variants = (
        {"threshold": "<"},
        {"fewest_rows": 4},
    )
