"""Policies, one algorithm per file; the registry finds them by itself.

A policy is named as `name` or `name[key=value,...]`, for instance `f-kube[as_published=true]`. Case and
underscores do not matter.
"""

from dobandit.arrays import Array
from dobandit.policies.infrequent import by_variable, threshold_m, threshold_n
from dobandit.policies.protocol import (
    OBSERVE,
    STOP,
    Choice,
    Guarded,
    Policy,
    State,
    View,
    broken_promise_told,
    contradiction_told,
    updated,
)
from dobandit.policies.registry import name_of, policies_for, policy, registered, spec_of, starts_from_logs
from dobandit.policies.ties import recommended
