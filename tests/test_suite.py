"""The benchmark: its worlds are what their definitions say, its trials are reproducible, its regret is fractional."""

from __future__ import annotations

import csv
import errno
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobandit
from dobandit import is_identifiable, simulate
from dobandit.arrays import Array
from dobandit.chance import generator
from dobandit.errors import DobanditError
from dobandit.graph import Graph
from dobandit.paper import PANELS, reproduce
from dobandit.policies import policies_for
from dobandit.problem import Arm, Problem
from dobandit.simulation import ARRAYS, Results, draw_costs
from dobandit.suite import WORLDS, Comparison, compare, find
from dobandit.suite.run import regret_of
from dobandit.worlds import World
from tests.conftest import Ran

Run = Callable[..., Ran]
GREENHOUSE = Path(dobandit.__file__).parent / "examples" / "networks" / "greenhouse.bif"
OWN_GRAPHS = [name for name, source in WORLDS.items() if not source.one_graph]


@cache
def drawn(name: str, count: int) -> list[World]:
    return [WORLDS[name].draw(generator(7, f"{name}:{i}"), i) for i in range(count)]


def acting(world: World) -> Graph:
    """The graph on Y and its ancestors."""
    return world.graph.subgraph({"Y", *world.graph.ancestors("Y")})


def settings(world: World) -> list[tuple[str, int]]:
    return [(v, x) for v in world.graph.variables if v != "Y" for x in range(len(world.domains[v]))]


def doing(world: World, variable: str, code: int) -> float:
    return float(world.distribution(["Y"], f"do({variable}={code})")[1])


def seeing(world: World, variable: str, code: int) -> tuple[float, float]:
    """E[Y | X=x] and P(X=x)."""
    joint = world.distribution([variable, "Y"])
    return float(joint[code, 1] / joint[code].sum()), float(joint[code].sum())


# -- the definitions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "largest", "card"), [("rand", 8, 2), ("bow", 8, 2), ("three-valued", 6, 3)])
def test_random_graphs_and_tables(name: str, largest: int, card: int) -> None:
    worlds = drawn(name, 60)
    assert {len(world.graph.variables) for world in worlds} == set(range(4, largest + 1))
    hidden_cards = set()
    for world in worlds:
        graph = world.graph
        assert graph.variables[-1] == "Y"
        assert all(len(graph.parents(v)) <= 3 for v in graph.variables)
        assert 1 <= len(graph.bidirected) <= 3
        assert len(acting(world).variables) >= 3
        assert acting(world).bidirected
        for node in world.nodes:
            if node.name in graph:
                assert node.card == (2 if node.name == "Y" else card)
                assert node.table.min() >= 0.02 / node.card - 1e-15
            else:
                hidden_cards.add(node.card)
                assert not node.inputs
    assert hidden_cards == {2, 3, 4}


@pytest.mark.parametrize("name", [name for name in OWN_GRAPHS if name != "structural"])
def test_bow_arcs_are_where_the_class_says(name: str) -> None:
    for world in drawn(name, 3 if name == "reversed" else 25):
        graph = acting(world)
        identifiable = [is_identifiable(graph, do=v, on="all") for v in graph.variables if v != "Y"]
        assert all(identifiable) != ("bow" in name)


@pytest.mark.parametrize("name", ["strong", "bow-strong"])
def test_seeing_misleads_where_confounding_is_strong(name: str) -> None:
    for world in drawn(name, 25):
        pairs = [(seeing(world, *setting), doing(world, *setting)) for setting in settings(world)]
        assert max(abs(seen - done) for (seen, p), done in pairs if p > 0.02) >= 0.2
        assert all(node.card == 2 for node in world.nodes)


def test_reversed_worlds_look_best_where_they_are_not() -> None:
    for world in drawn("reversed", 3):
        observed = float(world.distribution(["Y"])[1])
        done = [observed, *(doing(world, *setting) for setting in settings(world))]
        seen = [observed, *(seeing(world, *setting)[0] for setting in settings(world))]
        best, naive = int(np.argmax(done)), int(np.argmax(seen))
        assert done[best] - done[naive] >= 0.1
        assert seen[naive] - seen[best] >= 0.05


@pytest.mark.parametrize(("name", "probability", "gap"), [("rare", 0.02, 0.05), ("wide", 0.01, 0.0)])
def test_the_best_arm_sets_what_is_rarely_seen(name: str, probability: float, gap: float) -> None:
    for world in drawn(name, 25):
        means = {setting: doing(world, *setting) for setting in settings(world)}
        (variable, code), *others = sorted(means, key=means.__getitem__, reverse=True)
        rivals = [*(means[setting] for setting in others), float(world.distribution(["Y"])[1])]
        assert means[variable, code] - max(rivals) >= gap
        table = world.nodes[world.positions[variable]].table
        np.testing.assert_allclose(table[..., code], probability, atol=1e-12)


def test_wide_worlds_cycle_through_their_hidden_causes() -> None:
    worlds = drawn("wide", 10)
    pairs = [set(world.graph.bidirected) for world in worlds]
    assert pairs == 2 * [{("X1", "X2")}, {("X3", "X4")}, {("X4", "X6")}, {("X3", "X5")}, set()]
    assert all(len(world.graph.parents("Y")) == 6 for world in worlds)
    assert all(world.graph.directed >= {("X1", "X3"), ("X2", "X4"), ("X5", "X6")} for world in worlds)
    assert all(len(world.graph.directed) == 9 for world in worlds)


@pytest.mark.parametrize("n", [7, 50])
def test_parallel_worlds(n: int) -> None:
    (world,) = drawn(f"parallel-{n}", 1)
    assert len(world.graph.variables) == n + 1
    assert doing(world, "X1", 1) == pytest.approx(0.8)
    assert seeing(world, "X2", 1)[1] == pytest.approx(0.02)


# -- the trials ----------------------------------------------------------------------------------------


def by_arm(comparison: Comparison, values: Array) -> list[dict[str, float]]:
    """What is known about the arms of each trial; other trials may have other arms, which are NaN here."""
    rows = [dict(zip(comparison.arms, row, strict=True)) for row in values.tolist()]
    return [{arm: value for arm, value in row.items() if value == value} for row in rows]


def truth(comparison: Comparison) -> list[dict[str, float]]:
    return by_arm(comparison, comparison.means)


@pytest.mark.parametrize("world", ["rand", "n5"])
def test_a_trial_is_a_function_of_seed_class_and_number(world: str) -> None:
    two = compare(world, policies=["f-kube"], trials=2, budgets=[60])
    three = compare(world, policies=["f-kube", "ucb"], trials=3, budgets=[30, 60])
    assert truth(two) == truth(three)[:2]
    assert by_arm(two, two.prices) == by_arm(three, three.prices)[:2]
    pulls = [dict(zip(found.arms, row, strict=True)) for found in (two, three) for row in found.pulls["f-kube"][:2, -1]]
    for one, other in zip(pulls[:2], pulls[2:], strict=True):
        assert one.items() <= other.items()
        assert sum(one.values()) == sum(other.values())
    assert truth(two) == truth(compare(world, policies=["ucb"], trials=2, costs="57", budgets=[60]))
    assert truth(two) != truth(compare(world, policies=["f-kube"], trials=2, seed=1, budgets=[60]))


def test_all_kinds_of_costs_come_from_the_same_numbers() -> None:
    found = {}
    for kind in KINDS:
        comparison = compare("rand", policies=["ucb"], trials=3, costs=kind, budgets=[20])
        found[kind] = [list(row.values()) for row in by_arm(comparison, comparison.prices)]
    for trial, near in enumerate(found["near"]):
        luck = [(c - 1) / 0.3 for c in near[1:]]
        assert near[0] == 1
        assert all(0 <= u < 1 for u in luck)
        for kind, values in KINDS.items():
            if kind != "near":
                assert found[kind][trial] == [1, *(values[int(u * len(values) + 1e-9)] for u in luck)]


KINDS: dict[str, Sequence[float]] = {
    "near": (),
    "23": (2, 3),
    "25": (2, 3, 4, 5),
    "57": (5, 6, 7),
    "high": (5, 6, 7, 8, 9, 10),
}


def test_workers_change_nothing() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for world in ("bow", "n6h"):
            alone = compare(world, policies=["f-kube", "paper-cumulative"], trials=3, budgets=[80])
            together = compare(world, policies=["f-kube", "paper-cumulative"], trials=3, budgets=[80], executor=pool)
            assert alone.summary() == together.summary()


def test_results_of_a_simulation_the_suite_and_a_reproduction_have_one_shape(tmp_path: Path) -> None:
    """Also where every trial of the suite has a graph, and so arms, of its own."""
    names = ["f-kube", "ucb"]
    panel = replace(PANELS["fig8-budget"], grid=(30.0, 60.0))
    run = simulate(panel.problem(), panel.experiment.world(), names, 3, budgets=panel.grid)
    (again,) = reproduce([panel], 3, names, workers=1)
    suite = compare("bow", policies=names, trials=3, budgets=panel.grid, seed=1)
    for found in (run, again, suite):
        assert isinstance(found, Results)
        assert found.policies == tuple(names)
        assert (found.trials, found.axis, found.grid) == (3, "budget", panel.grid)
        assert [list(row) for row in found.summary()] == [["policy", "budget", "regret", "se", "spent", "rounds"]] * 4
        columns = found.columns()
        assert list(columns)[:6] == ["policy", "trial", "budget", "regret", "spent", "recommended"]
        assert list(columns)[6:] == [f"pulls {arm}" for arm in found.arms]
        assert columns["regret"].tolist() == [r for name in names for r in found.regret[name].ravel().tolist()]
        found.write(tmp_path / "results.csv")
        assert (tmp_path / "results.csv").read_text(encoding="utf-8").count("\n") == 1 + 2 * 3 * 2
    for name in names:
        np.testing.assert_array_equal(again.regret[name], run.regret[name])
        np.testing.assert_array_equal(again.pulls[name], run.pulls[name])
        prices = np.nan_to_num(suite.prices)[:, np.newaxis]  # an arm that a trial lacks is never pulled in it
        np.testing.assert_allclose(suite.spent[name], (suite.pulls[name] * prices).sum(axis=2))
        assert np.isfinite(np.take_along_axis(suite.means, suite.recommended[name], axis=1)).all()
    assert np.isnan(suite.means).any()


def test_policies_can_be_told_a_wrong_graph() -> None:
    right, wrong = (
        compare("n6h", policies=["paper-cumulative"], trials=4, budgets=[300], drop_hidden=drop)
        for drop in (False, True)
    )
    assert truth(right) == truth(wrong)
    assert right.summary() != wrong.summary()


# -- regret --------------------------------------------------------------------------------------------


def test_regret_is_against_the_fractional_optimum() -> None:
    means, prices = np.array([[0.5, 0.4, 0.9]]), np.array([[1.0, 2.0, 2.0]])
    pulls, recommended = np.array([[[1.0, 0.0, 2.0], [4.0, 1.0, 2.0]]]), np.array([[2, 0]])
    cumulative = replace(made((5.0, 10.0)), pulls={"p": pulls}, recommended={"p": recommended})
    np.testing.assert_allclose(regret_of(cumulative, "p", means, prices), [[5 * 0.5 - 2.3, 10 * 0.5 - 4.2]])
    simple = replace(cumulative, objective="simple")
    np.testing.assert_allclose(regret_of(simple, "p", means, prices), [[0, 0.4]])


def test_the_gap_is_between_the_two_best_ratios_of_the_arms_that_a_trial_has() -> None:
    means = np.array([[0.5, 0.4, 0.9], [0.5, 0.4, np.nan], [0.5, np.nan, np.nan]])
    prices = np.array([[1.0, 2.0, 2.0]] * 3)
    np.testing.assert_allclose(replace(made((5.0,)), means=means, prices=prices).gaps, [0.05, 0.3, np.nan])


def made(grid: tuple[float, ...], **regret: list[list[float]]) -> Comparison:
    """A comparison of which only this is known."""
    known: dict[str, Any] = {field: {} for field in (*ARRAYS, "independencies")}
    known |= {"regret": {name: np.array(found) for name, found in regret.items()}}
    known |= {"means": np.zeros((1, 0)), "prices": np.zeros((1, 0)), "arms": (), "optimum": "fractional"}
    return Comparison(objective="cumulative", axis="budget", grid=grid, world="w", costs="57", **known)


def test_a_single_arm_has_no_gap_and_no_regret(dobandit: Run, tmp_path: Path) -> None:
    world = f"{GREENHOUSE}?reward=harvest&hide=season,sunlight,heating,watering,soil,pests,health"
    ran = dobandit("suite", world, "--policy", "ucb", "--trials", 2, "--budget", 9, "--workers", 1, "--out", tmp_path)
    assert ran.code == 0, ran.err
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["recommended"], float(line["regret"]), line["gap"]) for line in lines] == [("do()", 0, "nan")] * 2


def test_regret_agrees_with_a_simulation_of_the_same_trial() -> None:
    comparison = compare("rand", policies=["thompson"], trials=1, budgets=[100, 300])
    seed = int(generator(0, "suite:rand:0").integers(2**53))
    world = WORLDS["rand"].draw(generator(seed, "world"), 0)
    problem = Problem(world.graph, "Y", budget=300, default_cost={"uniform": [1, 1.3]})
    results = simulate(problem, world, ["thompson"], trials=1, seed=seed, budgets=[100, 300])
    assert results.optimum == comparison.optimum == "fractional"
    np.testing.assert_allclose(comparison.regret["thompson"], results.regret["thompson"], atol=1e-9)
    np.testing.assert_array_equal(comparison.prices, draw_costs([problem], seed))


def test_the_budget_from_which_regret_stays_small() -> None:
    grid = (10.0, 20.0, 40.0)
    assert made(grid, p=[[0.0, 0.2, 0.005]]).settled("p", 0.01) == 40
    assert made(grid, p=[[0.0, 0.0, 0.0]]).settled("p", 0.01) == 10
    assert made(grid, p=[[0.0, 0.0, 0.1]]).settled("p", 0.01) is None
    assert made(grid, p=[[0.1, 0.0, 0.0], [0.0, 0.0, 0.0]]).settled("p", 0.06) == 10


# -- networks ------------------------------------------------------------------------------------------


def test_a_network_is_a_benchmark() -> None:
    source = find(f"{GREENHOUSE}?hide=season,soil&reward=harvest")
    world = source.draw(generator(0, ""), 0)
    assert {"season", "soil"}.isdisjoint(world.graph.variables)
    assert world.graph.bidirected
    assert world.domains["harvest"] == ("0", "1")
    comparison = compare(source.name, policies=["f-kube"], trials=2, budgets=[50])
    first, second = comparison.means
    np.testing.assert_array_equal(first, second)
    assert comparison.prices[0].tolist() != comparison.prices[1].tolist()
    problem = Problem(world.graph, "harvest", budget=1, domains=world.domains)
    np.testing.assert_allclose(first, world.means(problem))


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", "which variable is the reward"),
        ("?hide=season", "which variable is the reward"),
        ("?reward=", "which variable is the reward"),
        ("?harvest", "hide=A,B&reward=Y"),
        ("?rewrd=harvest", "did you mean reward?"),
        ("?reward=harvst", "did you mean harvest?"),
        ("?reward=harvest&hide=sesson", "did you mean season?"),
        ("?reward=harvest&hide=harvest", "must not be hidden"),
        ("?reward=harvest&hide=season&hide=soil", "is given twice"),
    ],
)
def test_networks_that_are_asked_for_wrongly(query: str, sentence: str) -> None:
    with pytest.raises(DobanditError) as error:
        find(f"{GREENHOUSE}{query}")
    assert sentence in str(error.value)


# -- the command ---------------------------------------------------------------------------------------


def test_suite_answers_in_json(dobandit: Run) -> None:
    ran = dobandit(
        *("suite", "n5", "strong", "--policy", "thompson", "--policy", "f-kube", "--workers", 1),
        *("--trials", 2, "--budget", 40, "--budget", 20, "--costs", "57", "--seed", 3, "--json"),
    )
    assert ran.code == 0, ran.err
    assert ran.err == ""
    rows = json.loads(ran.out)["results"]
    assert [(r["world"], r["policy"], r["budget"]) for r in rows] == [
        (world, policy, budget)
        for world in ("n5", "strong")
        for policy in ("thompson", "f-kube")
        for budget in (20, 40)
    ]
    for row in rows:
        assert set(row) == set("world objective costs policy budget regret se trials optimum".split())
        assert (row["objective"], row["costs"], row["trials"], row["optimum"]) == ("cumulative", "57", 2, "fractional")
    expected = compare("strong", costs="57", policies=["thompson"], trials=2, budgets=[20, 40], seed=3)
    assert [r["regret"] for r in rows[4:6]] == [row["regret"] for row in expected.summary()]


def test_a_world_counts_once_however_it_is_written_and_all_policies_are_all(dobandit: Run) -> None:
    few = ("--trials", 1, "--budget", 20, "--workers", 1, "--json")
    ran = dobandit("suite", "n5", "N5", "--policy", "all", *few)
    assert ran.code == 0, ran.err
    assert [(r["world"], r["policy"]) for r in json.loads(ran.out)["results"]] == [
        ("n5", name) for name in policies_for("cumulative")
    ]


def test_suite_shows_tables_and_writes_files(dobandit: Run, tmp_path: Path) -> None:
    arguments = ("suite", "n6", "--policy", "ucb", "--policy", "f-kube", "--trials", 2, "--workers", 1)
    ran = dobandit(*arguments, "--budget", 30, "--budget", 60, "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert "costs 23" in ran.out
    assert all(name in ran.out for name in ("n6", "ucb", "f-kube", "B = 30", "B = 60"))
    assert ran.out.count("*") - ran.out.count("* the") in (2, 3, 4)  # the best of each budget; ties share it
    with (tmp_path / "out" / "results.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 2 * 2 * 2
    assert all(float(line["spent"]) <= float(line["budget"]) for line in lines)
    assert (tmp_path / "out" / "n6.png").read_bytes().startswith(b"\x89PNG")
    assert "f-kube" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run: who gets as far as that is too late."""

    def too_late(*_: object, **__: object) -> None:
        raise AssertionError("this ran before the mistake was told")

    monkeypatch.setattr("dobandit.cli.suite.compare", too_late)
    monkeypatch.setattr("dobandit.cli.run.simulate", too_late)


@pytest.fixture(params=["suite", "run"])
def compares(request: pytest.FixtureRequest, dobandit: Run, tmp_path: Path) -> list[object]:
    """A quick command that compares policies, but for its options; both say the same about --out."""
    if request.param == "run":
        dobandit("init", tmp_path / "p.toml", "--example", "paper-n6")
    world = "n5" if request.param == "suite" else tmp_path / "p.toml"
    return [request.param, world, "--trials", 2, "--budget", 20, "--budget", 30, "--workers", 1]


@pytest.mark.usefixtures("idle")
def test_out_is_tried_before_the_work(
    dobandit: Run, compares: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for out in (file, file / "folder"):
        ran = dobandit(*compares, "--policy", "ucb", "--out", out)
        assert (ran.code, ran.out) == (5, "")
        assert f"{out}: cannot be written: a file is in the way" in ran.err
    assert file.read_text() == "mine"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = dobandit(*compares, "--policy", "ucb", "--out", tmp_path / "new")
    assert (ran.code, ran.out) == (2, "")
    assert "needs matplotlib" in ran.err
    assert not (tmp_path / "new").exists()


def test_work_that_fails_leaves_no_folder(dobandit: Run, compares: list[object], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for out in (tmp_path / "mine", tmp_path / "new" / "deep"):
        assert dobandit(*compares, "--policy", "srm", "--policy", "ucb", "--out", out).code == 2
    assert (tmp_path / "mine").is_dir()
    assert not (tmp_path / "new").exists()


def test_what_was_found_is_shown_though_it_cannot_be_kept(
    dobandit: Run, compares: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    ran = dobandit(*compares, "--policy", "ucb", "--out", tmp_path / "out")
    assert ran.code == 5
    assert "no space left on device" in ran.err
    assert "ucb" in ran.out
    ran = dobandit(*compares, "--policy", "ucb", "--out", tmp_path / "out", "--json")
    assert (ran.code, ran.out) == (5, "")


def test_a_network_is_named_by_its_file_and_says_what_its_reward_counts(dobandit: Run, tmp_path: Path) -> None:
    worlds = []
    for folder in ("a", "b"):  # two networks of the same name
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.bif").write_bytes(GREENHOUSE.read_bytes())
        worlds.append(f"{tmp_path / folder / 'net.bif'}?reward=health")
    arguments = ("suite", *worlds, "--policy", "ucb", "--trials", 1, "--budget", 9, "--budget", 10, "--workers", 1)
    ran = dobandit(*arguments, "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert ran.err.count("note: net.bif: health counts as poor = 0, fair = 0.5 and good = 1;") == 1
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {
        "net.bif-reward-health.png",
        "net.bif-reward-health-2.png",
    }
    assert str(tmp_path) not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    numbers = tmp_path / "numbers.bif"
    numbers.write_text(GREENHOUSE.read_text().replace("poor", "1").replace("fair", "2").replace("good", "3"))
    assert dobandit("suite", f"{numbers}?reward=health", *arguments[3:]).err == ""


def test_help_explains_every_name(dobandit: Run) -> None:
    words = " ".join(dobandit("suite", "--help").out.split())
    for source in WORLDS.values():
        assert f"{source.name} {source.about}" in words
    for costs in (
        "near between 1 and 1.3; default for cumulative regret",
        "23 one of 2, 3; default for",
        "high one of",
    ):
        assert costs in words
    assert "2,500 (cumulative), 18 from 25 to 6,400 (simple)" in words
    assert "FILE.bif?hide=A,B&reward=Y" in words


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rnd"], "did you mean rand"),
        (["parallel7"], "did you mean parallel-7"),
        (["nowhere.bif?reward=Y"], "nowhere.bif"),
        (["n5", "--policy", "f-kub"], "did you mean f-kube"),
        (["n5", "--policy", "f-kube", "--policy", "F_KUBE"], "twice"),
        (["n5", "--policy", "f-kube", "--objective", "simple"], "is for cumulative regret"),
        (["n5", "--costs", "cheap"], "'cheap'"),
        (["n5", "--budget", "0"], "--budget"),
        (["n5", "--trials", "0"], "--trials"),
    ],
)
def test_suite_refuses_in_a_sentence(dobandit: Run, arguments: list[str], sentence: str) -> None:
    ran = dobandit("suite", *arguments, "--workers", 1)
    assert ran.code == 2
    assert ran.out == ""
    assert sentence in ran.err
    assert "Traceback" not in ran.err


def test_sets_of_variables_and_costs_of_one() -> None:
    """The published numbers of arms: every variable is left alone or set to one of two values."""
    for name, arms in (("structural-iv", 9), ("structural-markovian", 81), ("structural-six", 243)):
        found = compare(name, policies=["thompson[arms=pomis]"], budgets=[20], trials=1)
        assert (len(found.arms), set(found.prices.ravel().tolist())) == (arms, {1.0})
    found = compare("pairs", costs="unit", budgets=[30], trials=1)
    assert set(found.regret) == {"causal-thompson", "thompson", "f-kube", "ucb"}
    settable = {v for arm in found.arms for v in Arm.parse(arm).variables}
    assert max(len(Arm.parse(arm).variables) for arm in found.arms) == 2
    assert len(settable) <= 5
