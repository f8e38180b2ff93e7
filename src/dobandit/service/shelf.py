"""The studies that are served: files, folders of files, and studies in databases, each under its name.

A study is opened when it is first asked for, twice: one connection writes, another one reads, so that a long answer
makes no worker wait. Each has a thread of its own, so a database that hangs holds up nothing but its own study.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from dobandit.errors import DobanditError, StudyError, did_you_mean
from dobandit.policies import Policy
from dobandit.problem import Problem
from dobandit.service.refusals import Refusal
from dobandit.study import Study, is_study_file, name_of_place, shown

T = TypeVar("T")
Clock = Callable[[], float]
MOST_WAITING = 500  # requests that wait for one study
_NEW_NAME = re.compile(r"[^\W_][\w.-]{0,99}")


class Lane:
    """A study, opened by one thread, which does one thing after the other with it."""

    def __init__(self, place: str, clock: Clock) -> None:
        self._place, self._clock = place, clock
        self._study: Study | None = None
        self._thread = ThreadPoolExecutor(1, "dobandit-study")
        self._waiting = 0

    async def do(self, work: Callable[[Study], T]) -> T:
        """What this work on the study gives; a study that is asked too much at once is busy."""
        if self._waiting >= MOST_WAITING:
            raise Refusal(503, "too many requests wait for this study; try again", {"Retry-After": "2"})
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)
        finally:
            self._waiting -= 1

    def _run(self, work: Callable[[Study], T]) -> T:
        if self._study is None:
            self._study = Study.open(self._place, clock=self._clock)
        return work(self._study)

    def close(self) -> None:
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    def _close(self) -> None:
        if self._study is not None:
            self._study.close()


class Served:
    """A study under its name, with a lane for those who write and one for those who read."""

    def __init__(self, name: str, place: str, clock: Clock) -> None:
        self.name, self.place, self._file = name, place, _file_at(place)
        self._writing, self._reading = Lane(place, clock), Lane(place, clock)
        self.kept: tuple[tuple[int, ...], dict[str, Any]] | None = None  # what its page shows, and of which moment
        self.changed = asyncio.Event()  # set, and replaced by a new one, when the server has written something

    @property
    def is_there(self) -> bool:
        """Whether its file is the one that was there before; a database tells when it is asked."""
        return _file_at(self.place) == self._file

    async def write(self, work: Callable[[Study], T]) -> T:
        try:
            return await self._writing.do(work)
        finally:
            self.changed.set()
            self.changed = asyncio.Event()

    async def read(self, work: Callable[[Study], T]) -> T:
        return await self._reading.do(work)

    def close(self) -> None:
        self._writing.close()
        self._reading.close()


class Shelf:
    """All studies by name. Folders are looked through again for a name that is not known, so new files appear by
    themselves, and a file that takes the place of another one is opened."""

    def __init__(self, places: Sequence[str], clock: Clock = time.time) -> None:
        self._clock, self._served = clock, dict[str, Served]()
        self._folders = [Path(place) for place in places if Path(place).is_dir()]
        self._single = [place for place in places if not Path(place).is_dir()]
        for place in self._single:
            Study.open(place).close()  # what is no study is refused before the server starts
        self._places()

    def _places(self) -> dict[str, str]:
        """The places of all studies that there are now."""
        found: dict[str, str] = {}
        for place in [*self._single, *_files(self._folders)]:
            name = name_of_place(place)
            if found.setdefault(name, place) != place and not _same_file(found[name], place):
                raise StudyError(
                    f"two studies are called {name}: {shown(found[name])} and {shown(place)}; rename one of the files"
                )
        return found

    @property
    def can_create(self) -> bool:
        """Whether there is a folder for new studies."""
        return bool(self._folders)

    def names(self) -> list[str]:
        return sorted(self._places())

    def study(self, name: str) -> Served:
        if name in self._served and self._served[name].is_there:
            return self._served[name]
        places = self._places()
        if name not in places:
            near = did_you_mean(name[:100], places)
            raise Refusal(404, f"there is no study {name[:100]!r} here" + (f"; {near}" if near else ""))
        if name in self._served:
            self._served[name].close()
        self._served[name] = Served(name, places[name], self._clock)
        return self._served[name]

    async def create(self, name: str, problem: Problem, policy: str | Policy | None, seed: int) -> str:
        """Make a new study in the first folder; the name of its policy."""
        if not self._folders:
            raise Refusal(409, "this server has no folder for new studies; start it with: dobandit serve FOLDER")
        if not _NEW_NAME.fullmatch(name):
            raise Refusal(400, f"{name[:100]!r} cannot be the name of a study: use letters, digits and . _ -")
        if name in self._places():
            raise StudyError(f"there is a study {name} already; choose another name")
        path = self._folders[0] / f"{name}.db"

        def make() -> str:
            with Study.create(path, problem, policy, seed, clock=self._clock) as made:
                return made.policy

        return await asyncio.get_running_loop().run_in_executor(None, make)

    def close(self) -> None:
        for served in self._served.values():
            served.close()


def _files(folders: Sequence[Path]) -> Iterator[str]:
    for folder in folders:
        try:
            found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        except OSError as error:
            raise DobanditError(f"{folder}: this folder cannot be read: {error.strerror}") from None
        yield from (str(path) for path in found if is_study_file(path))


def _file_at(place: str) -> tuple[int, int] | None:
    """What tells a file from another one in its place; nothing for a database."""
    try:
        found = Path(place).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return False
