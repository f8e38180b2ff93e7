"""Text files in the encodings that people have: UTF-8, UTF-16, and the one byte per letter of Windows.

Every one becomes a plain UTF-8 file, so that whatever reads it needs to know no other encoding.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain
from typing import TextIO

from dobandit.errors import DataError
from dobandit.evidence.contents import Contents, copied

_MARKS = {  # longer ones first: UTF-32 starts as UTF-16 does
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAID = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "utf-32": "UTF-32", "cp1252": "Windows-1252"}
_SAMPLE = 1024


@dataclass(frozen=True)
class Text:
    """A text in UTF-8, and what it was written in."""

    contents: Contents
    encoding: str

    @property
    def name(self) -> str:
        return self.contents.name

    @contextmanager
    def opened(self) -> Iterator[TextIO]:
        with self.contents.opened() as file, TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            yield text


def read_text(contents: Contents) -> Text:
    """The text of a file, whatever its encoding."""
    encoding = _encoding(contents)
    if encoding not in ("utf-8", "utf-8-sig"):
        contents = copied(_recoded(contents, encoding), contents)
    _refuse_nulls(contents)
    return Text(contents, _SAID.get(encoding, "UTF-16"))


def _encoding(contents: Contents) -> str:
    """By the mark at the beginning, by zeros between the letters, or by trying."""
    with contents.opened() as file:
        first = file.read(_SAMPLE)
    for mark, encoding in _MARKS.items():
        if first.startswith(mark) and (encoding != "utf-8-sig" or _is_utf8(contents)):
            return encoding
    for encoding, zeros in (("utf-16-le", first[1::2]), ("utf-16-be", first[::2])):
        if zeros.count(0) > len(first) / 4:
            return encoding
    return "utf-8" if _is_utf8(contents) else "cp1252"


def _is_utf8(contents: Contents) -> bool:
    """Whether all of the file is UTF-8. One that is UTF-8 up to some place is damaged, and not Windows-1252."""
    decoder, read, other_letters = codecs.getincrementaldecoder("utf-8")(), 0, False
    for chunk in chain(contents.chunks(), [b""]):
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode()
            if other_letters or not good.isascii():
                place = (
                    f"{contents.name}, line {_line_of(contents, read + len(chunk) - len(error.object) + error.start)}"
                )
                raise DataError(
                    f"{place}: a letter is not UTF-8, as the text before it is; save the file again"
                ) from None
            return False
        read += len(chunk)
        other_letters = other_letters or not text.isascii()
    return True


def _recoded(contents: Contents, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for chunk in contents.chunks():
            yield decoder.decode(chunk).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        raise DataError(f"{contents.name}: this is not a text file (UTF-8, UTF-16 or Windows-1252)") from None


def _refuse_nulls(contents: Contents) -> None:
    """Zero bytes are in no text that people write; a damaged file has them, or one that is no text."""
    read = 0
    for chunk in contents.chunks():
        if (place := chunk.find(0)) >= 0:
            line = _line_of(contents, read + place)
            raise DataError(
                f"{contents.name}, line {line}: there is a NUL byte; the file is damaged, or not a text file"
            )
        read += len(chunk)


def _line_of(contents: Contents, place: int) -> int:
    """The line in which a byte is. To count lines takes longer than to look for the byte, so it is done only now."""
    line = 1
    for chunk in contents.chunks():
        line += chunk.count(b"\n", 0, max(place, 0))
        place -= len(chunk)
    return line
