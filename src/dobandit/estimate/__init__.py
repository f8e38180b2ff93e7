"""Evidence turned into means and uncertainty: from logs alone (`observational`), as the paper does it (`published`),
and with all data pooled through the graph (`pooled`).

What is estimated from logs is loaded when it is first used: a study needs little of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.later import loaded_later

if TYPE_CHECKING:
    from dobandit.estimate.observational import (
        Bounds,
        Effect,
        Effects,
        SparseDataWarning,
        bounds,
        check_graph,
        effect,
        effects,
    )

_FROM_LOGS = ("Bounds", "Effect", "Effects", "SparseDataWarning", "bounds", "check_graph", "effect", "effects")

__getattr__ = loaded_later(__name__, {"observational": _FROM_LOGS})
