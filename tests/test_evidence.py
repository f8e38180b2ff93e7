"""Counts: the same from every kind of source, and refused with the column and the number of rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import dobandit as db
from dobandit.errors import DataError, DobanditError
from dobandit.evidence import count, domains_of, open_source, write_table
from dobandit.evidence.frames import Frame
from dobandit.evidence.short_fields import Counted
from dobandit.evidence.source import FIRST
from tests.frames import ELSEWHERE

DOMAINS = {"A": ("0", "1"), "B": ("low", "mid", "high"), "Y": ("0", "1")}
ROWS: dict[str, list[Any]] = {
    "A": [0, 1, 1, 0, 1],
    "B": ["low", "high", "high", "mid", "low"],
    "Y": [0, 1, 0, 1, 1],
    "w": [1, 2, 0, 3, 0.5],
}
GROUPS = [("A",), ("B", "A"), ("A", "B", "Y"), ()]


def csv_file(rows: dict[str, list[Any]], tmp_path: Path) -> Path:
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "rows.csv"


def parquet_file(rows: dict[str, list[Any]], tmp_path: Path) -> Path:
    pl.DataFrame(rows, strict=False).write_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def duckdb_relation(rows: dict[str, list[Any]], tmp_path: Path) -> Any:
    frame = pl.DataFrame(rows, strict=False)
    return duckdb.connect().from_arrow(frame.to_arrow())


SOURCES: dict[str, Callable[[dict[str, list[Any]], Path], Any]] = {
    "columns": lambda rows, _: rows,
    "arrays": lambda rows, _: {name: np.array(column) for name, column in rows.items()},
    "csv": csv_file,
    "parquet": parquet_file,
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "polars": lambda rows, _: pl.DataFrame(rows, strict=False),
    "polars lazy": lambda rows, _: pl.LazyFrame(rows, strict=False),
    "pyarrow": lambda rows, _: pa.table(rows),
    "duckdb": duckdb_relation,
    **ELSEWHERE,
}
every_source = pytest.mark.parametrize("kind", SOURCES)


def by_hand(weights: list[float]) -> NDArray[np.float64]:
    counts = np.zeros((2, 3, 2))
    for a, b, y, w in zip(ROWS["A"], ROWS["B"], ROWS["Y"], weights, strict=True):
        counts[a, DOMAINS["B"].index(b), y] += w
    return counts


@every_source
@pytest.mark.parametrize("weights", [None, "w"])
def test_every_source_counts_alike(kind: str, weights: str | None, tmp_path: Path) -> None:
    source = open_source(SOURCES[kind](ROWS, tmp_path), weights)
    found = count(source, GROUPS, DOMAINS)
    whole = by_hand(ROWS["w"] if weights else [1] * 5)
    np.testing.assert_allclose(found["A", "B", "Y"], whole)
    np.testing.assert_allclose(found["B", "A"], whole.sum(axis=2).T)
    np.testing.assert_allclose(found["A",], whole.sum(axis=(1, 2)))
    np.testing.assert_allclose(found[()], whole.sum())
    assert list(domains_of(source, ["B"])["B"]) == ["high", "low", "mid"]


@every_source
def test_tables_that_are_too_wide_are_counted_one_by_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dobandit.evidence.counts.LARGEST", 4)
    found = count(open_source(SOURCES[kind](ROWS, tmp_path)), GROUPS, DOMAINS)
    np.testing.assert_allclose(found["B", "A"], by_hand([1] * 5).sum(axis=2).T)


@every_source
def test_missing_values_are_refused_with_column_and_rows(kind: str, tmp_path: Path) -> None:
    holes = {**ROWS, "B": ["low", None, "mid", None, "low"]}
    if kind == "csv":
        holes["B"] = ["low", "", "mid", "", "low"]
    with pytest.raises(DataError, match=r"column B has 2 rows without a value; drop or fill them"):
        count(open_source(SOURCES[kind](holes, tmp_path)), GROUPS, DOMAINS)
    numbers = {**ROWS, "A": [0.0, float("nan"), 1.0, 0.0, 1.0]}
    with pytest.raises(DataError, match=r"column A has 1 row without a value"):
        count(open_source(SOURCES[kind](numbers, tmp_path)), GROUPS, DOMAINS)


@every_source
def test_strange_values_are_refused(kind: str, tmp_path: Path) -> None:
    source = open_source(SOURCES[kind]({**ROWS, "A": [0, 1, 2, 2, 2]}, tmp_path))
    with pytest.raises(DataError, match=r"column A has 3 rows with the value '2'; the values of A are 0 and 1"):
        count(source, GROUPS, DOMAINS)
    with pytest.raises(DataError, match=r"there is no column Q; the columns are A, B, Y and w"):
        count(source, [("Q",)], {"Q": ("0", "1")})


@every_source
def test_a_real_valued_reward_counts_partly(kind: str, tmp_path: Path) -> None:
    source = open_source(SOURCES[kind]({**ROWS, "Y": [0.0, 2.5, 10.0, 5.0, 7.5]}, tmp_path))
    found = count(source, [("A", "Y"), ("Y",)], {**DOMAINS, "Y": ("0", "10")}, {"Y": (0.0, 10.0)})
    np.testing.assert_allclose(found["A", "Y"], [[1.5, 0.5], [1.0, 2.0]])
    np.testing.assert_allclose(found["Y",], [2.5, 2.5])
    with pytest.raises(DataError, match="column Y has the value 10, outside 0 to 9"):
        count(source, [("Y",)], {"Y": ("0", "9")}, {"Y": (0.0, 9.0)})


@every_source
@pytest.mark.parametrize("infinite", [[float("inf")], [float("-inf")], [float("inf"), float("-inf")]])
def test_infinite_measurements_are_refused(kind: str, infinite: list[float], tmp_path: Path) -> None:
    """Whatever range is allowed for the reward, and whether or not they cancel out in a sum."""
    source = open_source(SOURCES[kind]({**ROWS, "Y": [*infinite, 1.0, 1.0, 2.0, 3.0][:5]}, tmp_path))
    with pytest.raises(DataError, match="column Y has a value that is not a finite number; drop or fill it"):
        count(source, [("A", "Y")], DOMAINS, {"Y": (-np.inf, np.inf)})


@every_source
def test_only_plain_observations_count(kind: str, tmp_path: Path) -> None:
    done = {**ROWS, "intervention": ["do()", "do(A=1)", "do()", "do(B=mid)", "do()"]}
    found = count(open_source(SOURCES[kind](done, tmp_path)), [("A",)], DOMAINS)
    np.testing.assert_allclose(found["A",], [1, 2])


@every_source
def test_weights_as_an_array(kind: str, tmp_path: Path) -> None:
    """One number for each row, wherever the rows are, unless they are in a file."""
    data = SOURCES[kind](ROWS, tmp_path)
    if isinstance(data, Path):
        with pytest.raises(DataError, match="the name of one of its columns"):
            open_source(data, ROWS["w"])
        return
    found = count(open_source(data, ROWS["w"]), [("A", "B", "Y")], DOMAINS)
    np.testing.assert_allclose(found["A", "B", "Y"], by_hand(ROWS["w"]))


def test_rows_as_mappings() -> None:
    rows = [dict(zip(ROWS, values, strict=True)) for values in zip(*ROWS.values(), strict=True)]
    np.testing.assert_allclose(count(open_source(rows), [("A", "B", "Y")], DOMAINS)["A", "B", "Y"], by_hand([1] * 5))


def test_a_parquet_path_is_a_path_and_no_pattern(tmp_path: Path) -> None:
    for name, n in {"a*b.parquet": 1, "aXb.parquet": 2, "log[1].parquet": 3, "log1.parquet": 4}.items():
        pl.DataFrame({"A": [0] * n}).write_parquet(tmp_path / name)
        assert count(open_source(tmp_path / name), [()], {})[()] == n


def test_a_strange_intervention_is_refused() -> None:
    with pytest.raises(DataError, match="column intervention: 'xx' is not an arm"):
        count(open_source({"A": [0, 1], "intervention": ["do()", "xx"]}), [("A",)], DOMAINS)


def test_a_table_that_is_too_wide_is_refused() -> None:
    wide = {f"V{i}": ("0", "1") for i in range(30)}
    with pytest.raises(DataError, match="cells, which is too many"):
        count(open_source({v: [0, 1] for v in wide}), [tuple(wide)], wide)


def test_values_meet_by_their_text(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("A,B\n1.0,a\n0,a\n 1 ,b\n", encoding="utf-8-sig")
    found = count(open_source(tmp_path / "rows.csv"), [("A",)], {"A": ("0", "1")})
    np.testing.assert_allclose(found["A",], [1, 2])
    found = count(open_source({"A": [True, False, np.True_]}), [("A",)], {"A": ("0", "1")})
    np.testing.assert_allclose(found["A",], [1, 2])


@every_source
@pytest.mark.parametrize("domain", [("0", "1"), ("0", "1", "2"), ("False", "True"), ("FALSE", "true")])
def test_true_and_false_are_values_of_any_domain_that_has_them(
    kind: str, domain: tuple[str, ...], tmp_path: Path
) -> None:
    source = open_source(SOURCES[kind]({"A": [True, False, True]}, tmp_path))
    np.testing.assert_allclose(count(source, [("A",)], {"A": domain})["A",][:2], [1, 2])
    assert list(domains_of(source, ["A"])["A"]) == ["0", "1"]


@pytest.mark.parametrize(
    ("domain", "counts"),
    [
        (("0", "1"), [1, 3]),
        (("False", "True"), [1, 3]),
        (("true", "True", "TRUE", "false"), [1, 1, 1, 1]),  # words that differ in case are different values there
    ],
)
def test_the_words_true_and_false_in_any_case(domain: tuple[str, ...], counts: list[int]) -> None:
    source = open_source({"A": ["true", "True", "TRUE", "false"]})
    np.testing.assert_allclose(count(source, [("A",)], {"A": domain})["A",], counts)


def test_the_words_true_and_false_where_they_mean_nothing() -> None:
    for domain in (("true", "True", "0"), ("low", "high"), ("1", "2")):
        with pytest.raises(DataError, match=r"with the values? '(TRUE|FALSE)'"):
            count(open_source({"A": ["TRUE", "FALSE"]}), [("A",)], {"A": domain})
    assert list(domains_of(open_source({"A": ["True", "False", "maybe"]}), ["A"])["A"]) == ["False", "True", "maybe"]


@pytest.mark.parametrize("domain", [("0", "1"), ("no", "yes"), ("No", "YES"), ("false", "TRUE"), ("0", "1", "2")])
def test_yes_and_no_are_true_and_false_are_one_and_zero(domain: tuple[str, ...]) -> None:
    """Where it is clear which values are meant."""
    source = open_source({"A": np.array(["yes", "NO", "True", "false", "1", "0", "1.0", True], dtype=object)})
    np.testing.assert_allclose(count(source, [("A",)], {"A": domain})["A",][:2], [3, 5])
    assert open_source({"A": ["yes", "no"]}).group(("A",)).labels("A") == ["no", "yes"]
    with pytest.raises(DataError, match="with the value 'yes'"):
        count(open_source({"A": ["yes"]}), [("A",)], {"A": ("true", "1", "0")})


def test_all_strange_values_are_named_with_their_numbers() -> None:
    some = {"A": [0, "x", "x", "y", "z", "x", "z"]}
    with pytest.raises(
        DataError, match=r"column A has 6 rows with the values 'x' \(3\), 'z' \(2\) and 'y' \(1\); the val"
    ):
        count(open_source(some), [("A",)], DOMAINS)
    with pytest.raises(DataError, match=r"has 99 rows with the values '2' \(1\), .* '6' \(1\) and 94 more; the values"):
        count(open_source({"A": range(2, 101)}), [("A",)], DOMAINS)


@pytest.mark.parametrize(
    ("data", "weights", "message"),
    [
        ({"A": [1, 2], "B": [1]}, None, "all of the same length"),
        ({"A": [[1], [2]]}, None, "must be a list of values"),
        ({"A": [0, 1]}, [1, 2, 3], "3 numbers for 2 rows"),
        ({"A": [0, 1]}, [1, -2], "a number that is not negative, not -2"),
        ({"A": [0, 1]}, [1, float("nan")], "not nan"),
        ({"A": [0, 1]}, "w", "no column w"),
        (3, None, "expected columns, rows or a data frame, not int"),
        ([{"A": 1}, {"B": 1}], None, "row 0 has no value of B"),
        ([1, 2], None, "expected rows that map names to values"),
        ({"A": [[1], [2, 3]]}, None, "every column must be a list of values"),
        (pd.DataFrame({"A": [1]}), "w", "no column w"),
        (pd.DataFrame({"A": [1]}), [1.0, 2.0], "2 numbers for 1 rows"),
        (pd.DataFrame({"A": [1], "w": [-1.0]}), "w", "numbers that are not negative"),
        (pl.DataFrame({"A": [1, 0], "w": [1.0, None]}), "w", "none may be missing"),
        (pl.DataFrame({"A": [1], "w": [float("inf")]}), "w", "numbers that are not negative"),
        (pl.DataFrame({"A": [1], "w": ["x"]}), "w", "numbers that are not negative"),
        (pd.DataFrame({3: [1]}), None, "names of the columns must be texts"),
        (pl.DataFrame({"A": [[1, 2]]}), None, "lists or tables in place of values"),
    ],
)
def test_what_is_no_data(data: Any, weights: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        count(open_source(data, weights), [("A",)], {"A": ("0", "1")})


BAD_CSV = {
    b"": "the file is empty",
    b"\n\n": "the file is empty",
    b"A,A\n1,1": "line 1: the column 'A' is there twice",
    b"A,Y\n1": "line 2: 1 field, but the header names 2",
    b"A,Y\n1,0\n1,0,1": "line 3: 3 fields",
    b'A,Y\n"1,0\n': "line 2: ",
    b'A,Y\n1"x,"0"y\n': "line 2: ",
    b"\xff\xfeA,Y": "not a text file",
    b"A,Y\n\x81,1": "not a text file",
    b"A,Y\n\xe9,1": "with the value 'é'",
    b"A,Y\n\xc3\xa9,1\n\xe9,1": "line 3: a letter is not UTF-8, as the text before it is",
    b"B,Y\n1,0": "there is no column A; the columns are B and Y",
    b"A:Y\n1:0": "there is no column A; the columns are A:Y",
    b"A,Y": "there are no rows",
    b"A,Y\n,1\n": "column A has 1 row without a value",
    b"A,Y\n1,NA\n": "column Y has 1 row without a value",
    b"A,Y\n1,maybe\n": "with the value 'maybe'; the values of Y are 0 and 1",
    b"A,Y\n7,1\n": "with the value '7'",
}


@pytest.mark.parametrize(("text", "message"), BAD_CSV.items())
def test_malformed_csv(text: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_bytes(text)
    with pytest.raises(DobanditError, match=message):
        count_all(file)


def count_all(file: Path) -> None:
    source = open_source(file)
    domains_of(source, ["A"])
    count(source, [("A", "Y")], {"A": ("0", "1"), "Y": ("0", "1")})


def test_columns_may_have_any_name() -> None:
    """Also those that a query would give to its own columns."""
    frame = pd.DataFrame({"rows": [0, 1, 1], "measured": [0, 0, 1], "least": [0.1, 0.2, 0.4]})
    found = open_source(frame).group(("rows", "measured"), "least")
    assert found.measured is not None
    assert sorted(zip(*found.columns, found.weights, found.measured.sums(found.weights), strict=True)) == [
        (0, 0, 1, 0.1), (1, 0, 1, 0.2), (1, 1, 1, 0.4),
    ]  # fmt: skip


def test_files_that_are_not_there_or_not_parquet(tmp_path: Path) -> None:
    for name in ("no.csv", "no.parquet"):
        with pytest.raises(DobanditError, match=f"{name}: cannot be read: no such file"):
            open_source(tmp_path / name)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match=r"bad\.parquet: not a Parquet file"):
        open_source(tmp_path / "bad.parquet")


@every_source
def test_the_values_of_a_column_with_their_rows_and_the_first_of_them(kind: str, tmp_path: Path) -> None:
    """Whatever the weights are: faults are told in rows."""
    source = open_source(SOURCES[kind](ROWS, tmp_path), "w")
    found = source.values("B")
    if kind in ("parquet", "duckdb", "polars lazy", *ELSEWHERE):  # nothing says which row of a database is the first
        assert sorted(found) == [("high", 2, None, None), ("low", 2, None, None), ("mid", 1, None, None)]
        return
    assert found == [("low", 2, 1, 5), ("high", 2, 2, 3), ("mid", 1, 4, 4)]
    assert source.where(3) == ("line 4" if kind == "csv" else "row 3")


def test_lines_of_a_file_are_those_that_an_editor_shows(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('A,B\n\n1,"two\nlines"\n2,x\n\n1,x\n', encoding="utf-8")
    source = open_source(tmp_path / "rows.csv")
    assert source.values("A") == [("1", 2, 1, 3), ("2", 1, 2, 2)]
    assert source.values("B") == [("two\nlines", 1, 1, 1), ("x", 2, 2, 3)]
    assert [source.where(row) for row in (1, 2, 3)] == ["line 3", "line 5", "line 7"]


def test_missing_numbers_are_one_value() -> None:
    known, missing = open_source({"A": [1, np.nan, float("nan")]}).values("A")
    assert (known, np.isnan(missing.value), missing[1:]) == ((1.0, 1, 1, 1), True, (2, 2, 3))


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64])
def test_equal_rows_of_integers_are_counted_like_any_others(dtype: type) -> None:
    """Columns of integers are counted together at the door; with a column of texts beside them, row by row."""
    ends = np.iinfo(dtype)
    data = {"A": np.array([ends.max, ends.min, ends.max, 1, 1], dtype), "B": np.array([0, 1, 0, 2, 0], np.int32)}
    counted = open_source(data)
    one_by_one = open_source({**data, "C": list("abcde")})
    assert domains_of(counted, "AB") == domains_of(one_by_one, "AB")
    for v in "AB":
        assert [each[:3] for each in counted.values(v)] == [each[:3] for each in one_by_one.values(v)]
    domains = domains_of(one_by_one, "AB")
    np.testing.assert_equal(
        count(counted, [("A", "B")], domains)["A", "B"], count(one_by_one, [("A", "B")], domains)["A", "B"]
    )


@pytest.mark.parametrize("quote", ["", '"'])  # those with quotes are read by DuckDB
@pytest.mark.parametrize(
    ("question", "reads"),
    [
        (db.Problem("Z -> {X, Y}; X -> Y", {"variable": "Y"}, 10), 1),
        ("Z -> {X, Y}; X -> Y", 2),  # the values of all variables, then the table
    ],
)
def test_a_file_is_read_once_for_many_variables(
    question: db.Problem | str, reads: int, quote: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, method = (Frame, "_grouped") if quote else (Counted, "_count")
    file, read, grouped = tmp_path / "log.csv", list[object](), getattr(reader, method)
    rows = [f"{i % 2},{i % 3 % 2},{i * i % 61 / 7:.3f}" for i in range(120)]
    file.write_text("\n".join(["Z,X,Y", *(f"{quote}{row[0]}{quote}{row[1:]}" for row in rows)]) + "\n")

    def counted(self: Any, *asked: Any) -> Any:
        read.append(asked)
        return grouped(self, *asked)

    monkeypatch.setattr(reader, method, counted)
    found = db.effect(question, file, {"X": 1}, "Y")
    assert len(read) == reads
    columns = dict(zip("ZXY", zip(*(map(float, row.split(",")) for row in rows), strict=True), strict=True))
    again = db.effect(question, columns, {"X": 1}, "Y")
    np.testing.assert_allclose([found.mean, found.low, found.high], [again.mean, again.low, again.high], rtol=1e-12)


@pytest.mark.parametrize("kind", ["duckdb", *ELSEWHERE])
def test_rows_are_counted_where_they_live(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts and a few first rows are fetched, not 5,000 rows; and the effects are those of the same rows here."""
    chance, fetched, fetch = np.random.default_rng(5), [], Frame._fetched

    def spied(frame: Frame, asked: Any) -> list[tuple[Any, ...]]:
        fetched.append(fetch(frame, asked))
        return fetched[-1]

    ad = chance.integers(0, 2, 5000)
    revenue = np.where(chance.random(5000) < 0.3 + 0.2 * ad, chance.integers(1, 400, 5000) / 4, 0)  # sums are exact
    rows = {"age": chance.integers(18, 80, 5000).tolist(), "Ad": ad.tolist(), "Revenue": revenue.tolist()}
    graph, bins = "age -> {Ad, Revenue}; Ad -> Revenue", {"age": [30, 45]}
    problem = db.Problem(graph, {"variable": "Revenue", "range": [0, 100]}, 9, bins=bins)
    here = db.effects(problem, rows).to_dicts()
    monkeypatch.setattr(Frame, "_fetched", spied)
    there = db.effects(problem, SOURCES[kind](rows, tmp_path)).to_dicts()
    assert [row.pop("arm") for row in here] == [row.pop("arm") for row in there]
    for ours, theirs in zip(here, there, strict=True):
        assert theirs["mean"] == pytest.approx(ours["mean"], rel=1e-12)
        assert (theirs["low"], theirs["high"]) == pytest.approx((ours["low"], ours["high"]), rel=1e-9)
        assert (theirs["n"], theirs["method"]) == (5000, ours["method"])
    assert 0 < max(map(len, fetched)) <= FIRST


@pytest.mark.parametrize("alone", [True, False])
def test_a_csv_file_is_what_the_module_csv_writes(tmp_path: Path, alone: bool) -> None:
    """But for the quote before what a spreadsheet would compute, and around carriage returns in all versions."""
    texts = ["a", "", "a,b", 'a"b', "a\nb", "a,\rb", "ä", "a\tb", " a ", "-3", "\u2028"]
    columns = {"x, y": np.array(texts, dtype=object)}
    if not alone:
        columns |= {"n": np.arange(11), "f": np.linspace(0, 1, 11) / 3, "plain": np.array(["b"] * 11)}
        columns |= {"o": np.array([1, 1.0, True, None, "x", 2, 0.5, "", "1", "a,b", -1], dtype=object)}
    write_table(tmp_path / "out.csv", columns)
    expected = io.StringIO()
    writer = csv.writer(expected, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    assert (tmp_path / "out.csv").read_bytes().decode() == expected.getvalue()
    write_table(tmp_path / "signs.csv", {"=x": np.array(["=1", "+a", "-a", "@a", "'=1", "a=1", "a\rb"])})
    lines = (tmp_path / "signs.csv").read_bytes().decode().split("\n")
    assert lines == ["'=x", "'=1", "'+a", "'-a", "'@a", "''=1", "a=1", '"a\rb"', ""]
