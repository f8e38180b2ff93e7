"""Rows in which values are missing, as they are counted and told."""

from __future__ import annotations

from typing import NamedTuple

from dobandit.errors import counted
from dobandit.problem import MISSING


class MissingRows(NamedTuple):
    """Rows in which values are missing: those that are dropped, and those in which missing is a value."""

    dropped: int
    category: int

    def told(self) -> str:
        """A sentence about them; an empty text if there are none."""
        dropped = f"Left out {counted(self.dropped, 'row')} in which a value is missing."
        category = f'In {counted(self.category, "row")} a value is missing and counts as the value "{MISSING}".'
        return " ".join([dropped] * bool(self.dropped) + [category] * bool(self.category))


NONE_MISSING = MissingRows(0, 0)
