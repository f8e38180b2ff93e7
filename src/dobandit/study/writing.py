"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dobandit.errors import FileProblem, StorageError

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EINVAL)


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
            move(draft, path)
    except FileExistsError:
        raise FileProblem(f"{path} exists already; choose another name") from None
    except (FileNotFoundError, NotADirectoryError):
        raise FileProblem(f"{path}: its folder does not exist") from None
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror.lower() if error.strerror else error}"
        ) from None


def move(draft: Path, path: Path) -> None:
    """Give a file that is complete its name, unless somebody was quicker: then it is a FileExistsError."""
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename(draft, path)


def _rename(draft: Path, path: Path) -> None:
    """The same in a file system without links, where the name must be taken before the file can have it. What took it
    is removed on failure, and nothing else: the file itself, which may be in use by then, is not empty."""
    path.open("xb").close()
    try:
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            if not path.stat().st_size:
                path.unlink()
        raise
