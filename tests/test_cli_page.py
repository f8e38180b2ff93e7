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
WIDE: list[Part] = [
    "word " * 30,
    "a-b " * 40,
    Grid(("arm",), ("mean",), [("x" * 60, "1"), ("y", "0.1 to " + "9" * 60)]),
]


def printed(page: list[Part], capsys: pytest.CaptureFixture[str]) -> str:
    show(page)
    return capsys.readouterr().out


@pytest.mark.parametrize("page", [NARROW, WIDE], ids=["narrow", "wide"])
def test_rich_writes_the_same_where_letters_may_be_wide(page: list[Part], capsys: pytest.CaptureFixture[str]) -> None:
    """But for blanks at the ends of lines that were broken."""
    plain = printed(page, capsys).splitlines()
    *with_rich, last = printed([*page, "größe"], capsys).splitlines()
    assert last == "größe"
    assert [line.rstrip() for line in with_rich] == [line.rstrip() for line in plain]


def test_tables_are_not_broken_and_sentences_are(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(WIDE, capsys).splitlines()
    assert "y" + " " * 62 + "0.1 to " + "9" * 60 in lines
    assert max(len(line) for line in lines if line.startswith(("word", "a-b"))) <= 100


def test_wide_letters_keep_the_columns_in_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed([Grid(("arm",), ("mean",), [("大小", "1"), ("x", "0.5")])], capsys).splitlines()[1:] == [
        "大小      1",
        "x       0.5",
    ]


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
