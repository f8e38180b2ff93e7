"""Files as they lie on a disk or come through a pipe: regular ones only, unpacked, and known by their first bytes.

What is not a plain file is copied to a temporary one, because a source is read more than once.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, BinaryIO

from dobandit.errors import DataError, FileError, MissingExtra
from dobandit.files import cannot_read, cannot_write

STANDARD_INPUT = "-"
CHUNK = 1 << 20
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_PARQUET = b"PAR1"
_OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # new files of Excel are zip archives, old ones are not


class Copy:
    """A temporary file, which goes away with this object."""

    def __init__(self) -> None:
        number, name = tempfile.mkstemp(prefix="dobandit-")
        os.close(number)
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)


@dataclass(frozen=True)
class Contents:
    """A plain file: its name for people, where it is, and how it was compressed before."""

    name: str
    path: Path
    packed: str = ""
    copy: Copy | None = None  # keeps the temporary file while it is in use

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        with _reading(self.path):
            file = self.path.open("rb")
        with file:
            yield file

    def chunks(self) -> Iterator[bytes]:
        with self.opened() as file, _reading(self.path):
            yield from _read_all(file)

    @property
    def size(self) -> int:
        """In bytes."""
        with _reading(self.path):
            return self.path.stat().st_size

    @property
    def is_parquet(self) -> bool:
        with self.opened() as file:
            return self.name.lower().endswith((".parquet", ".pq")) or file.read(4) == _PARQUET


def fetch(path: Path) -> Contents:
    """The contents of a file, or of standard input for `-`."""
    if path.suffix.lower() == ".json":
        raise FileError(
            f"{path}: rows are read from CSV and Parquet files, and from JSON lines (.jsonl: one object in each line), "
            "not from JSON documents"
        )
    if str(path) == STANDARD_INPUT:
        found = copied(_read_all(sys.stdin.buffer), Contents("standard input", path))
    else:
        _check_regular(path)
        found = Contents(path.name, path)
    with found.opened() as file:
        first = file.read(4)
    for magic, how in _PACKED.items():
        if first.startswith(magic):
            return copied(_unpacked(found, how), Contents(found.name, path, how))
    if first in _OFFICE or path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise FileError(f"{path}: spreadsheets and archives are not read; save the table as CSV and give that file")
    return found


def copied(chunks: Iterable[bytes], like: Contents) -> Contents:
    """These bytes in a temporary file, under the same name."""
    copy = Copy()
    with copy.path.open("wb") as out:
        for chunk in chunks:
            try:
                out.write(chunk)
            except OSError as error:
                raise cannot_write(copy.path, error) from None
    return Contents(like.name, copy.path, like.packed, copy)


def _check_regular(path: Path) -> None:
    with _reading(path):
        mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise FileError(f"{path}: this is a folder; give a file, or a quoted pattern such as '{path / '*.csv'}'")
    if not stat.S_ISREG(mode):
        raise FileError(f"{path}: this is a pipe or a device, not a file; write - to read from standard input")


def _read_all(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk


def _unpacked(packed: Contents, how: str) -> Iterator[bytes]:
    library = _zstd() if how == "zstd" else import_module("gzip")
    try:
        with library.open(packed.path) as stream:
            yield from _read_all(stream)
    except Exception as error:  # each of the libraries has several of its own
        raise DataError(f"{packed.name}: cannot be unpacked ({how}): {error}") from None


def _zstd() -> Any:
    """The module that Python has from 3.14 on, or the same for earlier ones."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra("backports.zstd", "data")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from None
