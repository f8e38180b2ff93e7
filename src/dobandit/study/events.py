"""What happens in a study, as it is written down: small facts, one after the other, never changed.

kind        pull  content
created     -     problem, policy, seed
asked       yes   arm, worker, expires; repeats (of a new decision, 0 while one is carried out);
                  source: "policy", "extension" (after the plan, with money added later) or the pull it stands in for;
                  why: what a new decision was made by, the index of every arm or the phase of a plan
leased      yes   worker, expires (an open pull given back to its worker)
told        yes   outcome
recorded    yes   arm, outcome (of an experiment that nobody asked for)
amended     yes   outcome (instead of what was told)
withdrawn   yes   refund, reason
extended    -     amount
observed    -     name, rows, evidence (counts), digest
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

CORRECTIONS = ("amended", "withdrawn")  # they change what was folded before them


class Event(NamedTuple):
    """One fact: its place in the log, when it was written (seconds since 1970), what it is about."""

    number: int
    time: float
    kind: str
    pull: int | None
    content: Mapping[str, Any]
