"""Simulation: policies in lock step on many trials, and honest regret."""

from dobandit.simulation.api import Submits, draw_costs, simulate, simulate_costs, trial_seed
from dobandit.simulation.parallel import processes
from dobandit.simulation.results import ARRAYS, Results, joined, spread, standard_error
