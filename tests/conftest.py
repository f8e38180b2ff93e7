"""What several test files need."""

from __future__ import annotations

import contextlib
import io
import signal
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import settings

from dobandit.cli import main
from dobandit.cli.init import examples as shipped

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell: Ctrl-C could not be tested
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The same examples everywhere, and no example is judged by how long it takes on a busy machine.
settings.register_profile("dobandit", derandomize=True, deadline=None)
settings.load_profile("dobandit")


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def examples() -> dict[str, str]:
    """The texts of the shipped problems."""
    return shipped()


@pytest.fixture(scope="session")
def dobandit() -> Callable[..., Ran]:
    """Run the command line as a user would, without starting a process."""

    def run(*arguments: object) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        return Ran(int(stop.value.code or 0), out.getvalue(), err.getvalue())

    return run
