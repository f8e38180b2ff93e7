"""Writers of one SQLite file wait in a queue. SQLite itself lets them try again after a while, and the one that tries
at the right moment wins: with many of them, some wait for a minute.

A writer takes a ticket, and it is its turn when all who took one before are gone. A ticket is a lock on a byte of a
file beside the study, which the system releases when its owner ends, however that happens. The queue keeps order only:
SQLite's own lock still decides who writes. So the file may be removed at any time, and where a system has no such
locks, there is no queue.
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl

    _SET, _GET, HAS_LOCKS = fcntl.F_OFD_SETLK, fcntl.F_OFD_GETLK, True
except (ImportError, AttributeError):  # not on Linux
    HAS_LOCKS = False

_COUNTERS = struct.Struct("=QQ")  # the next ticket, and the one after the last that was served
_LOCK = struct.Struct("hhqqi4x")  # struct flock: type, whence, start, length, process
_FIRST = 64  # the byte of ticket 0
_SHORT, _LONG = 0.0003, 0.02  # seconds between two looks, for each one who is before us, and at most
LOOK = 0.01  # seconds between two looks for the file, before there is one
STALLED = 1.0  # seconds without progress, after which it is tried out of turn: someone before us has been stopped


class Queue:
    """The queue of the writers of one file."""

    def __init__(self, study: Path) -> None:
        self._path = str(study.with_name(f"{study.name}-queue"))
        self._file: int | None = None
        self._looked = -LOOK  # when the file was last looked for

    def is_empty(self) -> bool:
        """Whether nobody has to be waited for, as far as is known."""
        if self._file is None and not self._is_found():
            return True
        following, served = self._counters()
        return following == served

    def _is_found(self) -> bool:
        """Whether there is a file now. Most studies have none, so it is looked for only now and then."""
        now = time.monotonic()
        if now < self._looked + LOOK:
            return False
        self._looked = now
        return os.access(self._path, os.F_OK) and self._open(os.O_RDWR)  # to look is faster than to fail

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for our turn, which lasts until the block ends."""
        if self._file is None and not self._open(os.O_RDWR | os.O_CREAT):
            yield
            return
        ticket = self._take()
        try:
            self._wait(ticket)
            yield
        finally:
            self._serve(ticket)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self, flags: int) -> bool:
        if not HAS_LOCKS:
            return False
        with contextlib.suppress(OSError):
            self._file = os.open(self._path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        return self._file is not None

    def _take(self) -> int:
        while not self._lock(fcntl.F_WRLCK, 0):
            time.sleep(_SHORT)
        try:
            ticket, _ = self._counters()
            self._lock(fcntl.F_WRLCK, _FIRST + ticket)
            self._write(0, ticket + 1)
            return ticket
        finally:
            self._lock(fcntl.F_UNLCK, 0)

    def _wait(self, ticket: int) -> None:
        progress, since = -1, time.monotonic()
        while self._is_held(_FIRST, ticket):
            _, served = self._counters()
            if served != progress:
                progress, since = served, time.monotonic()
            elif time.monotonic() - since > STALLED:
                return
            time.sleep(min(_SHORT * max(ticket - served, 1), _LONG))

    def _serve(self, ticket: int) -> None:
        self._write(8, ticket + 1)
        self._lock(fcntl.F_UNLCK, _FIRST + ticket)

    def _counters(self) -> tuple[int, int]:
        assert self._file is not None
        following, served = _COUNTERS.unpack(os.pread(self._file, 16, 0).ljust(16, b"\0"))
        return following, served

    def _write(self, place: int, number: int) -> None:
        assert self._file is not None
        with contextlib.suppress(OSError):  # a full disk: then there is no order, and SQLite says what is wrong
            os.pwrite(self._file, struct.pack("=Q", number), place)

    def _lock(self, kind: int, place: int) -> bool:
        """Lock one byte, or unlock it; whether that was possible at once."""
        assert self._file is not None
        try:
            fcntl.fcntl(self._file, _SET, _LOCK.pack(kind, os.SEEK_SET, place, 1, 0))
        except OSError:
            return False
        return True

    def _is_held(self, place: int, length: int) -> bool:
        """Whether someone else has locked one of these bytes."""
        assert self._file is not None
        if not length:
            return False
        asked = _LOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, place, length, 0)
        return bool(_LOCK.unpack(fcntl.fcntl(self._file, _GET, asked))[0] != fcntl.F_UNLCK)
