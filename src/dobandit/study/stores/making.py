"""What goes wrong after a study was made. Others may use it by then, so it stays, and the error says that it exists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dobandit.errors import DobanditError, StorageError
from dobandit.files import reason


@contextmanager
def made(name: str) -> Iterator[None]:
    """Failures in here are reported as failures after the study was made."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the study {name} was made") from None
    except (DobanditError, OSError) as error:
        what = reason(error) if isinstance(error, OSError) else str(error)
        what = what.removesuffix("; nothing was changed")
        raise StorageError(
            f"the study {name} was made, but then this failed: {what}; check it with: dobandit study status {name}"
        ) from error
