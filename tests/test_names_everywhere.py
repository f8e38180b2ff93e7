"""Names as people have them, through everything: problem files, logs, effects, simulations, studies and figures."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import dobandit as db
from dobandit.errors import DataError, ProblemError
from dobandit.graph import Graph
from dobandit.problem import RewardLike
from tests.conftest import Ran
from tests.frames import ON_CLUSTERS

Run = Callable[..., Ran]
PROBLEM = """
budget = 60
reward = "価格"
[graph]
edges = '''
"Customer segment" -> {Größe, "a=b, c"}; Größe -> "a=b, c" -> 価格
"Customer segment" <-> 価格
'''
[domains]
"Customer segment" = ["young", "old, rich", "a=b"]
"Größe" = ["klein", "groß"]
[costs]
default = 2
'do("Customer segment")' = 3
"do(\\"a=b, c\\"=1)" = 5
[world]
model = "random"
seed = 1
"""
OUTCOME = ('"Customer segment"="old, rich"', "Größe=klein", '"a=b, c"=1', "価格=1")
VARIABLES = ("Customer segment", "Größe", "a=b, c", "価格")
SPLIT = "Gro\u0308ße"  # the same name with another composition of its letters


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    file = tmp_path / "problem.toml"
    file.write_text(PROBLEM, encoding="utf-8")
    return file


@pytest.fixture
def log(dobandit: Run, problem: Path, tmp_path: Path) -> Path:
    assert dobandit("sample", problem, tmp_path / "log.csv", "--rows", 300).code == 0
    return tmp_path / "log.csv"


def test_a_problem_and_its_log(dobandit: Run, problem: Path, log: Path, tmp_path: Path) -> None:
    loaded = db.Problem.load(problem)
    assert loaded.graph.variables == VARIABLES
    costs = dict(zip(map(str, loaded.arms), loaded.costs, strict=True))
    assert costs['do("Customer segment"="old, rich")'] == 3
    assert costs['do("a=b, c"=1)'] == 5
    shown = dobandit("check", problem, "--data", log, "--plot", tmp_path / "graph.svg").out
    assert 'do("Customer segment")' in shown
    assert 'Größe ⫫ 価格 | "Customer segment", "a=b, c"' in shown
    drawn = "".join(ElementTree.parse(tmp_path / "graph.svg").getroot().itertext())
    assert "価格" in drawn  # no font here need have it: it is written as text
    ran = dobandit("effect", problem, log, "--do", '"Customer segment"="old, rich"', "--json")
    assert json.loads(ran.out)["effects"][0]["arm"] == 'do("Customer segment"="old, rich")'
    assert dobandit("effect", problem, log, "--all").code == 0
    assert dobandit("run", problem, "--trials", 2, "--policy", "causal-thompson", "--evidence", log).code == 0


def test_a_whole_study(dobandit: Run, problem: Path, log: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.db"
    for arguments in (
        ("init", study, problem),
        ("ask", study),
        ("tell", study, 1, *OUTCOME),
        ("observe", study, log),
        ("record", study, 'do("a=b, c"=1)', *OUTCOME),
        ("amend", study, 1, '"a=b, c"=0'),
        ("status", study),
        ("best", study),
        ("explain", study, 1),
        ("export", study, tmp_path / "out.csv"),
        ("plot", study, "--out", tmp_path / "plot.svg"),
    ):
        ran = dobandit("study", *arguments)
        assert ran.code == 0, (arguments, ran.err)
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        told, recorded = csv.DictReader(file)
    assert {v: told[v] for v in VARIABLES} == dict(zip(VARIABLES, ("old, rich", "klein", "0", "1"), strict=True))
    assert recorded["intervention"] == 'do("a=b, c"=1)'
    assert '"Customer segment"="old, rich"' in dobandit("study", "log", study).out
    refused = dobandit("study", "tell", study, 1, "a=b, c=1").err
    assert 'send "Customer segment"=young|"old, rich"|a=b Größe=klein|groß "a=b, c"=0|1 価格=0|1' in refused
    again = tmp_path / "again.db"
    assert dobandit("study", "init", again, problem).code == 0
    assert dobandit("study", "observe", again, tmp_path / "out.csv").code == 0  # what is exported can be read


def test_faults_of_a_file_have_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "problem.toml"
    wrong = PROBLEM.replace('"Größe" =', '"Grösse" =').replace('\\"a=b, c\\"=1', '\\"a=b, c\\"=7')
    file.write_text(wrong, encoding="utf-8")
    with pytest.raises(ProblemError) as caught:
        db.Problem.load(file)
    first, second = str(caught.value).splitlines()
    told = 'domains."Grösse": there is no variable Grösse in the graph; did you mean Größe?'
    assert first.startswith(f"{file}, line 11: {told}")
    assert second.startswith(f'{file}, line 15: costs."do(\\"a=b, c\\"=7)": ')


def test_names_compare_in_their_normal_form_everywhere() -> None:
    graph, rows = Graph(f"{SPLIT} -> Y"), {"Größe": [0, 1, 1, 0], "Y": [0, 1, 1, 0]}
    split = {SPLIT: rows["Größe"], "Y": rows["Y"]}
    assert db.is_identifiable(graph, do=SPLIT, on="Y")
    for data in (rows, split):
        assert db.effect(graph, data, do={SPLIT: 1}, reward="Y").mean == 1
    problem = db.Problem(
        graph,
        "Y",
        9,
        costs={f"do({SPLIT}=gro\u0308ß)": 3},
        domains={SPLIT: ["klein", "gro\u0308ß"]},
        intervenable=[SPLIT],
    )
    assert dict(zip(map(str, problem.arms), problem.costs, strict=True))["do(Größe=größ)"] == 3
    study = db.Study.create(":memory:", problem)
    study.tell(study.ask()[0].id, {SPLIT: "gro\u0308ß", "Y": 1})
    study.observe({SPLIT: ["klein"], "Y": [0]}, name="log")
    tables = {SPLIT: ([], [0.5, 0.5]), "Y": ([SPLIT], [[1, 0], [0, 1]])}
    assert db.worlds.from_tables(graph, tables).means(db.Problem(graph, "Y", 9)).tolist() == [0.5, 0, 1]


def test_columns_of_frames_and_files(tmp_path: Path) -> None:
    import pandas as pd

    problem = db.Problem("Größe -> Y", "Y", 9)
    frame = pd.DataFrame({SPLIT: [0, 1, 1, 0], "Y": [0, 1, 1, 0]})
    frame.to_csv(tmp_path / "log.csv", index=False)
    for data in (frame, str(tmp_path / "log.csv")):
        assert db.effect(problem, data, do={"Größe": 1}, reward="Y").mean == 1


@pytest.mark.parametrize("name", ["Sepal.Length", "a.b.c", '"x"', 'a."b"', "`x`", "*", "x.1", "'x'"])
def test_columns_that_a_database_takes_for_something_else(name: str, tmp_path: Path) -> None:
    import duckdb
    import pandas as pd

    frame = pd.DataFrame({name: [0, 1, 1, 7], f"{name} n": [1, 1, 2, 1], "Y": [0.5, 1, 4, 0]})
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    graph = Graph.from_edges([(name, "Y")])
    reward: RewardLike = {"variable": "Y", "range": [0, 10]}
    right = db.Problem(graph, reward, 9, domains={name: [0, 1, 7]}, missing="drop")
    elsewhere = (
        made({str(column): list(frame[column]) for column in frame}, tmp_path) for made in ON_CLUSTERS.values()
    )
    for data in (str(tmp_path / "log.csv"), str(tmp_path / "log.parquet"), duckdb.from_df(frame), *elsewhere):
        assert db.effect(right, data, do={name: 1}, reward="Y").mean == 2.5
        assert db.effect(right, data, do={name: 1}, reward="Y", weights=f"{name} n").mean == 3
        with pytest.raises(DataError) as caught:
            db.effect(db.Problem(graph, reward, 9), data, do={name: 1}, reward="Y")
        assert f"column {name} has 1 row with the value '7'" in str(caught.value)


@pytest.mark.parametrize("name", ["$x$", "a_b^c", "<b>&amp;", "[bold]x", "[/]", "`x`", "a|b", "x\\n", ":smile:"])
def test_no_name_is_taken_for_markup(dobandit: Run, name: str, tmp_path: Path) -> None:
    graph = Graph.from_edges([(name, "Y")])
    quoted = graph.to_text().split(" -> ")[0]
    file = tmp_path / "problem.toml"
    file.write_text(f"budget = 20\nreward = 'Y'\n[graph]\nedges = '''{graph.to_text()}'''\n[world]\nmodel = 'xor'\n")
    shown = dobandit("check", file, "--plot", tmp_path / "graph.svg")
    assert shown.code == 0
    assert f"do({quoted})" in shown.out
    ElementTree.parse(tmp_path / "graph.svg")
    log = tmp_path / "log.csv"
    assert dobandit("sample", file, log, "--rows", 50).code == 0
    assert f"do({quoted}=1)" in dobandit("effect", file, log, "--do", f"{quoted}=1").out
    turned = tmp_path / "turned.toml"  # as the reward
    text = Graph.from_edges([("Y", name)]).to_text()
    key = json.dumps(name)
    turned.write_text(f"budget = 20\nreward = {key}\n[graph]\nedges = '''{text}'''\n[world]\nmodel = 'xor'\n")
    assert f"Make {name} large" in dobandit("check", turned).out
    assert dobandit("sample", turned, tmp_path / "turned.csv", "--rows", 50).code == 0
    assert f"mean {name}" in dobandit("effect", turned, tmp_path / "turned.csv", "--all").out
    assert dobandit("run", turned, "--trials", 2, "--policy", "ucb", "--out", tmp_path / "out").code == 0


def test_letters_that_no_font_has_are_told_once(problem: Path, tmp_path: Path) -> None:
    from dobandit.plots import graph_figure, save

    figure = graph_figure(["X", "\U0001f9ff"], [("X", "\U0001f9ff")], [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(figure, tmp_path / "graph.svg")
    with pytest.warns(UserWarning, match="the font of the figure lacks some letters of your names") as told:
        save(figure, tmp_path / "graph.png")
    assert len(told) == 1
    assert np.isfinite(figure.get_figwidth())
