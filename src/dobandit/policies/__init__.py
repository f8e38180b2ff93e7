"""Policies, one algorithm per file; the registry finds them by itself.

A policy is named as `name` or `name[key=value,...]`, for instance `f-kube[as_published=true]`. Case and
underscores do not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.later import loaded_later
from dobandit.policies.plug_ins import is_importable, loaded, offered
from dobandit.policies.protocol import (
    OBSERVE,
    STOP,
    Choice,
    Compiled,
    Info,
    Memoryless,
    Policy,
    Reason,
    View,
    contradiction_told,
    rows_of,
    updated,
    violation_told,
)
from dobandit.policies.registry import (
    RECOMMENDED,
    PolicyLike,
    check_fits,
    left_out,
    name_of,
    policies_for,
    policy,
    registered,
    spec_of,
)
from dobandit.policies.scalar import ScalarPolicy
from dobandit.policies.ties import pick, recommended, sweep_first

if TYPE_CHECKING:
    from dobandit.policies.causal_explore import log_gains
    from dobandit.policies.infrequent import by_variable, threshold_m, threshold_n
    from dobandit.policies.phases import Phased

_LATER = {
    "causal_explore": ("log_gains",),
    "infrequent": ("by_variable", "threshold_m", "threshold_n"),
    "phases": ("Phased",),
}

__getattr__ = loaded_later(__name__, _LATER)
