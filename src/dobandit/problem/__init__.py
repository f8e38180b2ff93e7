"""Problems: arms, costs, budget, objective, from Python and from TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.later import loaded_later
from dobandit.problem.arguments import BINARY, NUMBER
from dobandit.problem.arms import Arm, parse_do
from dobandit.problem.costs import ROUNDING, Choose, Cost, Total, Uniform
from dobandit.problem.definition import Problem
from dobandit.problem.domain import Domain, value_in
from dobandit.problem.faults import Faults, is_number, is_positive
from dobandit.problem.kinds import GOALS, OBJECTIVES, Axis, CostLike, Goal, Objective, RewardLike, Value
from dobandit.problem.labels import LARGEST, is_numeral, label
from dobandit.problem.missing import MISSING, MISSING_TEXTS, Missing, is_missing, is_null, says_none
from dobandit.problem.stopping import Stop, StopLike

if TYPE_CHECKING:
    from dobandit.problem.file import located, parse_problem

__getattr__ = loaded_later(__name__, {"file": ("located", "parse_problem")})
