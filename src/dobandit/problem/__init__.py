"""Problems: arms, costs, budget, objective, from Python and from TOML."""

from dobandit.problem.arms import Arm
from dobandit.problem.costs import Choose, Cost, Uniform
from dobandit.problem.definition import Problem
from dobandit.problem.kinds import GOALS, OBJECTIVES, Axis, CostLike, Goal, Objective, RewardLike, Value
from dobandit.problem.labels import is_numeral, label, value_in

__all__ = [
    "GOALS",
    "OBJECTIVES",
    "Arm",
    "Axis",
    "Choose",
    "Cost",
    "CostLike",
    "Goal",
    "Objective",
    "Problem",
    "RewardLike",
    "Uniform",
    "Value",
    "is_numeral",
    "label",
    "value_in",
]
