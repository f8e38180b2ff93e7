"""Problems: arms, costs, budget, objective, from Python and from TOML."""

from dobandit.problem.arms import Arm
from dobandit.problem.costs import Choose, Cost, Uniform
from dobandit.problem.definition import Problem
from dobandit.problem.labels import is_numeral, label, value_in

__all__ = ["Arm", "Choose", "Cost", "Problem", "Uniform", "is_numeral", "label", "value_in"]
