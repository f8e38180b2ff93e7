"""The folder of `--out`, tried before the work: hours must not end in a place that cannot be written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dobandit.errors import StorageError
from dobandit.files import make_folder, storing


@contextmanager
def ready(folder: Path | None, figures: bool) -> Iterator[None]:
    """Work whose results go there: the folder is made, and figures can be drawn if there will be some.

    If the work fails, the folders that were made for it are taken away again.
    """
    if folder is None:
        yield
        return
    if figures:
        from dobandit.plots import plain_style

        with plain_style():  # says so if matplotlib is missing
            pass
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        with writing(folder):
            make_folder(folder)
        yield
    except BaseException:
        for place in new:
            with contextlib.suppress(OSError):
                place.rmdir()  # only if it is empty
        raise


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """What the file system refuses, as a sentence."""
    with storing(folder):
        try:
            yield
        except (FileExistsError, NotADirectoryError):
            raise StorageError(f"{folder}: cannot be written: a file is in the way; name a folder") from None
