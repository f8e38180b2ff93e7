"""Evidence: what was seen, as counts of named tables.

What reads rows and files is loaded when it is first used: a study that is asked and told needs none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.evidence.count_tables import MOMENTS, MOST_CELLS, CountTable, Layout, measuring, own_rewards
from dobandit.evidence.evidence import Evidence
from dobandit.evidence.missing import NONE_MISSING, MissingRows
from dobandit.later import loaded_later

if TYPE_CHECKING:
    from dobandit.evidence.contents import STANDARD_INPUT
    from dobandit.evidence.counts import (
        INTERVENTION,
        Domains,
        cells,
        check_interventions,
        check_spelling,
        count,
        domains_of,
        measured_ends,
        moments,
        read_together,
        rows_left_out,
    )
    from dobandit.evidence.fitted import Fitted, fit
    from dobandit.evidence.grouped import by_value
    from dobandit.evidence.logged import GroupedRows, Logged, count_rows, read_log
    from dobandit.evidence.numbers import has_decimal_comma
    from dobandit.evidence.reading import Reading
    from dobandit.evidence.sample import Sample, read_sample
    from dobandit.evidence.source import Occurrence, Source, Weights, require
    from dobandit.evidence.sources import Data, open_file, open_source
    from dobandit.evidence.tables import check_form, frame, write_columns, write_table

_LATER = {
    "contents": ("STANDARD_INPUT",),
    "counts": (
        "INTERVENTION",
        "Domains",
        "cells",
        "check_interventions",
        "check_spelling",
        "count",
        "domains_of",
        "measured_ends",
        "moments",
        "read_together",
        "rows_left_out",
    ),
    "fitted": ("Fitted", "fit"),
    "grouped": ("by_value",),
    "logged": ("GroupedRows", "Logged", "count_rows", "read_log"),
    "numbers": ("has_decimal_comma",),
    "reading": ("Reading",),
    "sample": ("Sample", "read_sample"),
    "source": ("Occurrence", "Source", "Weights", "require"),
    "sources": ("Data", "open_file", "open_source"),
    "tables": ("check_form", "frame", "write_columns", "write_table"),
}

__getattr__ = loaded_later(__name__, _LATER)
