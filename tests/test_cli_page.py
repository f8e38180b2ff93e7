"""Pages of commands: what is written without rich is what rich would write."""

from __future__ import annotations

import pytest

from dobandit.cli.page import Grid, Line, Part, show

NARROW: list[Part] = [
    "3 of 600 spent",
    Line("overdrawn by 3", ": outcomes came late"),
    Grid(("arm",), ("cost", "mean"), [("do()", "1", "0.5", ""), ("do(X=[bold]a)", "12", "", "off")], has_remarks=True),
    Grid(("pull",), ("arm", "expires"), [("1", "do()", "")]),
    Line("2 events", style="dim"),
    "a\x1b[2J text that would clear the screen",
]
WIDE: list[Part] = ["word " * 30, Grid(("arm",), ("mean",), [("do(X=größe)", "0.5"), ("x" * 120, "1")])]


def printed(page: list[Part], capsys: pytest.CaptureFixture[str]) -> str:
    show(page)
    return capsys.readouterr().out


@pytest.mark.parametrize("page", [NARROW, WIDE], ids=["narrow", "wide"])
def test_rich_writes_the_same(
    page: list[Part], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = printed(page, capsys)
    monkeypatch.setattr("dobandit.cli.page.NARROWEST", 0)  # no line is short enough
    assert printed(page, capsys) == written


def test_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Words stand to the left, numbers to the right, with three spaces between columns."""
    table = Grid(("arm",), ("cost", "mean"), [("do()", "1", "0.25"), ("do(X=1)", "1,000", "")])
    assert printed([table], capsys).splitlines() == [
        "arm        cost   mean",
        "do()          1   0.25",
        "do(X=1)   1,000       ",
    ]


def test_colours_where_they_are_wanted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in printed(NARROW, capsys)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1moverdrawn by 3\x1b[0m: outcomes" in printed(NARROW, capsys)
