"""Studies: ask what to try next, tell what came out, never lose or double-spend a thing.

What only some answers need is loaded when it is first used, so that a command that asks or tells is short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.later import loaded_later
from dobandit.study.events import Event
from dobandit.study.facts import EVENT_KINDS
from dobandit.study.outcomes import OutcomeRow, written
from dobandit.study.pulls import OpenPull, Pull, Pulls, Receipt, as_datetime, is_whole, seconds
from dobandit.study.stores import MEMORY, is_study_file, name_of_place, shown
from dobandit.study.study import WORKER, Study
from dobandit.study.totals import Money

if TYPE_CHECKING:
    from dobandit.study.answers import ArmStatus, Best, Status
    from dobandit.study.documents import (
        asked_document,
        best_document,
        event_document,
        explained_document,
        log_document,
        open_pulls_document,
        progress_document,
        status_document,
        verified_document,
    )
    from dobandit.study.explanation import ArmNumbers
    from dobandit.study.previews import LogPreview, OutcomesPreview, preview_log, preview_outcomes
    from dobandit.study.verification import Verification, verify

_LATER = {
    "answers": ("ArmStatus", "Best", "Status"),
    "documents": (
        "asked_document",
        "best_document",
        "event_document",
        "explained_document",
        "log_document",
        "open_pulls_document",
        "progress_document",
        "status_document",
        "verified_document",
    ),
    "explanation": ("ArmNumbers",),
    "previews": ("LogPreview", "OutcomesPreview", "preview_log", "preview_outcomes"),
    "verification": ("Verification", "verify"),
}

__getattr__ = loaded_later(__name__, _LATER)
