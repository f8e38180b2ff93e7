"""Simulation: policies in lock step on many trials, and honest regret."""

from dobandit.simulation.api import simulate, simulate_costs
from dobandit.simulation.results import Results

__all__ = ["Results", "simulate", "simulate_costs"]
