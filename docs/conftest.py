"""The Python of the pages is run where their commands have been: beside the shop and its log."""

from __future__ import annotations

from pathlib import Path

import pytest

from dobandit.cli import main


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for typed in ("init --quiet --example shop shop.toml", "sample --quiet shop.toml log.csv --rows 5000 --seed 1"):
        with pytest.raises(SystemExit, match="0"):
            main(typed.split())
