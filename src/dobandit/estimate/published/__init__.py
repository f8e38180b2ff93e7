"""The estimators of the paper and of the algorithms it compares with: the split estimator of Algorithm 1, the
projection estimator of Algorithms 3 to 5, and the conditional mean where there is no open back-door path."""

from dobandit.estimate.published.conditional import Conditional, has_no_backdoor
from dobandit.estimate.published.projected import MOST_CELLS, Projected
from dobandit.estimate.published.split import Factor, Split, factors_of, random_split
