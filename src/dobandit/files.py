"""Files, written completely or not at all, and why one cannot be read or written, as a sentence."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dobandit.errors import FileError, StorageError, listing

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EINVAL)
DRAFT = ".dobandit-"  # how the names of the folders begin in which drafts are written


def reason(error: OSError | ValueError) -> str:
    """Why the operating system refused, in lower case.

    >>> reason(OSError(28, "No space left on device"))
    'no space left on device'
    """
    return (getattr(error, "strerror", None) or str(error)).lower()


def cannot_read(path: Path, error: OSError | ValueError) -> FileError:
    why = reason(error)
    shown = repr(str(path)) if "null" in why else path  # a path with a null byte is a ValueError
    return FileError(f"{shown}: cannot be read: {why}")


def cannot_write(place: str | Path, error: OSError) -> StorageError:
    return StorageError(f"{place}: cannot be written: {reason(error)}")


def read_text(path: Path) -> str:
    """The text of a file, or a sentence that says why it cannot be read."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise FileError(f"{path}: this is a pipe or a device, not a file")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"{path}: this is not a text file (UTF-8)") from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; the parser would silently let the last of several equal keys win."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError(f"a key is given twice among {listing(key for key, _ in pairs)}")
    return found


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft of `path`, which replaces it when the block ends; a failure leaves the old file unchanged."""
    with _draft(path) as draft:
        yield draft
        draft.replace(path)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A draft of a new file, which appears as `path` when the block ends; an existing file is never overwritten."""
    try:
        if path.exists():
            raise FileExistsError
        with _draft(path) as draft:
            yield draft
            move(draft, path)
    except FileExistsError:
        raise FileError(f"{path} exists already; choose another name") from None


@contextmanager
def filled(folder: Path) -> Iterator[Path]:
    """A draft of the files of a folder, which appear there together when the block ends: at once if the folder is empty
    or does not exist yet, else one after the other, each complete. Other files in it stay; no link is followed."""
    import tempfile

    is_new = not folder.exists() or (not folder.is_symlink() and not any(folder.iterdir()))
    is_new &= os.access(folder.parent, os.W_OK) and not os.path.ismount(folder)
    with tempfile.TemporaryDirectory(prefix=DRAFT, dir=folder.parent if is_new else folder) as made:
        draft = Path(made) / "files"
        draft.mkdir()
        yield draft
        try:
            draft.rename(folder)
        except OSError:
            for file in draft.iterdir():
                file.replace(folder / file.name)


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    """A file of the same name in a temporary folder beside `path`."""
    import tempfile

    try:
        with tempfile.TemporaryDirectory(prefix=DRAFT, dir=path.parent) as folder:
            yield Path(folder) / path.name
    except FileExistsError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise FileError(f"{path}: its folder does not exist") from None
    except OSError as error:
        raise cannot_write(path, error) from None


def move(draft: Path, path: Path) -> None:
    """Give a complete file its name. A FileExistsError says that the name is taken."""
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename(draft, path)


def _rename(draft: Path, path: Path) -> None:
    """The same in a file system without links: an empty file reserves the name. On failure only that empty file is
    removed, never a complete one, which others may be using."""
    path.open("xb").close()
    try:
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            if not path.stat().st_size:
                path.unlink()
        raise


@contextmanager
def storing(place: Path) -> Iterator[None]:
    """What the file system refuses in this block becomes a StorageError that names the place."""
    try:
        yield
    except OSError as error:
        raise cannot_write(place, error) from None


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, and check that files can be written there."""
    import tempfile

    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


def config_folder() -> Path:
    """Where the user's configuration is."""
    if os.name == "nt":
        return Path(os.environ.get("APPDATA") or Path.home()) / "dobandit"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dobandit"
