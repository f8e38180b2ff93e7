"""CSV files, read by DuckDB: all values as texts, nothing guessed, nothing downloaded.

A file is read here only if DuckDB is sure to read the same as the standard library, which also decides whatever DuckDB
complains about. So the answer is the same with and without it, and large files are counted quickly.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from functools import wraps
from secrets import token_hex
from typing import Any, TypeVar

import numpy as np

from dobandit.errors import needing
from dobandit.evidence.backed import InDoubt
from dobandit.evidence.contents import CHUNK
from dobandit.evidence.delimited import Delimited
from dobandit.evidence.frames import Frame
from dobandit.evidence.renamed import in_sql, safe, with_own_names
from dobandit.evidence.source import Occurrence, Source, require
from dobandit.memory import memory_limit

T = TypeVar("T")
MOST_COLUMNS = 1000  # a query that names many more takes DuckDB longer than reading the file
FEW_COLUMNS = 100  # of a file that DuckDB reads however small it is
SMALL = 2**24  # bytes
PER_COLUMN = 1000  # bytes that Python reads while DuckDB answers a question, for each column of the file
_OPTIONS = "auto_detect=false, header=true, strict_mode=true, null_padding=false, ignore_errors=false"
_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}


def connect(path: object) -> Any:
    """A DuckDB of our own, in memory, for this file alone: it opens no other file, no network and no extension. What
    does not fit into memory goes to a temporary file."""
    with needing("duckdb", "data"):
        import duckdb
    own = os.path.join(tempfile.gettempdir(), f"duckdb-{token_hex(8)}")  # made if it is needed, and removed afterwards
    places = {"memory_limit": f"{memory_limit() // 2}B", "temp_directory": own}
    base = duckdb.connect(config={**_CONFIG, **places})
    base.execute("SET enable_progress_bar = false")  # it would be drawn on standard output
    base.execute(f"SET allowed_paths = [{literal(os.path.abspath(str(path)))}, {literal_path(path)}]")
    base.execute("SET enable_external_access = false")
    return base


def literal(text: str) -> str:
    """A text in SQL."""
    return "'{}'".format(text.replace("'", "''"))


def literal_path(path: object) -> str:
    """A path in SQL, which is not a pattern."""
    return literal(re.sub(r"[*?\[]", lambda sign: f"[{sign[0]}]", os.path.abspath(str(path))))


def _in_a_sentence(ask: Callable[..., T]) -> Callable[..., T]:
    """A question about a file, which may have gone, or be on a disk that fails, since it was opened."""

    @wraps(ask)
    def asked(frame: Frame, *given: Any, **named: Any) -> T:
        import duckdb

        try:
            return ask(frame, *given, **named)
        except duckdb.Error as error:
            raise frame._failure(error) from None

    return asked


class FileFrame(Frame):
    """A file as a frame; DuckDB opens it for every question."""

    group, values = _in_a_sentence(Frame.group), _in_a_sentence(Frame.values)
    read_as, first = _in_a_sentence(Frame.read_as), _in_a_sentence(Frame.first)
    rows_without = _in_a_sentence(Frame.rows_without)


class CsvFrame(FileFrame):
    """A CSV file as a frame of texts; an empty field is null."""

    def __init__(self, relation: Any, weights: str | None, file: Delimited) -> None:
        self._file = file
        super().__init__(relation, weights, file.text.name, (file.note,))

    @_in_a_sentence
    def values(self, column: str) -> list[Occurrence]:
        require([column], self)
        rows = self._frame.select(column).to_native()  # also if this frame is made from another one
        numbered = rows.project(f"{in_sql(column)} AS v, row_number() OVER () AS r")
        found = numbered.aggregate("v, count(*) AS n, min(r) AS first, max(r) AS last", "v").order("first")
        rows = found.fetchall()
        for i, row in enumerate(rows):  # in place, because a column may have a value of its own in every row
            rows[i] = Occurrence._make(row)
        return rows  # type: ignore[no-any-return]

    def where(self, row: int) -> str:
        return self._file.where(row)

    def _failure(self, error: Exception) -> Exception:
        import duckdb

        return InDoubt() if isinstance(error, duckdb.InvalidInputException) else super()._failure(error)


def csv_frame(file: Delimited, weights: str | None) -> Source | None:
    """The file as DuckDB reads it, or nothing if it is not installed, or if it might not read every row. What it cannot
    read, such as a row that is too short, is found as soon as all rows are counted for the first time."""
    try:
        import duckdb
        import narwhals  # noqa: F401
    except ImportError:
        return None
    if not _is_plain(file):
        return None
    try:
        relation = connect(file.text.contents.path).sql(_query(file))
        return with_own_names(CsvFrame(relation, weights and safe(weights), file))
    except (duckdb.Error, InDoubt):
        return None


def _query(file: Delimited) -> str:
    dialect, places = file.dialect, range(len(file.dialect.names))
    columns = ", ".join(f"c{i}: 'VARCHAR'" for i in places)
    named = ", ".join(f"c{i} AS {in_sql(safe(dialect.names[i]))}" for i in places if dialect.names[i])
    signs = f"delim={literal(dialect.separator)}, quote={literal(dialect.quote)}, escape={literal(dialect.quote)}"
    path = literal_path(file.text.contents.path)
    how = f"{_OPTIONS}, {signs}, columns={{{columns}}}"
    return f"SELECT {named} FROM read_csv({path}, {how})"


def _is_plain(file: Delimited) -> bool:
    """Whether a file has nothing that DuckDB reads in a way of its own, or slowly."""
    names = [name.lower() for name in file.dialect.names if name]
    is_table = file.dialect.start == 1 and len(file.dialect.names) > 1 and not _is_wide(file)
    differ = len(set(names)) == len(names)  # DuckDB does not know x from X
    return is_table and differ and not _has_oddities(file)


def _is_wide(file: Delimited) -> bool:
    """Whether a question for each of its columns takes DuckDB longer than reading the file."""
    columns, size = len(file.dialect.names), file.text.contents.size
    is_quick = size <= min(SMALL, PER_COLUMN * columns**2)
    return columns > (FEW_COLUMNS if is_quick else MOST_COLUMNS)


def _has_oddities(file: Delimited) -> bool:
    """Whether lines end in different ways, or there may be empty fields in excess at the end of a row, or spaces
    between a separator and a quote, which DuckDB ignores."""
    separator, quote = file.dialect.separator.encode(), file.dialect.quote.encode()
    spaces = re.compile(rb"(^|[%b\n]) +%b|%b +([%b\r\n]|$)" % (separator, quote, quote, separator))
    with file.text.contents.opened() as opened:
        newline = b"\r\n" if opened.readline().endswith(b"\r\n") else b"\n"
        opened.seek(0)
        while chunk := opened.read(CHUNK) + opened.readline():  # whole lines, so that nothing is cut in two
            if not _all_end_in(newline, chunk) or chunk.endswith((separator, separator + quote * 2)):
                return True
            if _follows(newline[0], separator[0], chunk):
                return True
            if quote in chunk and (separator + quote * 2 + newline in chunk or spaces.search(chunk)):
                return True
    return False


def _all_end_in(newline: bytes, lines: bytes) -> bool:
    """Whether all lines end in the same way."""
    if b"\r" not in lines:  # much faster than to count
        return newline == b"\n"
    return newline == b"\r\n" and lines.count(b"\r") == lines.count(b"\n") == lines.count(newline)


def _follows(second: int, first: int, text: bytes) -> bool:
    """Whether one byte follows another somewhere, which NumPy finds faster than a search does."""
    signs = np.frombuffer(text, dtype=np.uint8)
    return bool(((signs[:-1] == first) & (signs[1:] == second)).any())
