"""What all figures share: colours, letters, the legend below, and matplotlib itself, which is optional."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from dobandit.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

Entry = tuple["Artist", str]  # of a legend: the sign and what it means

# Okabe and Ito (2008): told apart with every common kind of colour blindness.
BLUE, VERMILION = "#0072B2", "#D55E00"
INK, GREY, LIGHT = "#222222", "#767676", "#DDDDDD"

TITLE, TEXT, SMALL = 12.0, 10.0, 9.0  # points
LEGEND_ROW = 0.24  # inches
SWATCH = 0.62  # inches of a legend entry that are not its text


@contextmanager
def plain_style(**settings: object) -> Iterator[None]:
    """Figures look the same whatever the user's matplotlib settings, which are left as they were."""
    try:
        from matplotlib import style
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    with style.context(["default", {"font.size": TEXT, "text.color": INK}, settings]):
        yield


def blank(width: float, height: float) -> Figure:
    """An empty white figure of this size in inches, for which no display is needed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def text_width(text: str, size: float) -> float:
    """The width of a text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return float(width) / 72


def legend_shape(labels: Sequence[str], width: float) -> tuple[int, int]:
    """How many columns and rows the legend takes in a figure of this width; it is filled column by column."""
    entries = [text_width(label, SMALL) + SWATCH for label in labels]
    for count in range(len(labels), 1, -1):
        rows, long = divmod(len(labels), count)  # so many columns are one row longer, as matplotlib fills them
        starts = [i * rows + min(i, long) for i in range(count + 1)]
        if sum(max(entries[a:b]) for a, b in pairwise(starts)) <= width:
            return count, rows + bool(long)
    return 1, len(labels)


def legend_below(figure: Figure, entries: Sequence[Entry], columns: int) -> None:
    """The legend at the bottom of a figure, below everything else."""
    signs, labels = zip(*entries, strict=True)
    legend = figure.legend(
        signs,
        labels,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.06 / figure.get_figheight()),
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        borderaxespad=0.0,
        handlelength=2.2,
        columnspacing=1.6,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def add_title(figure: Figure, title: str) -> None:
    place = 1 - 0.13 / figure.get_figheight()
    figure.text(0.5, place, title, size=TITLE, ha="center", va="top", parse_math=False)
