"""Files as people have them: the right rows, or one sentence, and the same from each of the three readers."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Literal, NamedTuple
from unittest import mock

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from dobandit.errors import DobanditError
from dobandit.evidence import Source, open_source
from dobandit.evidence.backed import InDoubt
from dobandit.evidence.delimited import Delimited
from dobandit.evidence.fields import Fields
from dobandit.problem import label

Rows = Counter[tuple[str, ...]]
Table = tuple[list[str], list[list[str]]]  # the header and the rows


@contextmanager
def by_duckdb() -> Iterator[None]:
    """Read by DuckDB as far as it can: the quicker reader gives up at once."""
    with mock.patch.object(Fields, "of", side_effect=InDoubt):
        yield


@contextmanager
def by_the_standard_library() -> Iterator[None]:
    with by_duckdb(), mock.patch.dict(sys.modules, {"duckdb": None}):
        yield


READERS: list[Callable[[], AbstractContextManager[None]]] = [nullcontext, by_duckdb, by_the_standard_library]


def counted(source: Source) -> Rows:
    """Every combination of values that occurs, with its number of rows."""
    found = source.group(source.columns)
    rows: Rows = Counter()
    for *values, weight in zip(*found.columns, found.weights, strict=True):
        rows[tuple("" if value is None else label(value) for value in values)] += weight
    return rows


def read(path: Path) -> Rows | str:
    """What is in a file, or the sentence that says why it is not read. Any other exception is a bug."""
    try:
        return counted(open_source(path))
    except DobanditError as error:
        return str(error)


def read_in_all_ways(path: Path) -> Rows | str:
    found = read(path)
    for reader in READERS[1:]:
        with reader():
            assert read(path) == found
    return found


class Form(NamedTuple):
    """How a table is written."""

    separator: str
    newline: str
    encoding: str
    quoting: Literal[0, 1]
    ends: bool  # in a line break
    blank: bool  # lines here and there
    packed: Callable[[bytes], bytes]

    def written(self, table: Table) -> str:
        text, (header, rows) = io.StringIO(), table
        quoting: Literal[0, 1] = (
            csv.QUOTE_ALL if self.newline == "\r" else self.quoting
        )  # else a line feed would not be quoted
        writer = csv.writer(text, delimiter=self.separator, lineterminator=self.newline, quoting=quoting)
        writer.writerow(header)
        for row in rows:
            writer.writerow(row)
            text.write(self.newline if self.blank else "")
        return text.getvalue() if self.ends else text.getvalue().removesuffix(self.newline)

    def packed_bytes(self, text: str) -> bytes:
        return self.packed(text.encode(self.encoding))


FORMS = st.builds(
    Form,
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([bytes, bytes, gzip.compress, zstd.compress]),
)
WORDS = ["0", "1", "1.0", "007", "low", "3,5", "-0", "yes", "TRUE", "NA", "", "a b", "é", "Größe", "1e3"]
TEXTS = st.text("ab1é ,;\t|\"'\n\\#", max_size=6)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    header = draw(
        st.lists(
            st.sampled_from(["A", "B", "x", "X", "Größe", "a b", 'say "hi"', "#"]), min_size=2, max_size=5, unique=True
        )
    )
    values = st.sampled_from(WORDS) | TEXTS
    return header, draw(st.lists(st.lists(values, min_size=len(header), max_size=len(header)), max_size=8))


def expected(table: Table) -> Rows:
    return Counter(tuple(map(label, row)) for row in table[1])


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(tables(), FORMS)
def test_well_formed_files_are_read_as_they_are_meant(
    tmp_path_factory: pytest.TempPathFactory, table: Table, form: Form
) -> None:
    path = tmp_path_factory.mktemp("messy") / "log.csv"
    path.write_bytes(form.packed_bytes(form.written(table)))
    assert read_in_all_ways(path) == expected(table)


EXCESS = st.lists(st.sampled_from(["", "1"]), min_size=1, max_size=3)


@st.composite
def broken(draw: st.DrawFn) -> tuple[str, Form, str]:
    """A file with one fault, and what the sentence must say."""
    (header, rows), form = draw(tables().filter(lambda table: bool(table[1]))), draw(FORMS)
    k = draw(st.integers(0, len(rows) - 1))
    kind = draw(st.sampled_from(["ragged", "ragged", "twice", "nul", "open quote", "after quote"]))
    good = form.written((header, rows))
    if kind == "ragged":
        rows[k] = rows[k][:-1] if draw(st.booleans()) and len(header) > 2 else [*rows[k], *draw(EXCESS)]
        return form.written((header, rows)), form, "the header names"
    if kind == "twice":
        return form.written(([*header, header[0]], [[*row, "1"] for row in rows])), form, "is there twice"
    if kind == "nul":
        rows[k][0] += "\0"
        return form.written((header, rows)), form, "NUL byte|not a text file"
    last = form.separator.join(["1"] * (len(header) - 1))
    if kind == "open quote":
        return good + form.newline + last + form.separator + '"x', form, "never closed"
    return good + form.newline + last + form.separator + '"x"y', form, "follows a closing quote"


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(broken())
def test_malformed_files_get_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[str, Form, str]
) -> None:
    text, form, sentence = case
    path = tmp_path_factory.mktemp("messy") / "log.csv"
    path.write_bytes(form.packed_bytes(text))
    found = read_in_all_ways(path)
    assert isinstance(found, str)
    assert any(part in found for part in sentence.split("|")), found


WIDE = ",".join(f"v{i}" for i in range(10_000))
CORPUS: dict[bytes, Rows | str] = {
    b"": "the file is empty",
    b"\n \n": "the file is empty",
    b"A,B": Counter(),
    b"\n\nA,B\n\n1,2\n": Counter({("1", "2"): 1}),
    b"\xef\xbb\xbf\r\nA,B\r\n1,2\r\n": Counter({("1", "2"): 1}),
    b"A,B\r1,2\r": Counter({("1", "2"): 1}),
    b"A,B\r\n1,2\n3,4\r\n": Counter({("1", "2"): 1, ("3", "4"): 1}),
    b",A,B\n0,1,2\n": Counter({("1", "2"): 1}),  # the index of a data frame has no name
    b"A,B,\n1,2,\n": Counter({("1", "2"): 1}),
    b",,\n1,2,3\n": "line must name the columns",
    b"1,2\n3,4\n": "nothing but numbers",
    b"A,x,A\n1,2,3\n": "line 1: the column 'A' is there twice",
    b"A,B\n1,2,\n": "line 2: 3 fields, but the header names 2",
    b"A,B\n1,2\n1\n": "line 3: 1 field, but the header names 2",
    b"A,B\n1;2\n": "header names 2; this line has the separator semicolon, the header comma: use one of them",
    b"A\n1\n\n2\n": Counter({("1",): 1, ("2",): 1}),
    b"A;B,C\n1;2,3\n": "separated by comma and semicolon",
    b"A;B\n3,5;007\n": Counter({("3,5", "007"): 1}),
    b"sep=;\nA;B\n1;2\n": Counter({("1", "2"): 1}),
    b"'A','B'\n'x,y',2\n": Counter({("x,y", "2"): 1}),
    b'A, B\n1, "x,y"\n': Counter({("1", "x,y"): 1}),
    b'A,B\n1,"x" \n': "line 2: something follows a closing quote",
    b'A,B\n1,"a\nb\n': "line 2: a quote is opened and never closed",
    b"A,B\n1,2\n\0,1\n": "line 3: there is a NUL byte",
    b"\x89PNG\r\n\x1a\n\0\0": "not a text file",
    b"PK\x03\x04 and more": "save the table as CSV",
    b"\x1f\x8b and more": "cannot be unpacked (gzip)",
    b"\x28\xb5\x2f\xfd and more": "cannot be unpacked (zstd)",
    b"A,B\n1,caf\xe9\n": Counter({("1", "café"): 1}),
    b"A,B\n" + b"x" * 3_000_000 + b",2\n": Counter({("x" * 3_000_000, "2"): 1}),
    f"{WIDE}\n{'1,' * 9_999}1\n".encode(): Counter({("1",) * 10_000: 1}),
    f"{WIDE}\n{'1,' * 9_998}1\n".encode(): "line 2: 9,999 fields, but the header names 10000",
}


@pytest.mark.parametrize(("content", "meant"), CORPUS.items(), ids=lambda value: str(value)[:30])
def test_corpus(content: bytes, meant: Rows | str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(content)
    found = read_in_all_ways(tmp_path / "log.csv")
    assert meant in found if isinstance(meant, str) and isinstance(found, str) else found == meant


def test_nothing_is_guessed_in_plain_files(tmp_path: Path) -> None:
    """Neither types nor missing values: it is told how the file is written, and all values are texts."""
    path = tmp_path / "a[1]*.csv"  # a name, and no pattern
    path.write_text("A,B\n007,2024-01-01\n1.50,NULL\ntrue,inf\n", encoding="utf-8")
    source = open_source(path)
    with mock.patch.dict(sys.modules, {"duckdb": None}):
        assert counted(source) == {("007", "2024-01-01"): 1, ("1.5", "NULL"): 1, ("true", "inf"): 1}
    with mock.patch.object(Delimited, "columns", side_effect=AssertionError):
        assert [value for value, *_ in source.values("A")] == ["007", "1.50", "true"]
        assert [value for value, *_ in source.values("B")] == ["2024-01-01", "NULL", "inf"]
    assert source.notes == ("read a[1]*.csv as CSV: separator comma, double quotes, header in line 1, encoding UTF-8",)


@pytest.mark.parametrize("reading", READERS)
def test_numbers_in_files(reading: Callable[[], AbstractContextManager[None]], tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("A;Y;Z\n0;1e1;3,5\n0; 2.5 ;3\n1;-.5;1_000\n", encoding="utf-8")
    with reading():
        source = open_source(tmp_path / "log.csv")
        found = source.group(("A",), "Y")
        assert found.measured is not None
        sums: Counter[str] = Counter()
        for value, total in zip(found.columns[0], found.measured.sums(found.weights), strict=True):
            sums[value] += total
        assert sums == {"0": 12.5, "1": -0.5}
        with pytest.raises(DobanditError, match=r"column Z has '3,5', which is not a number; write decimals with"):
            source.group(("A",), "Z")


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place, sentence in {
        tmp_path: "this is a folder",
        tmp_path / "pipe": "a pipe or a device",
        Path("/dev/zero"): "a pipe or a device",
        tmp_path / "no.csv": "no such file",
        tmp_path / "no*.csv": "no file matches this pattern",
        tmp_path / "table.json": "JSON lines",
    }.items():
        assert sentence in str(read(place))


def test_several_files_count_together(tmp_path: Path) -> None:
    (tmp_path / "a1.csv").write_text("A,B\n0,x\n1,x\n", encoding="utf-8")
    (tmp_path / "a2.csv").write_text("B;A\ny;1\nx;1\n", encoding="utf-16")
    (tmp_path / "a3.jsonl").write_text('{"A": 1, "B": "x"}\n\n{"A": true}\n', encoding="utf-8")
    paths = [tmp_path / name for name in ("a1.csv", "a2.csv", "a3.jsonl")]
    for data in (tmp_path / "a*", paths, list(map(str, paths))):
        source = open_source(data)
        assert counted(source) == {("0", "x"): 1, ("1", "x"): 3, ("1", "y"): 1, ("1", ""): 1}
        assert len(source.notes) == 3
    assert [(value, source.where(first or 0)) for value, _, first, _ in source.values("B")] == [
        ("x", "a1.csv, line 2"), ("y", "a2.csv, line 2"), (None, "a3.jsonl, line 3"),
    ]  # fmt: skip
    with pytest.raises(DobanditError, match="a file is given twice"):
        open_source([paths[0], tmp_path / "." / "a1.csv"])
    (tmp_path / "b.csv").write_text("A,C\n0,x\n", encoding="utf-8")
    with pytest.raises(DobanditError, match=r"b\.csv and a1\.csv have different columns: only one of them has B and C"):
        open_source([paths[0], tmp_path / "b.csv"])


BAD_LINES = {
    '{"A": 1}\n[1]\n': "line 2: expected an object",
    '{"A": 1}\n{"A": \n': "line 2: this is not a JSON object in one line",
    '{"A": 1, "A": 2}\n': "line 1: .* a key is given twice among A and A",
    "\n": "the file is empty",
}


@pytest.mark.parametrize(("text", "sentence"), BAD_LINES.items())
def test_malformed_json_lines(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(DobanditError, match=sentence):
        open_source(tmp_path / "log.jsonl")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(gzip.compress(b"A|B\n1|2\n")))
    monkeypatch.setattr(sys, "stdin", text)
    source = open_source("-")
    assert counted(source) == {("1", "2"): 1}
    assert "gzip" in source.notes[0]
