"""Files as people have them: the right rows, or one sentence, and the same with DuckDB and without it."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple
from unittest import mock

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from dobandit.errors import DobanditError
from dobandit.evidence import Source, open_source
from dobandit.problem import label

Rows = Counter[tuple[str, ...]]
Table = tuple[list[str], list[list[str]]]  # the header and the rows


@contextmanager
def without_duckdb() -> Iterator[None]:
    with mock.patch.dict(sys.modules, {"duckdb": None}):
        yield


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


def read_both_ways(path: Path) -> Rows | str:
    with_it = read(path)
    with without_duckdb():
        assert read(path) == with_it
    return with_it


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
    assert read_both_ways(path) == expected(table)


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
    found = read_both_ways(path)
    assert isinstance(found, str)
    assert any(part in found for part in sentence.split("|")), found
