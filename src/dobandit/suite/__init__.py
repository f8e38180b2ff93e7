"""Benchmark worlds, and policies against each other on them.

>>> from dobandit.suite import compare
>>> comparison = compare("n5", policies=["f-kube", "thompson"], budgets=[100], trials=4)
>>> comparison.policies, comparison.optimum
(('f-kube', 'thompson'), 'fractional')
"""

from dobandit.suite.classes import BUDGETS, COSTS, USUAL_COSTS, WORLDS, Source
from dobandit.suite.comparison import Comparison, write
from dobandit.suite.networks import find
from dobandit.suite.run import compare
