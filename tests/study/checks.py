"""What tests of studies share: an outcome, a clock, and that the money adds up."""

from __future__ import annotations

import pytest

from dobandit.problem import Value
from dobandit.study import Study

FINE: dict[str, Value] = {"Z": 0, "X": 1, "W": "0", "Y": 1.0}


def adds_up(study: Study) -> bool:
    """spent + reserved + free = total, none of them negative, and all of them what the pulls say."""
    found = study.status()
    money, arms = found.budget, found.arms
    assert min(money.spent, money.reserved, money.free, money.overdraft) >= 0
    assert money.reserved == pytest.approx(sum(arm.open * arm.cost for arm in arms))
    assert money.spent + money.reserved + money.free == pytest.approx(money.total + money.overdraft, rel=1e-12)
    return True
