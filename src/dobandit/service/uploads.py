"""Files that are sent: outcomes with a column `id`, or logged rows. They are checked first, and kept until they are
applied, or until others need the room."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dobandit.errors import DobanditError
from dobandit.service.operations import observed, told
from dobandit.service.refusals import Refusal, refusal_of
from dobandit.study import LogPreview, OutcomesPreview, Study, preview_log, preview_outcomes

What = Literal["tell", "observe"]
MOST_KEPT = 128 * 2**20  # bytes of all files that wait to be applied
LONGEST = 200  # characters of the name of a file


class Upload(NamedTuple):
    """A file: its name, its content, and the ending of its name where that has none."""

    name: str
    body: bytes
    ending: str = ".csv"


class Uploads:
    """Files that were checked, each under a number that cannot be guessed, for the visitor who sent it."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Upload] = {}

    def keep(self, who: str, upload: Upload) -> str:
        """Keep a file; its number. The oldest ones make room."""
        number = secrets.token_urlsafe(16)
        self._kept[who, number] = upload
        while sum(len(each.body) for each in self._kept.values()) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return number

    def find(self, who: str, number: str) -> Upload:
        if (who, number) not in self._kept:
            raise Refusal(409, "this file is not here any more: choose it again")
        return self._kept[who, number]


def applied(study: Study, what: What, upload: Upload, by: str) -> dict[str, Any]:
    """Tell or observe what is in a file, which is known to errors under its name."""
    with _as_file(upload) as path:
        if what == "tell":
            return told(study, study.tell_file(path, by))
        return observed(study.observe(path, upload.name or None, by))


def checked(study: Study, what: What, upload: Upload) -> OutcomesPreview | LogPreview:
    """What it would change."""
    with _as_file(upload) as path:
        return preview_outcomes(study, path) if what == "tell" else preview_log(study, path, upload.name or path.name)


@contextmanager
def _as_file(upload: Upload) -> Iterator[Path]:
    """The content in a file of its own; errors need not tell where the server has put it."""
    with tempfile.TemporaryDirectory(prefix="dobandit-") as folder:
        shown = Path(upload.name).name.strip()
        is_fine = shown and "\0" not in shown and len(shown) < LONGEST
        path = Path(folder) / (shown if is_fine else f"upload{upload.ending}")
        if not path.suffix:
            path = path.with_name(path.name + upload.ending)
        path.write_bytes(upload.body)
        try:
            yield path
        except DobanditError as error:
            refusal = refusal_of(error)
            refusal.detail = refusal.detail.replace(f"{folder}/", "")
            raise refusal from None
