"""DuckDB reads and writes files for us: the file that it is told, within the memory limit, and nothing else."""

from __future__ import annotations

import shutil
import socket
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from dobandit.errors import DobanditError
from dobandit.evidence import open_source, write_table
from dobandit.evidence.contents import fetch
from dobandit.evidence.delimited import Delimited
from dobandit.evidence.dialect import find_dialect
from dobandit.evidence.duck import connect, csv_frame
from dobandit.evidence.texts import read_text
from dobandit.memory import limited

EXTENSIONS = ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions")


def setting(base: Any, name: str) -> object:
    return base.execute("SELECT current_setting(?)", [name]).fetchone()[0]


def test_it_opens_nothing_but_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other file, no home directory, no extension and no network, even for the query of a stranger."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path, other = tmp_path / "it.csv", tmp_path / "other.csv"
    path.write_text("A,B\n1,2\n", encoding="utf-8")
    shutil.copy(path, other)
    base = connect(path)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x.csv"
        refused = (
            *(f"SELECT * FROM read_csv('{place}')" for place in (other, "~/other.csv", url)),
            *(f"COPY (SELECT 1) TO '{place}'" for place in (tmp_path / "new.csv", url)),
            f"ATTACH '{tmp_path / 'other.db'}'",
            "LOAD httpfs",
            "INSTALL httpfs",
            "SET enable_external_access = true",
        )
        for query in refused:
            with pytest.raises(duckdb.Error, match=r"disabled|Cannot (enable|access)"):
                base.execute(query)
        with pytest.raises(BlockingIOError):  # nothing has knocked
            server.accept()
    assert base.execute("SELECT * FROM read_csv(?)", [str(path)]).fetchall() == [(1, 2)]
    assert [setting(base, name) for name in EXTENSIONS] == [False, False, False]


def test_it_keeps_the_memory_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it; what does not fit goes to a folder that is removed afterwards."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with limited("60MB"):
        base = connect(tmp_path / "none.csv")
    assert setting(base, "memory_limit") == "30.0 MiB"
    base.execute("SET threads = 1")
    base.execute(
        "CREATE TABLE much AS SELECT md5(i::VARCHAR) AS a, md5((i + 1)::VARCHAR) AS b FROM range(1200000) t(i)"
    )
    assert list(tmp_path.iterdir())
    base.close()
    assert not list(tmp_path.iterdir())


def test_files_are_read_and_written_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, connecting = list[Any](), duckdb.connect

    def recorded(**given: Any) -> Any:
        made.append(connecting(**given))
        return made[-1]

    monkeypatch.setattr(duckdb, "connect", recorded)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for folder in ("home", "~"):
        Path(folder).mkdir()
    columns = {"A": np.array(["0", "1"]), "B": np.array(["0", "1"])}
    for name in ("t.csv", "t.parquet"):
        write_table(f"~/{name}", columns)
        source = open_source(Path("~") / name)
        assert [value for value, *_ in source.values("A")] == ["0", "1"]
        assert setting(made[-1], "enable_external_access") is False
    assert sorted(path.name for path in Path("~").iterdir()) == ["t.csv", "t.parquet"]  # a folder of this name
    assert len(made) == 3


@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
def test_a_file_that_goes_away_while_it_is_read_is_told_in_a_sentence(name: str, tmp_path: Path) -> None:
    """The disk may fail between two questions about one file."""
    write_table(tmp_path / name, {"A": np.array(["0", "1"]), "B": np.array(["0", "1"])})
    source = open_source(tmp_path / name)
    (tmp_path / name).unlink()
    for question in (source.values, lambda column: source.group((column,)), lambda column: source.first((column,))):
        with pytest.raises(DobanditError, match=f"{name}: (cannot be read|the rows cannot be counted): "):
            question("A")


def test_small_files_of_many_columns_are_left_to_the_standard_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question for each of a thousand columns takes DuckDB minutes."""
    path = tmp_path / "wide.csv"
    names = [f"V{i}" for i in range(150)]
    path.write_text(f"{','.join(names)}\n" + f"{','.join('01' * 75)}\n" * 3, encoding="utf-8")
    text = read_text(fetch(path))
    file = Delimited(text, find_dialect(text))
    assert csv_frame(file, None) is None
    monkeypatch.setattr("dobandit.evidence.duck.SMALL", 0)
    large = csv_frame(file, None)
    assert large is not None
    for source in (large, file.columns()):
        assert [(v, n) for v, n, *_ in source.values("V1")] == [("1", 3)]
