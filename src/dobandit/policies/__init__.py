"""Policies, one algorithm per file; the registry finds them by itself.

A policy is named as `name` or `name[key=value,...]`, for instance `f-kube[as_published=true]`. Case and
underscores do not matter.
"""

from dobandit.policies.protocol import Policy, View
from dobandit.policies.registry import policies_for, policy, registered

__all__ = ["Policy", "View", "policies_for", "policy", "registered"]
