"""Processes that work for us, and that end with us."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any, Protocol, TypeVar

from dobandit.errors import SimulationError

T = TypeVar("T")


class Submits(Protocol):
    """Anything that runs functions elsewhere: a pool of processes, a cluster."""

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]: ...


def carried_out(function: Callable[..., T], jobs: Sequence[tuple[Any, ...]], executor: Submits | None) -> Iterator[T]:
    """What a function returns for each of these arguments, in their order; on an executor, all are begun at once."""
    if executor is None:
        yield from (function(*job) for job in jobs)
    else:
        yield from (future.result() for future in [executor.submit(function, *job) for job in jobs])


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes that leave Ctrl-C to us. When we are interrupted or fail, they end at once.

    They are spawned and not forked: a fork copies locks of other threads in whatever state they are.
    """
    others = set(active_children())
    with _undisturbed():
        pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
        for _ in range(count):
            pool.submit(_start)
    try:
        yield pool
    except BaseException as error:
        for child in set(active_children()) - others:
            child.terminate()
        pool.shutdown()  # without cancelling anything: a pool that breaks trips over futures that are cancelled
        if isinstance(error, BrokenProcessPool):
            raise SimulationError(
                "a process ended in the middle of its work, perhaps for lack of memory: try fewer workers"
            ) from None
        raise
    pool.shutdown()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Interrupts wait. Processes that are started meanwhile inherit that, so that none is interrupted as it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # a process of Python's own, whose start would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _start() -> None:
    """Something to do, so that the process is started."""
