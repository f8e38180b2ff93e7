"""What all figures share: colours, letters, the legend below, files, and matplotlib itself, which is optional.

The same figure gives the same bytes, so that a changed file means a changed figure.
"""

from __future__ import annotations

import io
import os
import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dobandit.errors import DobanditError, needing
from dobandit.files import replacing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Entry = tuple["Artist", str]  # of a legend: the sign and what it means

# Okabe and Ito (2008): told apart with every common kind of colour blindness.
BLUE, VERMILION = "#0072B2", "#D55E00"
INK, GREY, LIGHT = "#222222", "#767676", "#DDDDDD"

TITLE, TEXT, SMALL = 12.0, 10.0, 9.0  # points
LEGEND_ROW = 0.24  # inches
# Fonts with letters that matplotlib's own one lacks, as systems have them; those that are installed help out.
MORE_LETTERS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Hiragino Sans", "PingFang SC", "Yu Gothic", "Microsoft YaHei"),
    *("Malgun Gothic", "Apple SD Gothic Neo", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Arial Unicode MS"),
    *("Noto Sans Devanagari", "Noto Sans Thai", "Noto Sans Arabic", "Nirmala UI", "Leelawadee UI"),
)
SWATCH = 0.62  # inches of a legend entry that are not its text
# What matplotlib would write into each format besides the drawing: dates, and its own version.
UNWRITTEN: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


@contextmanager
def plain_style(**settings: object) -> Iterator[None]:
    """Figures look the same whatever the user's matplotlib settings, which are left as they were."""
    with needing("matplotlib", "plot"):
        from matplotlib import font_manager, style
    installed = {font.name for font in font_manager.fontManager.ttflist}
    family = {"font.family": ["DejaVu Sans", *(name for name in MORE_LETTERS if name in installed)]}
    with style.context(["default", {"font.size": TEXT, "text.color": INK}, family, settings]):
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

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # told once, where the figure is saved
        width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    square = size * sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)  # if no font has these signs
    return max(float(width), square) / 72


def legend_shape(labels: Sequence[str], width: float) -> tuple[int, int]:
    """How many columns and rows the legend takes in a figure of this width; it is filled column by column."""
    entries = [text_width(label, SMALL) + SWATCH for label in labels]
    for count in range(len(labels), 1, -1):
        rows, long = divmod(len(labels), count)  # so many columns are one row longer, as matplotlib fills them
        starts = [i * rows + min(i, long) for i in range(count + 1)]
        if sum(max(entries[a:b]) for a, b in pairwise(starts)) <= width:
            return count, rows + bool(long)
    return 1, len(labels)


def page(
    figure: tuple[float, float], axes: tuple[float, float, float, float], title: str | None = None
) -> tuple[Figure, Axes]:
    """A figure of this size with axes (left, bottom, width, height) in it, all in inches, and a title above."""
    (width, height), (left, bottom, wide, high) = figure, axes
    made = blank(width, height)
    if title:
        made.text(0.5, 1 - 0.13 / height, title, size=TITLE, ha="center", va="top", parse_math=False)
    return made, made.add_axes((left / width, bottom / height, wide / width, high / height))


def dress(axes: Axes, grid: Literal["x", "y", "both"], frame: Sequence[str] = ("bottom",)) -> None:
    """A light grid for reading values, and no lines around but those of the frame."""
    axes.tick_params(color=GREY, labelcolor=INK, labelsize=SMALL)
    axes.grid(axis=grid, color=LIGHT, linewidth=0.8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set(visible=side in frame, color=GREY)


def rows_of_arms(axes: Axes, labels: Sequence[str], xlabel: str, size: float) -> list[Text]:
    """Axes with a row for every arm, the first at the top; the texts of their names."""
    dress(axes, "x")
    axes.set_xlabel(xlabel, color=INK, parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), labels, fontsize=size)
    axes.tick_params(axis="y", length=0)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    return list(axes.get_yticklabels())


def legend_below(figure: Figure, entries: Sequence[Entry], columns: int, above: float = 0.0) -> None:
    """The legend at the bottom of a figure, or so many inches above it, if there is anything to explain."""
    if not entries:
        return
    signs, labels = zip(*entries, strict=True)
    legend = figure.legend(
        signs,
        labels,
        loc="lower center",
        bbox_to_anchor=(0.5, (0.06 + above) / figure.get_figheight()),
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        borderaxespad=0.0,
        handlelength=2.2,
        columnspacing=1.6,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")  # a file that has it cannot be read


def to_bytes(figure: Figure, form: str) -> bytes:
    """A figure as a file of this form: png, svg or pdf."""
    drawn, has_all = _drawn(figure, form, {"svg.hashsalt": "dobandit", "pdf.fonttype": 42})
    if not has_all and form == "svg":  # letters in place of their outlines: the reader's program has more fonts
        return _drawn(figure, form, {"svg.hashsalt": "dobandit", "svg.fonttype": "none"})[0]
    if not has_all:
        warnings.warn(
            "the font of the figure lacks some letters of your names; install a font that has them (such as "
            "Noto Sans CJK), or save the figure as .svg",
            stacklevel=3,
        )
    return drawn


def _drawn(figure: Figure, form: str, settings: Mapping[str, object]) -> tuple[bytes, bool]:
    """The file, and whether the fonts have all letters."""
    drawn = io.BytesIO()
    with warnings.catch_warnings(record=True) as caught, plain_style(**settings):
        warnings.simplefilter("always")
        figure.savefig(drawn, format=form, dpi=150, metadata=UNWRITTEN[form])
    missing = [w for w in caught if "missing from" in str(w.message)]
    for other in caught:
        if other not in missing:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    content = drawn.getvalue()
    return _NOT_IN_XML.sub(b"?", content) if form == "svg" else content, not missing


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a figure as PNG (150 dots per inch), SVG or PDF, by the suffix of the path."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in UNWRITTEN:
        raise DobanditError(f"cannot save a figure as {path}: the name must end in .png, .svg or .pdf")
    drawn = to_bytes(figure, form)
    with replacing(Path(path)) as draft:
        draft.write_bytes(drawn)
