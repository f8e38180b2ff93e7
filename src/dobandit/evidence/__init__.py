"""Evidence: what was seen, as counts of named tables."""

from dobandit.evidence.contents import STANDARD_INPUT
from dobandit.evidence.count_tables import MOMENTS, MOST_CELLS, CountTable, Layout, measuring, own_rewards
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
from dobandit.evidence.evidence import Evidence
from dobandit.evidence.fitted import NONE_MISSING, Fitted, MissingRows, fit
from dobandit.evidence.grouped import by_value
from dobandit.evidence.logged import GroupedRows, Logged, count_rows, read_log
from dobandit.evidence.numbers import has_decimal_comma
from dobandit.evidence.reading import Reading
from dobandit.evidence.sample import Sample, read_sample
from dobandit.evidence.source import Occurrence, Source, Weights, require
from dobandit.evidence.sources import Data, open_file, open_source
from dobandit.evidence.tables import check_form, frame, write_columns, write_table
