"""Evidence: what was seen, as counts of named tables."""

from dobandit.evidence.counts import Counts, count, values_of
from dobandit.evidence.sources import Data, Source, Weights, open_source

__all__ = ["Counts", "Data", "Source", "Weights", "count", "open_source", "values_of"]
