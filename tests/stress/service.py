"""The server of studies: killed while clients work, and sent generated requests: its own tests, with more of both."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from tests.stress.table import Extent, Line

TESTS = (
    ("SIGKILL of the server", "tests/service/test_killed.py", "DOBANDIT_SERVER_KILLS", 50),
    ("generated requests", "tests/service/test_generated.py", "DOBANDIT_REQUESTS", 1000),
)


def run(extent: Extent) -> Iterator[Line]:
    for what, file, variable, full in TESTS:
        number = extent.number(full)
        command = [sys.executable, "-m", "pytest", "-q", file]
        ended = subprocess.run(command, env={**os.environ, variable: str(number)}, capture_output=True, text=True)
        said = ended.stdout.strip().rpartition("\n")[2] if ended.returncode else ""
        yield Line(what, number, failed=ended.returncode != 0, measured=said, goal="0 lost")
