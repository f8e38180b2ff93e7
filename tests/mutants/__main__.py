"""Draw mutants, judge them, and print the score."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from tests.mutants.calls import FOLDER, Called, read
from tests.mutants.changes import Mutant, mutants_of

ROOMS = ("problem", "graph", "identification", "estimate", "simulation", "study")
SPECIFIC = 20  # tests that a mutant meets first: most die here, and few files have to be imported for them
SECONDS = 120.0  # of all tests that a mutant meets at most, as measured without it
PATIENCE = 30.0  # seconds, besides three times what the tests took, after which a mutant has hung and counts as killed
PROCESSES = 2
UNCOPIED = (".*", "__pycache__", "dobandit-out", "dist", "build")
Verdict = Literal["killed", "hung", "survived"]  # hung: the tests did not end in time, which a busy machine may cause
PYTEST = (sys.executable, "-m", "pytest", "-o", "addopts=", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0")


def sample(package: Path, rooms: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """So many mutants, the same number from every room, at most one of a line."""
    rng, found = random.Random(seed), list[Mutant]()
    for room in rooms:
        by_line: dict[tuple[str, int], list[Mutant]] = {}
        for path in sorted((package / room).rglob("*.py")):
            for mutant in mutants_of(path.relative_to(package.parent).as_posix(), path.read_text(encoding="utf-8")):
                by_line.setdefault((mutant.file, mutant.line), []).append(mutant)
        lines = rng.sample(list(by_line), min(-(-number // len(rooms)), len(by_line)))
        found += [rng.choice(by_line[line]) for line in sorted(lines)]
    return found


def run(
    copy: Path, arguments: Iterable[str], environment: Mapping[str, str], seconds: float | None = None
) -> int | None:
    """The exit code of pytest in a copy of the repository; None if it has not ended in time."""
    path = os.pathsep.join([str(copy / "src"), str(Path(__file__).parent)])
    process = subprocess.Popen(
        [*PYTEST, *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.DEVNULL if seconds else sys.stderr,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def recorded(copy: Path, tests: Sequence[str]) -> list[Called]:
    """What every test calls. All must pass without a mutant."""
    folder = copy / "calls"
    folder.mkdir()
    skipped = ("--ignore=tests/test_docs.py", "--ignore=tests/test_mutants.py")
    arguments = ("-p", "calls", "-n", str(PROCESSES), "--dist", "loadfile", *skipped, *tests)
    if run(copy, arguments, {FOLDER: str(folder)}):
        sys.exit("the tests must pass before mutants can be judged by them")
    return read(folder)


def judges(mutant: Mutant, calls: Iterable[Called]) -> list[list[Called]]:
    """The tests that a mutant meets, in two groups: few and specific ones, then the others, quick ones first. One that
    is in no function, or in one that no test calls (import may call it), meets all that call something in its file."""
    calls = list(calls)
    able = [c for c in calls if f"{mutant.file}:{mutant.function}" in c.functions]
    able = able or [c for c in calls if any(function.startswith(f"{mutant.file}:") for function in c.functions)]
    able.sort(key=lambda c: (len(c.functions), c.seconds))
    first, others, left = able[:SPECIFIC], sorted(able[SPECIFIC:], key=lambda c: c.seconds), SECONDS
    for group in (first, others):
        while sum(c.seconds for c in group) > left:
            group.pop()
        left -= sum(c.seconds for c in group)
    return [group for group in (first, others) if group]


def verdict_on(mutant: Mutant, copy: Path, calls: Sequence[Called]) -> Verdict:
    path = copy / "src" / mutant.file
    source = path.read_bytes()
    path.write_bytes(mutant.applied(source))
    try:
        for tests in judges(mutant, calls):
            arguments = ["-x", "-p", "no:xdist", *(c.test for c in tests)]
            patience = PATIENCE + 3 * sum(c.seconds for c in tests)
            code = run(copy, arguments, {"PYTHONDONTWRITEBYTECODE": "1"}, patience)
            if code != 0:
                return "hung" if code is None else "killed"
            shutil.rmtree(copy / ".hypothesis", ignore_errors=True)  # what one mutant taught must not judge another
        return "survived"
    finally:
        path.write_bytes(source)


def judged(root: Path, mutants: Sequence[Mutant], tests: Sequence[str]) -> list[Verdict]:
    """What became of each mutant."""
    with tempfile.TemporaryDirectory() as made:
        first = Path(made, "0")
        shutil.copytree(root, first, ignore=shutil.ignore_patterns(*UNCOPIED))
        check = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src"]
        subprocess.run(check, cwd=first, check=True)  # bytecode that is never taken for that of a mutant
        calls = recorded(first, tests)
        copies: SimpleQueue[Path] = SimpleQueue()
        copies.put(first)
        for i in range(1, PROCESSES):
            copies.put(Path(shutil.copytree(first, Path(made, str(i)))))

        def judge(mutant: Mutant) -> Verdict:
            copy = copies.get()
            try:
                verdict = verdict_on(mutant, copy, calls)
            finally:
                copies.put(copy)
            print(f"{verdict:8}", mutant, file=sys.stderr, flush=True)
            return verdict

        with ThreadPoolExecutor(PROCESSES) as threads:
            return list(threads.map(judge, mutants))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=240, help="of mutants; default: 240")
    parser.add_argument("--seed", type=int, default=0, help="of the sample; default: 0")
    parser.add_argument("--least", type=float, default=85, help="percent that must be killed; default: 85")
    parser.add_argument("--package", type=Path, default=Path("src/dobandit"), help="default: src/dobandit")
    parser.add_argument("--room", action="append", help="draw from this one; may be repeated; default: all six")
    parser.add_argument("tests", nargs="*", default=["tests"], help="the tests that judge; default: tests")
    given = parser.parse_args(arguments)
    rooms = given.room or ROOMS
    mutants = sample(given.package, rooms, given.number, given.seed)
    verdicts = judged(given.package.parent.parent.absolute(), mutants, given.tests)
    total, killed = Counter[str](), Counter[str]()
    for mutant, verdict in zip(mutants, verdicts, strict=True):
        room = mutant.file.split("/")[1]
        total[room] += 1
        killed[room] += verdict != "survived"
        if verdict != "killed":
            print(f"{verdict:8}", mutant)
    for room in rooms:
        print(f"{room}: {killed[room]} of {total[room]} killed")
    score = 100 * killed.total() / total.total()
    hung = f", {verdicts.count('hung')} of them because they hung" if "hung" in verdicts else ""
    print(f"{killed.total()} of {total.total()} mutants killed{hung}: {score:.1f} %")
    return int(score < given.least)


if __name__ == "__main__":
    sys.exit(main())
