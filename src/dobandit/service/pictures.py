"""Pictures, drawn by the code that draws the command line's figures; one at a time, because matplotlib has one style
for the whole process. A picture is kept until the study has changed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from dobandit.report import problem_figure
from dobandit.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_KEPT = 200  # pictures
PICTURES: dict[str, Callable[[Study], Figure]] = {
    "options": lambda study: study.plot("options"),
    "time": lambda study: study.plot("time"),
    "graph": lambda study: problem_figure(study.problem, {a.arm: a.bounds for a in study.status().arms if a.bounds}),
}
_drawing = Lock()
_kept: dict[tuple[str, str], tuple[int, bytes]] = {}


def study_picture(study: Study) -> bytes:
    """What `dobandit study plot` draws."""
    return _svg(lambda: study.plot())


def drawn(name: str, study: Study, picture: str) -> bytes:
    """A picture of the study of this name."""
    mark = study.last_event
    known = _kept.get((name, picture))
    if known is None or known[0] != mark:
        known = mark, _svg(lambda: PICTURES[picture](study))
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[name, picture] = known
    return known[1]


def _svg(draw: Callable[[], Figure]) -> bytes:
    from dobandit.plots import to_bytes

    with _drawing:
        return to_bytes(draw(), "svg")
