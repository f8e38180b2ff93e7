"""Simulation: policies in lock step on many trials, and honest regret."""

from dobandit.chance import BLOCK
from dobandit.simulation.api import BATCH, Progress, positive, simulate, simulate_costs
from dobandit.simulation.clusters import Cluster, cluster
from dobandit.simulation.logs import LogRows
from dobandit.simulation.match import above_worst, check_trials, chosen_policies, draw_costs, scale_of, trial_seed
from dobandit.simulation.parallel import Submits, carried_out, processes
from dobandit.simulation.results import ARRAYS, Results, joined, spread, standard_error
from dobandit.simulation.spending import Stopping
