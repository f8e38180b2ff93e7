"""CRM-NB: every observation with X=x counts as a pull."""

from __future__ import annotations

from tests import references
from tests.policies.same_arms import SameArms


class TestCrmNb(SameArms):
    name = "crm-nb"
    reference = references.CrmNb
