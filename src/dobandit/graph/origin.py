"""Where a graph was read from, as far as it matters later."""

from __future__ import annotations

from typing import NamedTuple


class Origin(NamedTuple):
    """What the file of a graph said besides its edges: default arms, the default reward, what a reader should know
    of, and the hidden variables, which were projected out."""

    exposures: tuple[str, ...] = ()
    outcome: str | None = None
    notes: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
