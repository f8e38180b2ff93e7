"""Studies: ask what to try next, tell what came out, never lose or double-spend a thing."""

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
from dobandit.study.events import Event
from dobandit.study.explanation import ArmNumbers
from dobandit.study.facts import EVENT_KINDS
from dobandit.study.files import OutcomeRow
from dobandit.study.outcomes import written
from dobandit.study.previews import LogPreview, OutcomesPreview, preview_log, preview_outcomes
from dobandit.study.pulls import OpenPull, Pull, Pulls, Receipt, as_datetime, is_whole, seconds
from dobandit.study.stores import MEMORY, is_study_file, name_of_place, shown
from dobandit.study.study import WORKER, Study
from dobandit.study.totals import Money
from dobandit.study.verification import Verification, verify
