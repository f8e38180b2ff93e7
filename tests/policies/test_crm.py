"""CRM: back-door adjustment over parents."""

from __future__ import annotations

from tests import references
from tests.policies.same_arms import SameArms


class TestCrm(SameArms):
    name = "crm"
    reference = references.Crm
