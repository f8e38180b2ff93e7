"""Figures as files: the same figure gives the same bytes, so that a changed file means a changed figure."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dobandit.errors import DobanditError
from dobandit.files import replacing
from dobandit.plots.style import plain_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What matplotlib would write into each format besides the drawing: dates, and its own version.
UNWRITTEN: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def to_bytes(figure: Figure, form: str) -> bytes:
    """A figure as a file of this form: png, svg or pdf."""
    drawn = io.BytesIO()
    with plain_style(**{"svg.hashsalt": "dobandit", "pdf.fonttype": 42}):
        figure.savefig(drawn, format=form, dpi=150, metadata=UNWRITTEN[form])
    return drawn.getvalue()


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a figure as PNG (150 dots per inch), SVG or PDF, by the suffix of the path."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in UNWRITTEN:
        raise DobanditError(f"cannot save a figure as {path}: the name must end in .png, .svg or .pdf")
    drawn = to_bytes(figure, form)
    with replacing(Path(path)) as draft:
        draft.write_bytes(drawn)
