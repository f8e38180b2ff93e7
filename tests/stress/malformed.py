"""Where malformed inputs come from: sound files with a few changes, and what has gone wrong before."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

ODD = (
    """0|-1|1e308|nan|inf|\x1b[31m|a\x00b|ä|=1+1|'|"|\\|{}|[]|null|true|do(X=1)|do(|->|<->|X -> X|\n|\r|,|;|🙂|\u202e"""
)
ODDITIES = ("", "9" * 5000, "1" + "0" * 400, *ODD.split("|"))
GRAPHS = {
    "txt": "Z -> X -> Y; Z -> Y; X <-> W; W -> Y",
    "dot": 'digraph { Z -> X; X -> Y; Z -> Y; W -> Y; X -> W [dir=both, style=dashed]; "W" }',
    "dagitty": 'dag { Z [pos="0,1"] X [exposure] Y [outcome] Z -> X -> Y Z -> Y X <-> W W -> Y }',
    "gml": 'graph [ directed 1 node [ id 0 label "X" ] node [ id 1 label "Y" ] edge [ source 0 target 1 ] ]',
}
SIZES = {"parents": 1030, "chain": 500, "values": 100_000, "columns": 50_000}


def changed(text: bytes, rng: random.Random) -> bytes:
    """The text with one to four changes."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 1, 1, 5, 40)))
        odd = rng.choice(
            (os.urandom(0), bytes([rng.randrange(256)]), rng.choice(ODDITIES).encode(), text[start:end] * 3)
        )
        text = text[:start] + odd + text[end:]
    return text


class Files:
    """Writes new files into a folder."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng, self._numbers = folder, rng, count()

    def new(self, content: bytes, ending: str) -> str:
        path = self.folder / f"input-{next(self._numbers) % 200}.{ending}"
        for old in self.folder.glob(f"{path.name}*"):
            old.unlink()
        path.write_bytes(content)
        return str(path)

    def changed(self, name: str) -> str:
        return self.new(changed((self.folder / name).read_bytes(), self.rng), name.rpartition(".")[2])


def problem(files: Files) -> list[str]:
    path = files.changed("p.toml")
    return files.rng.choice((["check", path], ["study", "init", f"{path}.db", path], ["run", path, "--trials", "1"]))


def graph(files: Files) -> list[str]:
    form = files.rng.choice(list(GRAPHS))
    drawn = files.new(changed(GRAPHS[form].encode(), files.rng), form)
    text = f'budget = 30\nreward = "Y"\n[graph]\nfile = "{Path(drawn).name}"\n'
    return ["check", files.new(text.encode(), "toml")]


def rows(files: Files) -> list[str]:
    path = files.changed(files.rng.choice(("log.csv", "log.parquet", "log.jsonl", "log.csv.gz")))
    made = f"{path}.toml"
    Path(made).unlink(missing_ok=True)
    return files.rng.choice(
        (
            ["effect", str(files.folder / "p.toml"), path, "--all"],
            ["check", str(files.folder / "p.toml"), "--data", path],
            ["init", made, "--data", path, "--reward", "Y"],
            ["study", "observe", str(files.folder / "s.db"), path, "--name", "odd"],
            ["study", "tell", str(files.folder / "s.db"), "--file", path],
        )
    )


def study(files: Files) -> list[str]:
    command = files.rng.choice((["status"], ["best"], ["log"], ["verify"], ["explain", "2"], ["pulls"], ["ask"]))
    return ["study", command[0], files.changed("s.db"), *command[1:]]


def command_line(files: Files) -> list[str]:
    def odd() -> str:
        return files.rng.choice(ODDITIES)

    sound, path = str(files.folder / "s.db"), str(files.folder / "p.toml")
    made = files.rng.choice(
        (
            ["study", "tell", sound, odd(), f"X={odd()}", f"Y={odd()}"],
            ["study", "amend", sound, odd(), f"{odd()}={odd()}"],
            ["study", "explain", sound, odd()],
            ["study", "ask", sound, "-n", odd(), "--ttl", odd()],
            ["study", "extend", sound, odd(), "--name", odd()],
            ["study", "record", sound, odd(), odd()],
            ["study", "withdraw", sound, odd(), "--reason", odd()],
            ["study", "verify", sound, "--head", odd()],
            ["study", odd(), odd()],
            ["effect", path, str(files.folder / "log.csv"), "--do", odd()],
            ["run", path, "--policy", odd(), "--budget", odd(), "--trials", "1"],
            ["check", odd()],
            [odd(), odd()],
            ["study", "status", f"postgresql{odd()}://user:secret@127.0.0.1:1/x#{odd()}"],
        )
    )
    return [text.replace("\0", "") for text in made]


KINDS: tuple[Callable[[Files], list[str]], ...] = (problem, graph, rows, study, command_line)


def commands(folder: Path, rng: random.Random) -> Iterator[list[str]]:
    """Command lines with malformed inputs, without end: first what has gone wrong before."""
    prepare_rows(folder)
    yield from known(folder)
    files = Files(folder, rng)
    while True:
        yield rng.choice(KINDS)(files)


def prepare_rows(folder: Path) -> None:
    """The log in all formats."""
    import gzip

    import pyarrow.csv
    import pyarrow.parquet

    table = pyarrow.csv.read_csv(folder / "log.csv")
    pyarrow.parquet.write_table(table, folder / "log.parquet")
    text = (folder / "log.csv").read_bytes()
    (folder / "log.csv.gz").write_bytes(gzip.compress(text))
    (folder / "log.jsonl").write_text('{"Z": 1, "X": 0, "W": 1, "Y": 0}\n{"Z": 0, "X": 0, "W": 1, "Y": 1}\n')


def known(folder: Path) -> Iterator[list[str]]:
    """What has failed, hung or taken too much memory in earlier versions."""
    sound, path, log = (str(folder / name) for name in ("s.db", "p.toml", "log.csv"))
    digits, pipe, form = "9" * 5000, str(folder / "pipe"), 'budget = 20\nreward = "Y"\n[graph]\nedges = "{}"\n'
    os.mkfifo(pipe)
    parents = "{" + ", ".join(f"P{i}" for i in range(SIZES["parents"])) + "} -> Y"
    values = ", ".join(f'"{i}"' for i in range(SIZES["values"]))
    chain = " -> ".join([*(f"V{i}" for i in range(SIZES["chain"] - 1)), "Y"])
    names = [f"c{i}" for i in range(SIZES["columns"])]
    texts = {
        "parents.toml": form.format(parents),
        "chain.toml": form.format(chain),
        "values.toml": form.format("X -> Y") + f"[domains]\nX = [{values}]\n",
        "budget.toml": form.format("X -> Y").replace("20", "1e15", 1),
        "signs.toml": form.format("X -> Y") + '[domains]\nX = ["a\\u001b[31m", "b\\u0007"]\n',
        "weights.csv": "Z,X,W,Y,w\n1,0,1,1,1e308\n0,1,1,0,1e308\n1,1,0,1,1e308\n",
        "columns.csv": ",".join(["Z", "X", "W", "Y", *names]) + "\n" + ",".join(["1"] * (4 + len(names))) + "\n",
        "ids.csv": f"id,Z,X,W,Y\n{digits},1,0,1,1\n",
        "empty.csv": "Z,X,W,Y\n",
        "nan.csv": "Z,X,W,Y\n1,0,1,nan\n",
        "unknown.csv": "Z,X,W,Y,intervention\n1,0,1,1,do(Q=1)\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    make_bomb(folder / "bomb.parquet")
    for name in ("chain.toml", "values.toml", "budget.toml", "signs.toml"):
        yield ["check", str(folder / name)]
        yield ["run", str(folder / name), "--trials", "2"]
    for name in ("weights.csv", "columns.csv", "empty.csv", "nan.csv", "unknown.csv", "bomb.parquet"):
        yield ["effect", path, str(folder / name), "--all", *(["--weights", "w"] if name == "weights.csv" else [])]
        yield ["check", path, "--data", str(folder / name)]
        yield ["study", "observe", sound, str(folder / name)]
    for what in ("/dev/zero", pipe):
        yield from (["check", what], ["effect", path, what, "--all"], ["study", "status", what])
        yield from (["study", "observe", sound, what], ["study", "tell", sound, "--file", what])
        yield ["study", "init", what, path]
    yield from (["study", "tell", sound, digits, "X=1"], ["study", "tell", sound, "--file", str(folder / "ids.csv")])
    yield from (["study", "explain", sound, digits], ["study", "ask", sound, "-n", digits])
    yield from (["run", path, "--budget", "1e12"], ["run", path, "--trials", "1000000000"])
    yield from (["effect", path, log, "--do", "X=--debug"], ["study", "verify", sound, "--head", digits])
    for name in ("parents", "chain"):
        yield ["study", "init", str(folder / f"{name}.db"), str(folder / f"{name}.toml")]


def make_bomb(path: Path) -> None:
    """A small Parquet file with many rows: a billion of the same in a few pages."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    piece = pa.table({name: pa.array(["1"] * 1_000_000) for name in ("Z", "X", "W", "Y")})
    with pq.ParquetWriter(path, piece.schema, compression="zstd") as out:
        for _ in range(20):
            out.write_table(piece)
