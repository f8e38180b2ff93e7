"""Studies: ask what to try next, tell what came out, never lose or double-spend a thing."""

from dobandit.study.study import Study
from dobandit.study.tickets import Pull, Pulls, Receipt

__all__ = ["Pull", "Pulls", "Receipt", "Study"]
