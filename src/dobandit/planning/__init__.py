"""Planning: how good the answer will be for a budget, before any of it is spent."""

from dobandit.planning.plans import Outlook, Plan
from dobandit.planning.prediction import TRIALS, plan
