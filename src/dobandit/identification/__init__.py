"""Identification: what can be learnt about interventions from observations."""

from dobandit.identification.api import identify, is_identifiable
from dobandit.identification.estimand import Estimand, Method
from dobandit.identification.expressions import Sum, Table
