"""A small share of every attack of `make stress`."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stress import fairness, faults, flips, inputs, large, proxy
from tests.stress.__main__ import main
from tests.stress.parts import PARTS
from tests.stress.table import Attempts, Extent, Line, shown, total

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def safe(lines: list[Line]) -> bool:
    """Whether nothing went wrong; what is measured depends on the machine, and is not judged here."""
    return all(line._replace(met=True).ok for line in lines)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_faults_at_system_calls() -> None:
    (found,) = lines = faults.run(Extent(2, 0.01))
    assert found.tried >= len(faults.CASES)
    assert safe(lines), shown(lines)


def test_cut_connections() -> None:
    (found,) = lines = proxy.run(Extent(2, 0.04))
    assert found.tried >= 20
    assert safe(lines), shown(lines)


def test_malformed_inputs() -> None:
    """All that have gone wrong before, and some others."""
    (found,) = lines = inputs.run(Extent(2, 0.012))
    assert found.tried == 60
    assert safe(lines), shown(lines)


def test_a_command_that_waits_for_ever_has_hung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PATIENCE", 0.2)
    monkeypatch.setattr(inputs, "exit_code", lambda arguments: time.sleep(60) if arguments == ["wait"] else 0)
    found = [inputs.judged(result, is_over, tmp_path) for result, is_over in inputs.tried([["a"], ["wait"], ["b"]])]
    assert [line.hung for line in found] == [0, 1, 0]
    assert not any(line.failed for line in found)


def test_flipped_bits() -> None:
    (found,) = lines = flips.run(Extent(2, 0.02))
    assert found.tried == 40
    assert safe(lines), shown(lines)


def test_a_crowd_of_writers() -> None:
    (found,) = lines = fairness.run(Extent(2, 0.01))
    assert found.tried > 8
    assert safe(lines), shown(lines)


def test_a_long_history() -> None:
    lines = list(large.run(Extent(2, 0.01)))
    assert [line.what.split(",")[0] for line in lines] == ["explain", "log", "export", "amend"]
    assert safe(lines), shown(lines)


def test_the_table_tells_what_is_wrong() -> None:
    lines = [Line("sound", 5, goal="0"), Line("lossy", 5, lost=1), Line("slow", 1, measured="9 s", met=False)]
    assert [line.ok for line in lines] == [True, False, False]
    assert [row.endswith("| ok      |") for row in shown(lines).splitlines()[2:]] == [True, False, False]
    assert total("all", lines, "", "")[1:3] == (11, 1)


def test_lines_are_shown_before_the_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(extent: Extent) -> Iterator[Line]:
        yield Line("kills", 1200, goal="0 lost")
        raise KeyboardInterrupt

    monkeypatch.setitem(PARTS, "kills", interrupted)
    monkeypatch.setattr("sys.argv", ["stress", "kills"])
    with pytest.raises(KeyboardInterrupt):
        main()
    assert "kills | tried 1,200 | lost 0" in capsys.readouterr().err


def test_what_was_cut_short_is_not_ok() -> None:
    attempts = Attempts(Extent(), 2000)
    assert [next(attempts) for _ in range(812)][-1] == 811
    line = Line("flips", 812, measured="0 silent", left=attempts.left)
    assert not line.ok
    assert "tried 812 of 2,000: out of time; 0 silent" in shown([line])
    assert list(Attempts(Extent(end=0.0), 5)) == []
    assert list(Attempts(Extent(), 3)) == [0, 1, 2]
    (cut,) = flips.run(Extent(2, 0.02, end=0.0))
    assert cut.left == 40
