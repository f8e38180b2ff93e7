"""The mutation tool: what it changes, what it leaves alone, and that its verdicts are true."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.mutants.changes import mutants_of

ROOT = Path(__file__).parent.parent


def changed(source: str) -> set[tuple[int, str, str]]:
    for mutant in mutants_of("x.py", source):
        compile(mutant.applied(source.encode()), "x.py", "exec")
    return {(m.line, m.before, m.after) for m in mutants_of("x.py", source)}


def test_one_thing_is_changed_at_a_time() -> None:
    source = """
def f(ä, n=3):
    if not 0 < ä <= n or ä in (-1.5,):
        n += max(ä, n).any() // 2
        print(n)
    return [k for k in range(n) if True]
"""
    one_operator = {(3, "0 < ä <= n", "(0 <= ä <= n)"), (3, "0 < ä <= n", "(0 < ä < n)")}
    numbers = [(2, "3"), (3, "0"), (3, "1.5"), (4, "2")]
    counted = {(line, n, f"({float(n) + d if '.' in n else int(n) + d})") for line, n in numbers for d in (-1, 1)}
    assert changed(source) == one_operator | counted | {
        (3, "not 0 < ä <= n or ä in (-1.5,)", "(not 0 < ä <= n and ä in (-1.5,))"),
        (3, "not 0 < ä <= n", "(0 < ä <= n)"),
        (3, "ä in (-1.5,)", "(ä not in (-1.5,))"),
        (3, "-1.5", "(1.5)"),
        (4, "n += max(ä, n).any() // 2", "n -= max(ä, n).any() // 2"),
        (4, "max(ä, n).any() // 2", "(max(ä, n).any() * 2)"),
        (4, "max(ä, n).any", "(max(ä, n).all)"),
        (4, "max", "(min)"),
        (5, "print(n)", "pass"),
        (6, "return [k for k in range(n) if True]", "return None"),
        (6, "True", "(False)"),
    }


def test_an_index_becomes_the_next_one() -> None:
    assert changed("first, last, rows = x[0], x[-1], x.reshape(-1)\n") == {
        (1, "x[0]", "(x[1])"),
        (1, "-1", "(1)"),
    }


def test_what_people_read_or_what_cannot_matter_is_left_alone() -> None:
    source = '''
"""Not 1."""
from functools import lru_cache
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    limit = 1
Number = int | float
@lru_cache(maxsize=8)
def f(x: "int | None" = None) -> "int | float":
    """Not 2."""
    text = f"{x + 1}"
    for _ in zip(text, text, strict=True):
        raise ValueError("not", 3)
    text += ["not" + text] + x + [f"{5}", x] + ["6" * x]
    raise AssertionError("not 7")
class C:
    field: "int | str"
    def __repr__(self):
        return "not" * 4
'''
    assert changed(source) == {(13, "raise ValueError('not', 3)", "pass")}


def test_verdicts_are_true(tmp_path: Path) -> None:
    """Four functions: one is checked by a test, one is only called, one is not even that, and one runs on import."""
    room = tmp_path / "src" / "small" / "room"
    room.mkdir(parents=True)
    (room / "code.py").write_text(
        "def seen(x):\n    return x > 1\n\n\ndef unseen(x):\n    assert x > 1\n\n\ndef uncalled(x):\n    return x > 1\n"
        "\n\ndef early(x):\n    return len(x) > 1\n\n\nEARLY = early('ab'), early('a')\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_small.py").write_text(
        "from small.room.code import EARLY, seen, unseen\n\n"
        "def test_seen():\n    assert seen(2) and not seen(1) and EARLY == (True, False)\n\n"
        "def test_unseen():\n    unseen(5)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "--package", tmp_path / "src" / "small", "--room", "room"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
    )
    *survived, by_room, score = ran.stdout.splitlines()
    assert by_room == "room: 2 of 4 killed", ran
    assert score == "2 of 4 mutants killed: 50.0 %"
    assert ran.returncode == 1
    assert [line.split(":")[1] for line in survived] == ["6", "10"]
