"""Quantiles in a problem file, replaced by the cut points that they are in some data; nothing else changes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dobandit.errors import DataError, ProblemError, listing
from dobandit.evidence import Source, require
from dobandit.files import read_text
from dobandit.problem import label
from dobandit.proposal.cut_points import cut_points
from dobandit.proposal.profile import profile

_QUANTILES = r"\{\s*quantiles\s*=\s*\d+\s*\}"
MOST = 100  # bins


def with_cut_points(path: Path, source: Source) -> tuple[str, dict[str, list[float]]]:
    """The text of a problem file with cut points in the place of `{quantiles = 4}`, and the cut points."""
    text = read_text(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProblemError([], [f"{path}: {error}"]) from None
    bins, columns = (_table(table.get(key)) for key in ("bins", "columns"))
    found: dict[str, list[float]] = {}
    for variable, stated in bins.items():
        if isinstance(stated, Mapping) and "quantiles" in stated:
            column, place = columns.get(variable, variable), f"{path}: bins.{variable}"
            found[variable] = _cuts(source, column, stated["quantiles"], place)
            text = _replaced(text, variable, found[variable], path)
    return text, found


def _table(stated: Any) -> Mapping[str, Any]:
    return stated if isinstance(stated, Mapping) else {}


def _cuts(source: Source, column: str, bins: object, place: str) -> list[float]:
    if not isinstance(bins, int) or not 2 <= bins <= MOST:
        raise ProblemError([], [f"{place}: quantiles is a whole number of bins from 2 to {MOST}, not {bins!r}"])
    require([column], source)
    held = profile(source, column)
    if not held.is_numeric or len(held.counts) < 2:
        seen = listing(map(repr, held.counts), most=5)
        raise DataError(f"{source.name}: column {column} has no numbers to split into bins; it has {seen}")
    return cut_points(*held.numbers, bins)


def _replaced(text: str, variable: str, cuts: list[float], path: Path) -> str:
    names = "|".join(map(re.escape, (variable, f'"{variable}"', f"'{variable}'")))
    before = rf"((?:^|[.{{,\s])(?:{names})\s*=\s*)"
    listed = f"[{', '.join(map(label, cuts))}]"
    changed, times = re.subn(before + _QUANTILES, lambda found: found[1] + listed, text, flags=re.MULTILINE)
    if times != 1:
        raise ProblemError([], [f"{path}: bins.{variable}: write it in one line, {variable} = {{quantiles = 4}}"])
    return changed
