"""How sure an answer is, and whether that is enough to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.later import loaded_later

if TYPE_CHECKING:
    from dobandit.certainty.anytime import Interval, sequence_ends
    from dobandit.certainty.beliefs import DRAWS, Beliefs, Doubted, believed, doubted, judging_graphs
    from dobandit.certainty.stopping import Case, Standing, standing
    from dobandit.certainty.verdict import Verdict, best_per_cost, judged

_LATER = {
    "anytime": ("Interval", "sequence_ends"),
    "beliefs": ("DRAWS", "Beliefs", "Doubted", "believed", "doubted", "judging_graphs"),
    "stopping": ("Case", "Standing", "standing"),
    "verdict": ("Verdict", "best_per_cost", "judged"),
}

__getattr__ = loaded_later(__name__, _LATER)
