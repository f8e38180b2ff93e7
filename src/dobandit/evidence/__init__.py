"""Evidence: what was seen, as counts of named tables."""

from dobandit.evidence.counts import Counts, count, values_of
from dobandit.evidence.sources import Source, open_source

__all__ = ["Counts", "Source", "count", "open_source", "values_of"]
