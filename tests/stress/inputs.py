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
from typing import NamedTuple

from tests.stress.faults import exit_code, prepared
from tests.stress.malformed import commands
from tests.stress.places import quick_folder
from tests.stress.table import Extent, Line

SECONDS, MEGABYTES, TOGETHER = 10, 1024, 25


class Result(NamedTuple):
    """What came of a command: its exit code, or the signal that ended it."""

    arguments: list[str]
    code: int


def results(inputs: list[list[str]], pipe: int) -> None:
    """Run commands one after the other; a line for each that has ended."""
    for arguments in inputs:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends a process, whatever that is doing
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


def run(extent: Extent) -> list[Line]:
    rng, tally = random.Random(extent.seed), [0, 0, 0, 0]
    worst = list[str]()
    with quick_folder() as folder:
        prepared(folder)
        source = commands(folder, rng)
        batch = list[list[str]]()
        number = extent.number(5000)
        for i in extent.until_the_end(5000):
            batch.append(next(source))
            if len(batch) == TOGETHER or i == number - 1:
                for (arguments, code), is_over in tried(batch):
                    hung = code == -signal.SIGPROF
                    failed = code == 1 or (code < 0 and not hung)
                    tally = [a + b for a, b in zip(tally, (1, hung, is_over, failed), strict=True)]
                    if hung or failed or is_over:
                        worst.append(json.dumps([text[:60].replace(str(folder), "") for text in arguments]))
                batch = []
    number, hung, over, failed = tally
    goal = f"{SECONDS} s, {MEGABYTES} MB"
    return [Line("malformed inputs", number, 0, 0, hung, over, failed, measured="; ".join(worst[:5]), goal=goal)]
