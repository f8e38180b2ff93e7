"""Data as a problem reads them: the same bins, the same columns and the same missing values everywhere, and all faults
of a file at once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit.errors import DataError
from dobandit.evidence import count, fit, open_source
from tests.conftest import Ran
from tests.frames import ON_CLUSTERS

TEXTS = ["12", "30", "44.5", "45", " 60 ", "1e1", "-3", "<30", ">=45", "NA", "", "null", None]
HOLES = {"NA", "", "null", None}
CUTS = [30, 45]
BINS = ["<30", "30-45", ">=45"]


def problem(missing: str = "refuse", **rest: Any) -> db.Problem:
    stated: dict[str, Any] = {"bins": {"age": CUTS}, "columns": {"age": "customer age"}, "missing": missing, **rest}
    return db.Problem("age -> {Ad, Buy}; Ad -> Buy", "Buy", 100, **stated)


def bin_of(text: str) -> str:
    """The oracle: pandas.cut for numbers, and a label for itself."""
    if text.strip() in BINS:
        return text.strip()
    edges = [-np.inf, *CUTS, np.inf]
    return str(pd.cut([float(text)], edges, right=False, labels=BINS)[0])


Table = dict[str, list[Any]]
SOURCES: dict[str, Callable[[Table, Path], Any]] = {
    "columns": lambda table, folder: table,
    "csv": lambda table, folder: _written(table, folder / "log.csv"),
    "pandas": lambda table, folder: pd.DataFrame(table),
    "polars": lambda table, folder: pl.DataFrame(table).lazy(),
    "pyarrow": lambda table, folder: pa.table(table),
    "duckdb": lambda table, folder: duckdb.connect().from_arrow(pa.table(table)),
    **ON_CLUSTERS,
}


def _written(table: Table, path: Path) -> Path:
    pd.DataFrame(table).to_csv(path, index=False, na_rep="NA")
    return path


@pytest.mark.parametrize("missing", ["drop", "category"])
@pytest.mark.parametrize("kind", SOURCES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(["0", "1", "N/A"]), st.sampled_from(["0", "1", ""]))))
def test_counts_are_those_of_pandas(missing: str, kind: str, tmp_path: Path, rows: list[tuple[Any, ...]]) -> None:
    rows = [("12", "0", "1"), (None, "0", "1"), *rows]  # every kind of frame knows the types of its columns
    table = {
        name: list(column) for name, column in zip(("customer age", "Ad", "Buy"), zip(*rows, strict=True), strict=True)
    }
    source = fit(open_source(SOURCES[kind](table, tmp_path)), problem(missing))
    clean = pd.DataFrame(table).replace({"NA": None, "N/A": None, "": None, "null": None})
    needed = ["customer age", "Ad", "Buy"] if missing == "drop" else ["Buy"]
    kept = clean.dropna(subset=needed)
    assert source.affected == (len(clean) - len(kept), int(kept.isna().any(axis=1).sum()))
    expected = kept["customer age"].map(bin_of, na_action="ignore").fillna("missing").value_counts()
    domains = problem(missing).domains
    found = dict(zip(domains["age"], count(source, [("age",)], domains)[("age",)], strict=True))
    assert {label: rows for label, rows in found.items() if rows} == expected.to_dict()


@pytest.mark.parametrize("kind", ["columns", "pandas", "polars", "duckdb", *ON_CLUSTERS])
def test_a_column_of_numbers_is_binned_where_it_is(kind: str, tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    ages = chance.uniform(0, 90, 20_000)
    ages[::10] = np.nan
    ages[1::10] = 45.0
    table = {"customer age": ages.tolist(), "Ad": [0] * 20_000, "Buy": [1] * 20_000}
    source = fit(open_source(SOURCES[kind](table, tmp_path)), problem("category"))
    inside = np.bincount(np.digitize(ages[~np.isnan(ages)], CUTS)).tolist()
    assert count(source, [("age",)], problem("category").domains)[("age",)].tolist() == [*inside, 2000]
    grouped = source.group(("age",))
    assert len(set(map(str, grouped.columns[0]))) == 4  # the bins and nothing, not every age


def test_a_log_of_ours_has_the_names_of_variables_and_is_read_as_well() -> None:
    rows = {"age": ["<30", ">=45"], "Ad": [0, 1], "Buy": [1, 1]}
    assert fit(open_source(rows), problem()).group(("age",)).codes("age", problem().domains["age"]).tolist() == [0, 2]


def test_an_infinite_number_is_refused() -> None:
    rows = {"customer age": [30.0, np.inf], "Ad": [0, 1], "Buy": [1, 1]}
    with pytest.raises(DataError, match=r"customer age has 1 row with the value 'inf' \(row 2\); the values of age"):
        db.effect(problem(), rows, do={"Ad": 1}, reward="Buy")


def test_the_effect_of_an_age_is_the_effect_of_its_bin() -> None:
    rows = {"customer age": [12, 31, 44, 50] * 5, "Ad": [0, 1] * 10, "Buy": [1, 0, 1, 1] * 5}
    by_number, by_bin = (db.effect(problem(), rows, do={"age": age}, reward="Buy") for age in (37, "30-45"))
    assert by_number == by_bin
    assert by_bin.mean == 0.5


FAULTY = """customer age,Ad,Buy,intervention
25,0,1,do()
old,1,0,do()
,1,1,do(Add=1)
old,maybe,2,do()
44,1,1,do(Adds
old,,,do()
"""
EXPECTED = """log.csv: 8 faults
  column intervention: do(Add=1) does not fit the problem: there is no variable Add; it has age, Ad and Buy \
(1 row, line 4)
  column intervention: 'do(Adds' is not an arm: write do(), do(X), do(X=value) or do(X=value, "Another name"=value) \
(1 row, line 6)
  column customer age has 1 row without a value (line 4)
  column customer age has 3 rows with the value 'old' (first in line 3); the values of age are numbers, or <30, 30-45 \
and >=45
  column Ad has 1 row without a value (line 7)
  column Ad has 1 row with the value 'maybe' (line 5); the values of Ad are 0 and 1
  column Buy has 1 row without a value (line 7)
  column Buy has 1 row with the value '2' (line 5); the values of Buy are 0 and 1
  fill missing values in, or say in the problem what to do: [data] missing = "drop" or "category\""""


def test_all_faults_of_a_file_come_at_once_with_column_value_rows_and_first_row(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(FAULTY, encoding="utf-8")
    with pytest.raises(DataError) as error:
        db.check_graph(problem(), log)
    assert str(error.value) == EXPECTED


def test_many_faults_are_cut_off() -> None:
    names = [f"X{i}" for i in range(15)]
    rows: dict[str, list[Any]] = {name: [*range(2, 20), 1, 1] for name in names} | {"Y": [1] * 20}
    with pytest.raises(DataError) as error:
        db.check_graph(db.Problem(f"{{{', '.join(names)}}} -> Y", "Y", 10), rows)
    lines = str(error.value).splitlines()
    assert lines[0] == "data: 15 faults"
    assert lines[-1] == "  and 5 more"
    assert lines[1].startswith("  column X0 has 18 rows with the values '2' (1 row, row 1), '3' (1 row, row 2)")
    assert "and 13 more; the values of X0 are 0 and 1; if it is a number, give its cut points in [bins]" in lines[1]


def test_missing_values_without_a_problem_are_named_for_all_columns(tmp_path: Path) -> None:
    log = _written({"X": ["1", None, "0"], "Y": [None, None, "1"]}, tmp_path / "log.csv")
    with pytest.raises(DataError) as error:
        db.effect("X -> Y", log, do={"X": 1}, reward="Y")
    assert "column X has 1 row without a value (line 3)" in str(error.value)
    assert "column Y has 2 rows without a value (first in line 2)" in str(error.value)


# -- the commands -------------------------------------------------------------------------------

TOML = """reward = "Buy"
objective = "simple"
budget = 60
[graph]
edges = "age -> {Ad, Buy}; Ad -> Buy"
[columns]
age = "customer age"
[bins]
age = [30, 45]
[data]
missing = "MISSING"
[world]
model = "random"
"""


@pytest.mark.parametrize("missing", ["refuse", "drop", "category"])
def test_every_command_reads_the_same_rows_and_counts_them(
    missing: str, tmp_path: Path, dobandit: Callable[..., Ran]
) -> None:
    chance = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "customer age": chance.choice(np.array([22.5, 30, 41, 70, np.nan]), 300),
            "Ad": chance.choice(["0", "1", "NA"], 300, p=[0.5, 0.4, 0.1]),
            "Buy": chance.choice(np.array([0, 1, np.nan]), 300, p=[0.6, 0.3, 0.1]),
        }
    )
    holes = frame.replace("NA", None).isna()
    dropped = {"refuse": 0, "drop": holes.any(axis=1).sum(), "category": holes["Buy"].sum()}[missing]
    category = (~holes["Buy"] & holes[["customer age", "Ad"]].any(axis=1)).sum() if missing == "category" else 0
    expected, rows = {"dropped": dropped, "category": category}, 300 - dropped
    file, log, study = tmp_path / "shop.toml", tmp_path / "log.csv", tmp_path / "study.db"
    file.write_text(TOML.replace("MISSING", missing), encoding="utf-8")
    frame.to_csv(log, index=False)
    assert dobandit("study", "init", study, file).code == 0
    commands = {
        "check": dobandit("check", file, "--data", log, "--json"),
        "effect": dobandit("effect", file, log, "--do", "Ad=1", "--json"),
        "run": dobandit("run", file, "--evidence", log, "--trials", 1, "--json"),
        "observe": dobandit("study", "observe", study, log, "--json"),
    }
    if missing == "refuse":
        assert all(result.code == 2 and not result.out for result in commands.values())
        wanted = [f"column {c} has {holes[c].sum()} rows without a value" for c in frame]
        assert all(sentence in result.err for sentence in wanted for result in commands.values())
        return
    answers = {name: json.loads(result.out) for name, result in commands.items()}
    assert {name: answer["missing"] for name, answer in answers.items()} == dict.fromkeys(answers, expected)
    assert answers["effect"]["effects"][0]["n"] == answers["observe"]["rows"] == rows


def test_tell_bins_numbers_reads_columns_and_counts_missing_values(
    tmp_path: Path, dobandit: Callable[..., Ran]
) -> None:
    file, study, told = tmp_path / "shop.toml", tmp_path / "study.db", tmp_path / "told.csv"
    file.write_text(TOML.replace("MISSING", "category"), encoding="utf-8")
    dobandit("study", "init", study, file)
    pulls = json.loads(dobandit("study", "ask", study, "-n", 3, "--json").out)["pulls"]
    ages = {"<30": 12, "30-45": 37.5, ">=45": 45}
    rows = [{"id": p["id"], "customer age": 30, "Ad": "NA", "Buy": 1} for p in pulls]
    for row, pull in zip(rows, pulls, strict=True):
        row |= {"customer age": ages[pull["set"]["age"]]} if "age" in pull["set"] else {}
        row |= {"Ad": pull["set"]["Ad"]} if "Ad" in pull["set"] else {}
    missing = [int(row["Ad"] == "NA") for row in rows]
    first = [f"{name.replace('customer age', 'age')}={value}" for name, value in rows[0].items() if name != "id"]
    answer = json.loads(dobandit("study", "tell", study, rows[0]["id"], *first, "--json").out)
    assert answer["missing"] == {"dropped": 0, "category": missing[0]}
    pd.DataFrame(rows[1:]).to_csv(told, index=False)
    answer = json.loads(dobandit("study", "tell", study, "--file", told, "--json").out)
    assert answer["missing"] == {"dropped": 0, "category": sum(missing[1:])}
    assert sum(missing) > 0
    with db.Study.open(study) as opened:
        assert all(row["age"] in BINS for row in opened.outcomes())
