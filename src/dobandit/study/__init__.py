"""Studies: ask what to try next, tell what came out, never lose or double-spend a thing."""

from dobandit.study.pulls import Pull, Pulls, Receipt
from dobandit.study.study import Study

__all__ = ["Pull", "Pulls", "Receipt", "Study"]
