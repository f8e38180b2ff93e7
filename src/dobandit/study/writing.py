"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dobandit.errors import FileProblem, StorageError


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A place to write a new file in, beside its own; it is moved there when it is complete.

    So a full disk leaves nothing behind, and a file that is there already is not touched.
    """
    try:
        if path.exists():
            raise FileExistsError
        with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as beside:
            draft = Path(beside) / path.name
            yield draft
            _move(draft, path)
    except FileExistsError:
        raise FileProblem(f"{path} exists already; choose another name") from None
    except (FileNotFoundError, NotADirectoryError):
        raise FileProblem(f"{path}: its folder does not exist") from None
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror.lower() if error.strerror else error}"
        ) from None


def _move(draft: Path, path: Path) -> None:
    """To its place, unless somebody was quicker."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        draft.rename(path)
