"""Budgeted causal bandits with hidden confounders.

>>> import dobandit as db
>>> g = db.Graph("Z -> X -> Y; Z -> Y")
>>> print(db.identify(g, do="X", on="Y"))
P(Y | do(X)) = Σ_Z P(Y | X, Z) P(Z)

Names are loaded when they are first used, so that `import dobandit` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dobandit.later import loaded_later
from dobandit.version import VERSION

if TYPE_CHECKING:
    from dobandit import worlds
    from dobandit.errors import DobanditError, NotIdentifiable
    from dobandit.estimate import Bounds, Effect, Effects, bounds, check_graph, effect, effects
    from dobandit.evidence import Evidence
    from dobandit.graph import Graph, possibly_optimal
    from dobandit.identification import Estimand, identify, is_identifiable
    from dobandit.planning import Plan, plan
    from dobandit.policies import Policy, ScalarPolicy
    from dobandit.problem import Arm, Problem
    from dobandit.simulation import Results, simulate
    from dobandit.study import Study
    from dobandit.worlds import World

__version__ = VERSION

_PUBLIC = {  # by room
    "errors": ("DobanditError", "NotIdentifiable"),
    "estimate": ("Bounds", "Effect", "Effects", "bounds", "check_graph", "effect", "effects"),
    "evidence": ("Evidence",),
    "graph": ("Graph", "possibly_optimal"),
    "identification": ("Estimand", "identify", "is_identifiable"),
    "planning": ("Plan", "plan"),
    "policies": ("Policy", "ScalarPolicy"),
    "problem": ("Arm", "Problem"),
    "simulation": ("Results", "simulate"),
    "study": ("Study",),
    "worlds": ("World",),
}
_load = loaded_later(__name__, _PUBLIC)

__all__ = [
    "Arm",
    "Bounds",
    "DobanditError",
    "Effect",
    "Effects",
    "Estimand",
    "Evidence",
    "Graph",
    "NotIdentifiable",
    "Plan",
    "Policy",
    "Problem",
    "Results",
    "ScalarPolicy",
    "Study",
    "World",
    "bounds",
    "check_graph",
    "effect",
    "effects",
    "identify",
    "is_identifiable",
    "plan",
    "possibly_optimal",
    "simulate",
    "worlds",
]


def __getattr__(name: str) -> Any:
    return import_module("dobandit.worlds") if name == "worlds" else _load(name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
