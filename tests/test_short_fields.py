"""CSV files that NumPy counts: the same as one row after the other, and the same numbers as Python reads."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dobandit as db
from dobandit.errors import DataError
from dobandit.evidence import Source, fit, open_source
from dobandit.evidence import short_fields as short
from dobandit.evidence.backed import InDoubt
from dobandit.evidence.fields import Fields
from dobandit.evidence.frames import Frame

TEXTS = ["0", "1", "", "low", "ninetynin", "Größe", "up to thirty-two bytes are short", "12345678"]


def rows_of(number: int) -> list[list[str]]:
    """Rows whose texts become more and longer."""
    chance = np.random.default_rng(7)
    return [[TEXTS[chance.integers(0, 2 + i * most // number)] for most in (6, 2, 2)] for i in range(number)]


def written(path: Path, rows: list[list[str]], newline: str = "\n") -> Path:
    path.write_bytes(newline.join(map(",".join, [["A", "B", "C"], *rows])).encode())
    return path


def counts(source: Source, columns: str) -> Counter[tuple[str, ...]]:
    found = source.group(tuple(columns))
    rows: Counter[tuple[str, ...]] = Counter()
    for *values, weight in zip(*found.columns, found.weights, strict=True):
        rows[tuple(value or "" for value in values)] += int(weight)
    return rows


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_rows_are_counted_chunk_by_chunk(newline: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short, "CHUNK", 256)
    monkeypatch.setattr(Frame, "_grouped", None)  # nothing is left to DuckDB
    rows = rows_of(400)
    source = open_source(written(tmp_path / "log.csv", rows, newline))
    assert counts(source, "ABC") == Counter(map(tuple, rows))
    assert counts(source, "CA") == Counter((c, a) for a, _, c in rows)
    assert source.group(()).weights.sum() == 400
    assert source.rows_without(["B"]) == sum(not b for _, b, _ in rows)
    assert source.first(["B"]) == [[b or None for _, b, _ in rows]]


@pytest.mark.parametrize("odd", ['"1"', "x" * 33, "\r"])
def test_what_does_not_fit_is_left_to_another_reader(odd: str, tmp_path: Path) -> None:
    path = written(tmp_path / "log.csv", [["0", "1", "2"], ["0", odd, "2"]])
    with pytest.raises(InDoubt):
        short.short_fields(open_source(path)._source._counted.file).group(("B",))  # type: ignore[attr-defined]


def test_many_combinations_are_left_to_another_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short, "MOST_CELLS", 50)
    rows = [[str(i), str(i % 2), "x"] for i in range(60)]
    source = open_source(written(tmp_path / "log.csv", rows))
    assert counts(source, "BC") == {("0", "x"): 30, ("1", "x"): 30}
    assert counts(source, "AB") == Counter((a, b) for a, b, _ in rows)


def test_numbers_are_those_of_python() -> None:
    chance = np.random.default_rng(3)
    numbers = [f"{chance.normal() * 10.0 ** chance.integers(-3, 8):.{chance.integers(0, 6)}f}" for _ in range(2000)]
    texts = [text for text in (*numbers, "5.", ".5", "-0", "007", "123456789012345") if len(text) <= 15]
    fields = Fields.of("".join(f"x,{text}\n" for text in texts).encode(), b",", 2)
    assert fields.numbers(1).tolist() == list(map(float, texts))
    for odd in ("1e3", "", "-", ".", "1.2.3", "+1", " 1", "1-2", "1234567890123456", "nan"):
        with pytest.raises(InDoubt):
            Fields.of(f"x,1\nx,{odd}\n".encode(), b",", 2).numbers(1)


@pytest.mark.parametrize("lines", ["1,2\n3\n", "1,2,3\n", "1\n2,3,4\n", "\n1,2\n"])
def test_rows_have_as_many_fields_as_the_header(lines: str) -> None:
    with pytest.raises(InDoubt):
        Fields.of(lines.encode(), b",", 2)


@pytest.mark.parametrize("quote", ["", '"'])  # those with quotes are read by DuckDB
def test_bins_missing_values_and_measurements(quote: str, tmp_path: Path) -> None:
    """What a problem reads into the texts, it reads into the counts as well."""
    rows = ["2,ja,1.5", "7,nein,2", ",ja,4", "30,ja,8", "30,NA,16", f"12,{quote}ja{quote},32.25"]
    (tmp_path / "log.csv").write_text("\n".join(["Age,X,Y", *rows]) + "\n", encoding="utf-8")
    problem = db.Problem(
        "Age -> X -> Y; Age -> Y",
        {"variable": "Y", "range": (0, 40)},
        10,
        domains={"X": ("nein", "ja")},
        bins={"Age": [10, 20]},
        missing="drop",
    )
    source = fit(open_source(tmp_path / "log.csv"), problem)
    found = source.group(("Age", "X"), "Y")
    assert found.measured is not None
    sums = found.measured.sums(found.weights)
    by_group = Counter[tuple[int, int]]()
    codes = zip(found.codes("Age", problem.domains["Age"]), found.codes("X", problem.domains["X"]), strict=True)
    for group, total in zip(codes, sums, strict=True):
        by_group[int(group[0]), int(group[1])] += total
    assert by_group == {(0, 1): 1.5, (0, 0): 2.0, (2, 1): 8.0, (1, 1): 32.25}
    assert source.affected.dropped == 2


def test_a_malformed_row_far_down_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "log.csv", [*rows_of(300), ["1", "2"]])
    source = open_source(path)
    with pytest.raises(DataError, match="line 302: 2 fields, but the header names 3"):
        source.group(("A",))
