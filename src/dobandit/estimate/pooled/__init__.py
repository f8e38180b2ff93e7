"""The pooled estimator, which is ours: every outcome counts for every arm that the graph lets it inform.

All data meet in tables P(v | z) that interventions leave unchanged (`invariance`); the mean of an arm is a formula over
such tables (`formulas`, `formula_choice`), evaluated for all arms at once (`circuit`); `estimator` puts it together,
and `repair` adds hidden causes where the outcomes contradict the graph. docs/how-pooling-works.md explains all of it.
"""

from dobandit.estimate.pooled.arm_estimates import ArmEstimates
from dobandit.estimate.pooled.circuit import added_up, total
from dobandit.estimate.pooled.dominance import Standing, standings
from dobandit.estimate.pooled.estimator import PooledEstimator
from dobandit.estimate.pooled.formula_choice import MOST_CELLS, sums_fit
from dobandit.estimate.pooled.improvement import log_improvements
from dobandit.estimate.pooled.own import PRIOR, Own, OwnRewards, Unit
from dobandit.estimate.pooled.repair import Added, Doubts, RepairedGraphs
from dobandit.estimate.pooled.tables import Tables
