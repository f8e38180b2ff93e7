"""Worlds as values, the doors through which they come, and what those doors refuse."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dobandit.errors import DobanditError, FileError, GraphError, ProblemError, UnknownVariable
from dobandit.graph import Graph
from dobandit.problem import Problem
from dobandit.worlds import Node, World, WorldError, from_tables, of, parallel, random, xor
from tests import named_graphs as named

BOW_TABLES: dict[str, Any] = {
    "X": (["U"], [[0.9, 0.1], [0.2, 0.8]]),
    "Y": (["X", "U"], [[[0.7, 0.3], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9]]]),
}
BOW_HIDDEN: dict[str, Any] = {"U": ([0.4, 0.6], ["X", "Y"])}

# -- being a value -----------------------------------------------------------------------------


def test_a_world_cannot_be_changed() -> None:
    world = xor("X -> Y", seed=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        world.graph = Graph("X")  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        world.nodes[0].table[0, 0] = 1


def test_the_same_seed_gives_the_same_world() -> None:
    for make in (xor, random):
        one, same, other = (make(named.FIG7, seed) for seed in (1, 1, 2))
        assert all((a.table == b.table).all() for a, b in zip(one.nodes, same.nodes, strict=True))
        assert any((a.table != b.table).any() for a, b in zip(one.nodes, other.nodes, strict=True))


def test_stacking_and_taking_apart() -> None:
    worlds = [random(named.FIG7, seed) for seed in range(4)]
    batch = World.stack(worlds)
    assert (batch.trials, worlds[0].trials) == (4, 1)
    assert batch.graph == named.FIG7
    for i, world in enumerate(worlds):
        assert all((a.table == b.table).all() for a, b in zip(batch.trial(i).nodes, world.nodes, strict=True))
    assert World.stack([batch, worlds[0]]).trials == 5
    assert batch.distribution(["X1", "Y"]).shape == (4, 2, 2)
    with pytest.raises(WorldError, match="at least one world"):
        World.stack([])
    with pytest.raises(WorldError, match="world 1 differs from world 0"):
        World.stack([xor("X -> Y", 0), xor("Y -> X", 0)])
    with pytest.raises(WorldError, match="world 1 differs from world 0"):
        World.stack([random("X -> Y", 0), random("X -> Y", 0, {"X": [0, 1, 2]})])


def test_a_world_reads_like_what_it_is() -> None:
    assert repr(random("X -> Y; X <-> Y", seed=0)) == "<World: X and Y, 1 hidden>"


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([Node("X", (), np.ones((1, 1))), Node("X", (), np.ones((1, 1)))], "X is listed twice"),
        ([Node("X", ("Y",), np.ones((1, 2, 1)))], "X reads Y, which is not a variable that comes before it"),
        ([Node("X", (), np.ones((1, 2, 1)))], r"the table of X has the shape \(1, 2, 1\), not \(1, number of"),
        ([Node("X", (), np.ones((1, 1)))], "X has 2 values, but its table has 1"),
        ([Node("X", (), np.full((3, 2), 0.4))], "the table of X, trial 0: the probabilities sum to 0.8, not to 1"),
        ([Node("Y", (), np.full((1, 2), 0.5))], "X has 2 values, but its table has 0"),
    ],
)
def test_nodes_that_are_no_world(nodes: list[Node], message: str) -> None:
    with pytest.raises(WorldError, match=message):
        World(Graph("X"), tuple(nodes), {"X": ("0", "1")})


def test_the_values_are_those_of_the_variables_of_the_graph() -> None:
    with pytest.raises(WorldError, match="the variables with values are not those of the graph"):
        World(Graph("X"), (Node("X", (), np.ones((1, 1))),), {"Z": ("0",)})


# -- families ----------------------------------------------------------------------------------


def test_a_table_that_no_memory_holds_is_refused() -> None:
    for make in (xor, random):
        with pytest.raises(WorldError, match=r"the table of Y would have 10\^15 cells, since it reads 50 variables"):
            make(named.PARALLEL, 0)


def test_graphs_may_be_texts() -> None:
    assert xor("X -> Y", seed=0).graph == random("X -> Y", seed=0).graph == Graph("X -> Y")
    with pytest.raises(GraphError):
        xor("X ->", seed=0)


def test_parallel_with_chances_of_its_own() -> None:
    world = parallel(n=3, p=[0.25, 0.5, 1], epsilon=0.3)
    assert world.distribution(["Y"], "do(X1=0)").tolist() == pytest.approx([0.6, 0.4])
    assert world.distribution(["Y"]).tolist() == pytest.approx([0.5, 0.5])
    assert parallel(n=1).graph == Graph("X1 -> Y")
    assert parallel(n=2, p=[0, 0.5]).distribution(["Y"], "do(X1=1)").tolist() == pytest.approx([0.2, 0.8])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parallel(n=0), "n: expected a number of variables, at least 1 and at most 100000, not 0"),
        (lambda: parallel(n=2.5), "n: expected a number of variables"),  # type: ignore[arg-type]
        (lambda: parallel(n=3, p=[0.5]), "p: expected 3 probabilities, one for each of X1, X2, ..., not 1"),
        (lambda: parallel(n=2, p=0.5), "p: expected 2 probabilities"),  # type: ignore[arg-type]
        (lambda: parallel(n=2, p=[0.5, 1.5]), "p: the probability of X2 is a number from 0 to 1, not 1.5"),
        (lambda: parallel(n=1, p=[float("nan")]), "p: the probability of X1 is a number from 0 to 1, not nan"),
        (lambda: parallel(epsilon=0.6), "epsilon: with p1 = 0.02, 0.5 .* which 0.6 does not give"),
        (lambda: parallel(n=1, p=[1], epsilon=0.1), "epsilon: with p1 = 1"),
        (lambda: parallel(n=1, p=[0.9], epsilon=0.3), "epsilon: with p1 = 0.9"),
        (lambda: random("X", 0, concentration=0), "concentration: expected a positive number, not 0"),
        (lambda: random("X", 0, {"Q": [0, 1]}), "there is no variable 'Q' in the graph"),
        (lambda: random("X", 0, {"X": "ab"}), "domains: expected a list of the values of X, not 'ab'"),
        (lambda: random("X", 0, {"X": [1, "1.0"]}), "domains: X needs values that differ by their text, not 1 and 1"),
        (lambda: random("X", 0, {"X": []}), "domains: X needs values"),
        (lambda: random("X", 0, ["X"]), "domains: expected a mapping"),  # type: ignore[arg-type]
    ],
)
def test_parameters_that_make_no_world(call: Callable[[], World], message: str) -> None:
    with pytest.raises(DobanditError, match=message):
        call()


def test_concentration_makes_mechanisms_sharp_or_noisy() -> None:
    sharp, noisy = (random(named.FIG6, 0, concentration=c).nodes[-1].table for c in (0.01, 1000))
    assert np.abs(sharp - 0.5).min() > 0.4
    assert np.abs(noisy - 0.5).max() < 0.1


# -- tables ------------------------------------------------------------------------------------


def test_tables_with_names_for_the_values() -> None:
    world = from_tables(named.BOW, BOW_TABLES, BOW_HIDDEN, {"X": ["off", "on"]})
    assert world.domains == {"X": ("off", "on"), "Y": ("0", "1")}
    assert world.distribution(["Y"], "do(X=on)").tolist() == pytest.approx([0.22, 0.78])
    assert from_tables("X", {"X": ([], [0.5, 0.5])}).graph == Graph("X")


def test_rows_are_scaled_to_one() -> None:
    world = from_tables("X", {"X": ([], [0.3333333, 0.3333333, 0.3333333])})
    assert world.nodes[0].table.sum() == pytest.approx(1, abs=1e-15)


def with_x(entry: object) -> Callable[[], World]:
    return lambda: from_tables(named.BOW, {**BOW_TABLES, "X": entry}, BOW_HIDDEN)  # type: ignore[dict-item]


def with_u(entry: object, graph: Graph = named.BOW, **more: Any) -> Callable[[], World]:
    return lambda: from_tables(graph, BOW_TABLES, {"U": entry, **more})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_tables("X -> Y", {"X": ([], [1, 0])}), "there is no table for Y"),
        (lambda: from_tables("X", {"X": ([], [1, 0]), "Z": ([], [1, 0])}), "a table for Z, which is not a variable"),
        (with_x([0.5, 0.5, 0.5]), r"the table of X is a pair \(inputs, array\)"),
        (with_x(("U", [[1, 0], [0, 1]])), "the inputs of X: expected a list of names, not 'U'"),
        (with_x((["U", "U"], [[1, 0], [0, 1]])), "the inputs of X: expected different names"),
        (with_x((["Q"], [[1, 0], [0, 1]])), "the table of X reads Q, which is neither in the graph nor hidden"),
        (with_x((["Y"], [[1, 0], [0, 1]])), "the table of X reads Y, but the graph has no edge Y -> X"),
        (with_x(([], [1, 0])), "U has the children X and Y, but Y read it"),
        (with_x((["U"], [1, 0])), r"the table of X has the shape \(2,\), but its axes U and X need \(2, 2\)"),
        (with_x((["U"], [[1, 0], [0, 1], [0, 1]])), r"the table of X has the shape \(3, 2\)"),
        (with_x((["U"], [[1, 0], [1]])), "the table of X: expected numbers in lists of equal lengths"),
        (with_x((["U"], [["a", "b"], [0, 1]])), "the table of X: expected numbers in lists"),
        (with_x((["U"], 0.5)), "the table of X: expected numbers in lists"),
        (with_x((["U"], [])), "the table of X: expected numbers in lists"),
        (with_x((["U"], [[1, 0], [0.5, 0.4]])), "the table of X, row U=1: the probabilities sum to 0.9, not to 1"),
        (with_x((["U"], [[1, 0], [1.5, -0.5]])), "the table of X, row U=1: a probability is a number .*, not -0.5"),
        (with_x((["U"], [[float("nan"), 0], [1, 0]])), "the table of X, row U=0: .*, not nan"),
        (with_x((["U"], [[float("inf"), 0], [1, 0]])), "the table of X, row U=0: .*, not inf"),
        (with_u([0.4, 0.6, 0.1]), r"the hidden cause U is a pair \(prior, children\)"),
        (with_u(([0.4, 0.7], ["X", "Y"])), "the table of U: the probabilities sum to 1.1, not to 1"),
        (with_u(([[0.4, 0.6]], ["X", "Y"])), "the prior of U is one row of numbers, not 2 axes"),
        (with_u(([0.4, 0.6], ["X"])), "U has the children X, but X and Y read it"),
        (with_u(([0.4, 0.6], "XY")), "the children of U: expected a list of names, not 'XY'"),
        (with_u(([0.4, 0.6], ["X", "Y"]), Graph("X -> Y")), "U acts on X and Y, but the graph has no edge X <-> Y"),
        (with_u(([0.4, 0.6], ["X", "Y"]), X=([1.0], [])), "X is a variable of the graph; a hidden cause needs another"),
    ],
)
def test_tables_that_make_no_world(call: Callable[[], World], message: str) -> None:
    with pytest.raises(WorldError, match=message):
        call()


# -- the world of a problem file ---------------------------------------------------------------


def a_problem(world: Mapping[str, object] | None, **more: Any) -> Problem:
    return Problem(more.pop("graph", "X -> Y; X <-> Y"), more.pop("reward", "Y"), budget=9, world=world, **more)


def test_the_world_of_the_example_in_the_interface(tmp_path: Path) -> None:
    file = tmp_path / "problem.toml"
    file.write_text(
        'budget = 2500\nreward = "Y"\nobserved = ["X1", "X3", "X6", "Y"]\n[graph]\nedges = """\n'
        "X1 -> X3; X2 -> {X3, X4}; X3 -> {X4, X5, X6}; X4 -> X5 -> X6 -> Y\nX1 <-> X2; X4 <-> X6\n"
        '"""\n[world]\nmodel = "xor"\nseed = 5\nredraw = true\n'
    )
    problem = Problem.load(file)
    world = of(problem)
    expected = xor(problem.full_graph, seed=5)
    assert world.graph == problem.full_graph
    assert world.means(problem).tolist() == expected.means(problem).tolist()
    assert of(problem, seed=6).means(problem).tolist() == xor(problem.full_graph, seed=6).means(problem).tolist()


def test_every_model_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "net.bif").write_text(
        "variable X { type discrete [2] {0, 1}; } variable Y { type discrete [2] {0, 1}; }"
        "probability (X) { table 0.5 0.5; } probability (Y | X) { (0) 0.9 0.1; (1) 0.3 0.7; }"
    )
    assert of(a_problem({"model": "bif", "path": "net.bif"}, folder=tmp_path)).graph == Graph("X -> Y")
    assert of(a_problem({"model": "bif", "path": str(tmp_path / "net.bif")})).graph == Graph("X -> Y")
    assert of(a_problem({"model": "random", "seed": 2, "concentration": 3.5})).graph == named.BOW
    parallel_graph = Graph("{X1, X2, X3} -> Y")
    world = of(a_problem({"model": "parallel", "p": [0.1, 0.2, 0.3], "epsilon": 0.2}, graph=parallel_graph))
    assert world.distribution(["Y"], "do(X1=1)")[1] == pytest.approx(0.7)
    assert of(a_problem({"model": "parallel", "n": 3, "seed": 1}, graph=parallel_graph)).graph == parallel_graph


def as_json(path: Path) -> None:
    hidden = {u: {"prior": prior, "children": children} for u, (prior, children) in BOW_HIDDEN.items()}
    tables = {v: {"inputs": inputs, "table": table} for v, (inputs, table) in BOW_TABLES.items()}
    path.write_text(json.dumps({"hidden": hidden, "tables": tables}))


def as_toml(path: Path) -> None:
    lines = [f"[hidden.{u}]\nprior = {prior}\nchildren = {children}" for u, (prior, children) in BOW_HIDDEN.items()]
    lines += [f"[tables.{v}]\ninputs = {inputs}\ntable = {table}" for v, (inputs, table) in BOW_TABLES.items()]
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(("name", "write"), [("model.json", as_json), ("model.toml", as_toml)])
def test_tables_from_a_file(name: str, write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path / name)
    problem = a_problem({"model": "tables", "file": name}, folder=tmp_path, domains={"X": ["off", "on"]})
    world = of(problem)
    assert world.domains["X"] == ("off", "on")
    assert world.means(problem)[2] == pytest.approx(0.78)


def test_zeros_and_ones_are_called_as_the_problem_calls_them() -> None:
    reward = {"variable": "Y", "values": {"good": 5, "bad": -5}}
    problem = a_problem({"model": "xor", "seed": 1}, reward=reward, domains={"X": ["low", "high"]}, graph="X -> Y")
    assert of(problem).distribution(["Y"], "do(X=high)").tolist() == pytest.approx([0.8, 0.2])
    assert of(problem).domains == {"X": ("low", "high"), "Y": ("good", "bad")}
    turned = a_problem({"model": "xor", "seed": 1}, domains={"X": [1, 0]}, graph="X -> Y")
    assert of(turned).distribution(["Y"], "do(X=1)").tolist() == pytest.approx([0.2, 0.8])


@pytest.mark.parametrize(
    ("world", "message"),
    [
        (None, r"the problem describes no world: add \[world\]"),
        ({}, "world.model: is missing: name the model of the world; known are xor, parallel"),
        ({"model": "xorr"}, "world.model: there is no model xorr; did you mean xor?"),
        ({"model": 3}, "world.model: there is no model 3; known are xor, parallel, random, bif and tables"),
        ({"model": "xor", "sead": 1}, "world.sead: unknown key of the model xor; did you mean seed?"),
        ({"model": "xor", "path": "a.bif"}, "world.path: unknown key of the model xor; known are seed and redraw"),
        ({"model": "xor", "seed": 0.5}, "world.seed: expected a whole number, not 0.5"),
        ({"model": "xor", "seed": True}, "world.seed: expected a whole number, not True"),
        ({"model": "xor", "redraw": "yes"}, "world.redraw: expected true or false, not 'yes'"),
        ({"model": "parallel", "p": "0.1"}, "world.p: expected a list of numbers, not '0.1'"),
        ({"model": "parallel", "n": 7}, "the world has no variable X, which the problem observes"),
        ({"model": "random", "concentration": -1}, "concentration: expected a positive number, not -1"),
        ({"model": "bif"}, "world.path: is missing"),
        ({"model": "bif", "path": ["a"]}, "world.path: expected a text"),
        ({"model": "bif", "path": "a.bif", "hide": "X"}, "world.hide: expected a list of variables, not 'X'"),
        ({"model": "tables"}, "world.file: is missing"),
    ],
)
def test_descriptions_that_are_no_world(world: Mapping[str, object] | None, message: str) -> None:
    with pytest.raises(DobanditError, match=message):
        of(a_problem(world))


def test_all_wrong_keys_are_named_at_once() -> None:
    with pytest.raises(ProblemError) as caught:
        of(a_problem({"model": "parallel", "n": "7", "q": 1}))
    assert [fault.place for fault in caught.value.faults] == [("world", "n"), ("world", "q")]


def test_xor_is_for_two_values() -> None:
    problem = a_problem({"model": "xor"}, domains={"X": ["low", "mid", "high"]})
    with pytest.raises(WorldError, match="the variables of this model have two values, but X has low, mid and high"):
        of(problem)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("m.json", "{", r"m.json, line 1, column 2: this is not JSON"),
        ("m.json", "[1]", r"m.json: expected a table with the keys hidden and tables"),
        ("m.json", '{"tables": {}, "tabels": {}}', r"m.json: unknown key tabels"),
        ("m.json", '{"tables": [1]}', r"m.json: tables: expected a table of names"),
        ("m.json", '{"tables": {"X": {"inputs": []}}}', r"m.json: tables.X: expected the two keys inputs and table"),
        (
            "m.json",
            '{"tables": {}, "tables": {}}',
            r"m.json: this cannot be read: a key is given twice among tables and tables",
        ),
        ("m.json", "[" * 100_000, r"m.json: this cannot be read"),
        ("m.json", '{"tables": ' + "9" * 5000 + "}", r"m.json: this cannot be read"),
        ("m.json", '{"tables": {}}', r"m.json: there is no table for X"),
        (
            "m.json",
            '{"tables": {"X": {"inputs": [], "table": [NaN, 1]}, "Y": {"inputs": [], "table": [1, 0]}}}',
            r"m.json: the table of X: a probability is a number from 0 to 1, not nan",
        ),
        ("m.toml", "tables = ", r"m.toml: this cannot be read: Invalid value"),
        ("m.toml", "[tables.X]\ninputs = []\ntable = [0.5, 0.4]", r"m.toml: there is no table for Y"),
    ],
)
def test_files_of_tables_that_are_none(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(WorldError, match=message):
        of(a_problem({"model": "tables", "file": name}, folder=tmp_path))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for world in ({"model": "tables", "file": "no.json"}, {"model": "bif", "path": "no.bif"}):
        with pytest.raises(FileError, match=r"no\..*cannot be read"):
            of(a_problem(world, folder=tmp_path))


def test_unknown_variables_are_said_so() -> None:
    with pytest.raises(UnknownVariable):
        xor("X -> Y", 0).sample("do(Z=1)", 1, seed=0)
