"""Malformed inputs: files and command lines that no friend would send.

Every input is a command in a process that has everything imported. It may answer or refuse; an exit code 1, more than
ten seconds of the processor or more than a gigabyte is a defect.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tests.stress.faults import exit_code, prepared
from tests.stress.malformed import commands
from tests.stress.places import quick_folder
from tests.stress.table import Attempts, Extent, Line, total

SECONDS, MEGABYTES, TOGETHER = 10, 1024, 25
PATIENCE = 120  # seconds that may pass while a command waits, for instance for a pipe that nothing is written to


class Result(NamedTuple):
    """What came of a command: its exit code, or the signal that ended it."""

    arguments: list[str]
    code: int


def results(inputs: list[list[str]], pipe: int) -> None:
    """Run commands one after the other; a line for each that has ended."""
    for arguments in inputs:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends a process, whatever that is doing
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        os.write(pipe, f"{exit_code(arguments)}\n".encode())


def in_a_process(inputs: list[list[str]]) -> tuple[list[Result], int]:
    """The results of commands in a process of their own, and the megabytes that it took; the last of them may be the
    one that ended it, so that others were not begun."""
    ear, mouth = os.pipe()
    child = os.fork()
    if not child:
        os.close(ear)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            results(inputs, mouth)
        finally:
            os._exit(0)
    os.close(mouth)
    with os.fdopen(ear) as lines:
        codes = [int(line) for line in lines]
    _, status, used = os.wait4(child, 0)
    if len(codes) < len(inputs):
        codes.append(os.waitstatus_to_exitcode(status) or 1)
    return [Result(*pair) for pair in zip(inputs, codes, strict=False)], used.ru_maxrss // 1024


def tried(inputs: list[list[str]]) -> Iterator[tuple[Result, bool]]:
    """The result of each, and whether it took too much memory; a batch that took too much is run one by one."""
    rest = inputs
    while rest:
        found, megabytes = in_a_process(rest)
        if megabytes > MEGABYTES and len(rest) > 1:
            for one in rest:
                yield from tried([one])
            return
        yield from ((result, megabytes > MEGABYTES) for result in found)
        rest = rest[len(found) :]


def judged(result: Result, is_over: bool, folder: Path) -> Line:
    """The line of one command; its name is what to look at if it is not well."""
    what = json.dumps([text[:60].replace(str(folder), "") for text in result.arguments])
    hung = result.code in (-signal.SIGPROF, -signal.SIGALRM)
    failed = result.code == 1 or (result.code < 0 and not hung)
    return Line(what, 1, hung=int(hung), over=int(is_over), failed=int(failed))


def run(extent: Extent) -> list[Line]:
    found = list[Line]()
    with quick_folder() as folder:
        prepared(folder)
        source, rest = commands(folder, random.Random(extent.seed)), Attempts(extent, extent.number(5000))
        while batch := [next(source) for _ in islice(rest, TOGETHER)]:
            found += [judged(result, is_over, folder) for result, is_over in tried(batch)]
    worst = "; ".join(line.what for line in found if not line.ok)
    return [total("malformed inputs", found, worst[:300], f"{SECONDS} s, {MEGABYTES} MB", rest.left)]
