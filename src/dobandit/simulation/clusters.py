"""Work on a Dask cluster: one that runs already, or one that is made on this machine and ends with us."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from dobandit.errors import SimulationError, StorageError, needing

PATIENCE = 10.0  # seconds until a scheduler has to answer, and to have a worker
# Dask makes its workers return memory to the system after every array, and to get new memory for the next one takes
# time. This is how much they may keep, in bytes.
MEMORY_KEPT = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**27}
RETRIES = 3  # of a job whose worker was lost, each on another worker
_VERSION = "__import__('dobandit').__version__"


class Cluster:
    """Runs functions on the workers of a cluster; a job whose worker is lost is run again elsewhere."""

    def __init__(self, client: Any) -> None:
        self._executor = client.get_executor(retries=RETRIES)
        self.workers = sum(client.nthreads().values())

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        return self._executor.submit(function, *args)  # type: ignore[no-any-return]


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """The cluster at an address.

    Parameters
    ----------
    address
        `tcp://host:8786`, the address of a scheduler (also tls:// and ucx://), or `local:8` for eight processes here.
    """
    local = re.fullmatch(r"local:([1-9]\d{0,3})", address)
    if not local and not re.fullmatch(r"(tcp|tls|ucx)://\S+:\d+", address):
        raise SimulationError(
            f"cluster: {address!r} is not an address; write tcp://host:8786, or local:8 for eight processes here"
        )
    with needing("distributed", "dask"):
        import dask
        from distributed import Client, KilledWorker, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters of it is raised
    try:
        if local:
            options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
            with (
                dask.config.set(MEMORY_KEPT),
                LocalCluster(int(local[1]), memory_limit=None, **options) as made,  # type: ignore[no-untyped-call]
                Client(made) as client,  # type: ignore[no-untyped-call]
            ):
                yield Cluster(client)
        else:
            with _connected(Client, address) as client:
                yield Cluster(client)
    except KilledWorker:
        raise SimulationError(
            "cluster: a job ended several workers one after the other, perhaps for lack of memory: give them more"
        ) from None


def _connected(client_class: Any, address: str) -> Any:
    """A client of the scheduler there, all of whose workers have our version."""
    ours = import_module("dobandit").__version__
    try:
        client = client_class(address, timeout=PATIENCE)
    except (OSError, TimeoutError):
        raise StorageError("cluster: no scheduler answers at this address; start one with: dask scheduler") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
        found = set(client.run(eval, _VERSION).values())
    except TimeoutError:
        found = None
    except ModuleNotFoundError:
        found = {"none"}
    if found == {ours}:
        return client
    client.close()
    if found is None:
        raise StorageError("cluster: the scheduler has no workers; start one with: dask worker, and this address")
    others = ", ".join(sorted(found - {ours}))
    raise SimulationError(f"cluster: its workers must have dobandit {ours}, as here; theirs is {others}")
