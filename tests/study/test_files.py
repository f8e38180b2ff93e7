"""Files of outcomes: many that are told at once, and exports that are read back."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from dobandit.errors import DataError, DobanditError, FaultyRows, FileError, StorageError
from dobandit.problem import Problem, Value
from dobandit.study import Study
from tests.study.checks import FINE
from tests.study.driving import SMALL, drive, laboratory


def test_many_outcomes_are_told_all_or_none(place: str, folder: Path) -> None:
    study = Study.create(place, SMALL, "ucb")
    study.ask(3)
    file = folder / "outcomes.csv"
    file.write_text("id,note,Z,X,W,Y\n1,fine,0,1,0,1\n2,,0,1,0,1\n3,,0,1,0,1\n")
    with pytest.raises(FaultyRows, match=r"outcomes.csv, line 4, pull 3: Z is 0, but the pull was do"):
        study.tell_file(file)
    assert study.status().told == 0
    file.write_text("id,note,Z,X,W,Y\n3,,1,1,0,1\n2,,0,1,0,1\n1,fine,0,1,0,1\n")
    assert [receipt.id for receipt in study.tell_file(file)] == [1, 2, 3]
    assert study.tell_file(file)[-1].spent == pytest.approx(1 + 3.4)  # once more, and nothing happens
    assert study.status().told == 3
    for text, message in (
        ("id,Z,X,W,Y\n", "no outcomes"),
        ("id,Z\n1,0\n", "no column"),
        ("id,Z,X,W,Y\nx,0,1,0,1\n", "id"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=message):
            study.tell_file(file)


def test_a_file_that_has_a_pull_twice(folder: Path) -> None:
    """The same outcome twice is harmless; with two outcomes, nothing was told before that could conflict."""
    study, file = Study.create(":memory:", SMALL, "ucb"), folder / "june.csv"
    study.ask(2)
    file.write_text("id,Z,X,W,Y\n1,0,1,0,1\n2,0,1,0,7\n1,0,1,0,0\n")
    with pytest.raises(FaultyRows) as both:
        study.tell_file(file)
    twice = (
        "june.csv, line 2: pull 1 is in this file twice (again in line 4), with Z=0 X=1 W=0 Y=0 and with Z=0 X=1 W=0"
    )
    assert twice in str(both.value)
    assert "june.csv, line 3, pull 2: Y is 7" in str(both.value)
    with pytest.raises(DataError, match="this list of outcomes has pull 1 twice"):
        study.tell_many([(1, FINE), (1, {**FINE, "Y": 0})])
    assert study.status().told == 0
    file.write_text("id,Z,X,W,Y\n1,0,1,0,1\n1,0,1,0,1.0\n")
    with pytest.warns(UserWarning, match="pull 1 is in this file 2 times, with the same outcome; it counts once"):
        study.tell_file(file)
    assert study.status().told == 1
    file.write_text("id,Z,X,W,Y\n1,0,1,0,0\n")
    with pytest.raises(FaultyRows, match="pull 1 has the outcome") as told:
        study.tell_file(file)
    assert told.value.exit_code == 4  # a conflict


def test_all_faulty_rows_of_a_file_are_told_at_once(folder: Path) -> None:
    study, file = Study.create(":memory:", SMALL, "ucb"), folder / "june.csv"
    assert [str(pull.arm) for pull in study.ask(4)] == ["do()", "do(Z=0)", "do(Z=1)", "do(X=0)"]
    file.write_text("id,Z,X,W,Y\n4,0,,0,1\n3,0,1,0,1\n2,0,1,5,\nx,0,1,0,1\n1,0,1,0,1\n9,0,1,0,1\n")
    with pytest.raises(FaultyRows) as faulty:
        study.tell_file(file)
    assert faulty.value.exit_code == 2
    lines = str(faulty.value).splitlines()
    assert [line.split(";")[0].split(":")[0] for line in lines] == [
        "june.csv, line 5",  # of the column id first, then in the order of pulls
        "june.csv, line 4, pull 2",
        "june.csv, line 3, pull 3",
        "june.csv, line 7",
    ]
    assert "column id has x, and not the number of a pull" in lines[0]
    assert "W is 5, and not one of 0 and 1; Y has no value" in lines[1]
    assert "Z is 0, but the pull was do(Z=1)" in lines[2]
    assert "there is no pull 9" in lines[3]
    assert study.status().told == 0
    file.write_text("id,Z,X,W,Y\n4,0,,0,1\n1,0,1,0,1\n")  # X was set, so it need not be told
    assert [receipt.id for receipt in study.tell_file(file)] == [1, 4]


def test_the_order_of_the_rows_in_a_file_does_not_matter(folder: Path) -> None:
    """Many threads read a Parquet file in any order, and what is asked next depends on the order of outcomes."""
    import polars as pl

    after = []
    for name in ("ordered.csv", "reversed.csv", "any.parquet"):
        study, lab = Study.create(":memory:", SMALL, "paper-cumulative"), laboratory()
        rows = pl.DataFrame([{"id": pull.id, **lab.carry_out(pull)} for pull in study.ask(30)])
        if name == "any.parquet":
            rows.sample(fraction=1, shuffle=True, seed=1).write_parquet(folder / name)
        else:
            rows.sort("id", descending=name == "reversed.csv").write_csv(folder / name)
        study.tell_file(folder / name)
        drive(study, lab)
        after.append([(event.kind, event.pull, event.content) for event in study.log()[1:]])
    assert after[0] == after[1] == after[2]


def test_exports_are_read_back_as_evidence(folder: Path) -> None:
    study = Study.create(":memory:", SMALL, "ucb")
    drive(study, laboratory(), most=12)
    study.withdraw(3)
    means = []
    for name in ("out.csv", "out.parquet"):
        assert study.export(folder / name) == 11
        with pytest.raises(FileError, match="exists already"):
            study.export(folder / name)
        other = Study.create(":memory:", SMALL, "ucb")
        with pytest.warns(UserWarning, match="no rule for logged rows"):
            assert other.observe(folder / name) == 11
        means.append([arm.mean for arm in other.status().arms])
    assert means[0] == pytest.approx([arm.mean for arm in study.status().arms])
    assert means[0] == pytest.approx(means[1])
    study.export(folder / "out.json")
    assert json.loads((folder / "out.json").read_text())[0]["intervention"] == "do()"
    with pytest.raises(FileError, match=r"ends in \.csv"):
        study.export(folder / "out.xls")


def test_variables_may_be_called_like_columns_of_ours(folder: Path) -> None:
    """Then ours have another name, in every file that is written and read."""
    problem = Problem("id -> {cost, Worker}; {cost, Worker} -> told", "told", 20, default_cost=2)
    lab, study = laboratory(problem), Study.create(":memory:", problem, "ucb")
    first, second, third = study.ask(3)
    file = folder / "outcomes.csv"
    lines = [f"{pull.id},{','.join(lab.carry_out(pull).values())}" for pull in (first, second, third)]
    file.write_text("\n".join([f"id,{','.join(problem.graph.variables)}", *lines]))
    with pytest.raises(DataError, match="the column 'id' is there twice"):
        study.tell_file(file)
    file.write_text("\n".join([f"pull id,{','.join(problem.graph.variables)}", *lines]))
    assert [receipt.id for receipt in study.tell_file(file)] == [1, 2, 3]
    assert {v: study.outcomes()[1][v] for v in problem.graph.variables} == lab.carry_out(second)
    assert study.outcomes()[1]["pull cost"] == second.cost
    for form in ("csv", "parquet", "json"):
        study.export(folder / f"out.{form}")
    names = {"pull id", "intervention", "pull cost", "pull worker", "begun", "pull told", "study", "head"}
    names |= {*problem.graph.variables}
    assert set(json.loads((folder / "out.json").read_text())[0]) == names
    for form in ("csv", "parquet"):
        other = Study.create(":memory:", problem, "ucb")
        with pytest.warns(UserWarning, match="no rule for logged rows"):
            other.observe(folder / f"out.{form}")
        assert [arm.mean for arm in other.status().arms] == pytest.approx([arm.mean for arm in study.status().arms])


def test_variables_that_no_file_could_hold(folder: Path) -> None:
    with pytest.raises(DobanditError, match="cannot be called Intervention"):
        Study.create(":memory:", Problem("Intervention -> Y", "Y", 5))
    study = Study.create(":memory:", Problem("x -> X -> Y", "Y", 5), "ucb")
    with pytest.raises(FileError, match=r"differ in case only; export to \.csv"):
        study.export(folder / "out.parquet")
    assert study.export(folder / "out.csv") == 0


def test_exports_of_measurements_are_read_back(folder: Path) -> None:
    problem = Problem(SMALL.graph, {"variable": "Y", "range": [0, 10]}, 9)
    study = Study.create(":memory:", problem, "ucb")
    for pull in study.ask(3):
        study.tell(pull.id, {**FINE, "Y": 2.5 * pull.id, **pull.set})
    for name in ("out.csv", "out.parquet"):
        study.export(folder / name)
        other = Study.create(":memory:", problem, "ucb")
        with pytest.warns(UserWarning, match="no rule for logged rows"):
            other.observe(folder / name)
        assert [arm.mean for arm in other.status().arms] == pytest.approx([arm.mean for arm in study.status().arms])


@pytest.mark.parametrize("name", ["out.csv", "out.json", "out.parquet"])
def test_a_full_disk_leaves_no_half_file(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(":memory:", SMALL, "ucb")
    drive(study, laboratory(), most=3)
    written = list[Path]()

    def full(draft: Path, place: Path) -> None:
        written.append(draft)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("dobandit.files.move", full)
    with pytest.raises(StorageError, match=f"{name}: cannot be written: no space left on device"):
        study.export(folder / name)
    assert [draft.name for draft in written] == [name]  # it was written, but elsewhere
    assert list(folder.iterdir()) == []


def test_exports_write_numbers_as_numbers(folder: Path) -> None:
    import polars as pl

    domains: dict[str, list[Value]] = {"Price": [0.5, 1, 2.5], "Ad": ["no", "yes"]}
    problem = Problem("{Price, Ad} -> Buy; Extra -> Buy", "Buy", 20, domains=domains, missing="drop")
    study = Study.create(":memory:", problem, "f-kube")
    study.record("do()", {"Price": "2.5", "Ad": "yes", "Extra": 1, "Buy": 0})
    study.record("do()", {"Price": 1, "Ad": "no", "Extra": None, "Buy": 1})
    for form in ("csv", "json", "parquet"):
        study.export(folder / f"out.{form}")
    rows = json.loads((folder / "out.json").read_text())
    names = ("Price", "Ad", "Extra", "Buy")
    assert [[row[v] for v in names] for row in rows] == [[2.5, "yes", 1, 0], [1.0, "no", None, 1]]
    kinds = pl.read_parquet(folder / "out.parquet").schema
    assert [kinds[v] for v in names] == [pl.Float64, pl.String, pl.Int64, pl.Int64]
    assert (folder / "out.csv").read_text().splitlines()[2].startswith("2,do(),1.0,")


def test_a_csv_export_with_formulas_is_read_back(folder: Path) -> None:
    """A quote keeps a spreadsheet from computing them, and does not change what they are for us."""
    values: list[Value] = ["=1+1", "+a", "-a", "@a", "plain"]
    problem = Problem("X -> Y", "Y", 20, domains={"X": values})
    study = Study.create(":memory:", problem, "f-kube")
    for value in values:
        study.record("do()", {"X": value, "Y": 1})
    study.export(folder / "out.csv")
    assert [line.split(",")[6] for line in (folder / "out.csv").read_text().splitlines()] == [
        *("X", "'=1+1", "'+a", "'-a", "'@a", "plain")
    ]
    other = Study.create(":memory:", problem, "causal-thompson")
    assert int(other.observe(folder / "out.csv")) == 5


def test_a_long_id_is_shortened(folder: Path) -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    (folder / "ids.csv").write_text("id,Z,X,W,Y\n" + 5000 * "9" + "x,1,0,1,1\n")
    with pytest.raises(DobanditError) as refused:
        study.tell_file(folder / "ids.csv")
    assert 40 * "9" + "..." in str(refused.value)
    assert len(str(refused.value)) < 200
