"""Graphs: the text grammar, and every structural answer against networkx on random ADMGs."""

from __future__ import annotations

import contextlib
import copy
import pickle
from dataclasses import FrozenInstanceError
from itertools import combinations
from typing import cast

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit.errors import CycleError, DobanditError, GraphError, UnknownVariable
from dobandit.graph import Graph
from dobandit.graph.files import read_file
from tests import named_graphs as named
from tests.models import random_admg


def with_hidden_nodes(graph: Graph) -> nx.DiGraph[str]:
    """The graph as a DAG in which every `<->` is a node: what networkx can answer questions about."""
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(graph.variables)
    dag.add_edges_from(graph.directed)
    for i, pair in enumerate(sorted(graph.bidirected)):
        dag.add_edges_from((f"hidden{i}", end) for end in pair)
    return dag


@pytest.mark.parametrize("chunk", range(4))
def test_structure_on_random_graphs(chunk: int) -> None:
    """1,000 ADMGs: components, ancestors, separation, back-door paths and projections."""
    for seed in range(chunk, 1000, 4):
        rng = np.random.default_rng([1, seed])
        graph = random_admg(rng)
        dag = with_hidden_nodes(graph)
        ties: nx.Graph[str] = nx.Graph(list(graph.bidirected))
        ties.add_nodes_from(graph.variables)
        assert set(graph.c_components) == set(map(frozenset, nx.connected_components(ties)))
        for v in graph.variables:
            assert graph.ancestors(v) == nx.ancestors(dag, v) & set(graph.variables)
            assert graph.descendants(v) == nx.descendants(dag, v)
        keep = {v for v in graph.variables if rng.random() < 0.7}
        projected = graph.project(keep)
        assert projected.variables == tuple(v for v in graph.variables if v in keep)
        for a, b in combinations(sorted(keep), 2):
            given = {v for v in keep - {a, b} if rng.random() < 0.4}
            expected = nx.is_d_separator(dag, {a}, {b}, given)
            assert graph.separated(a, b, given) == expected
            assert projected.separated(a, b, given) == expected
            cut = dag.copy()
            cut.remove_edges_from(list(dag.out_edges(a)))
            assert graph.has_backdoor(a, b) != nx.is_d_separator(cut, {a}, {b}, set())


@given(st.integers(0, 10**6))
@settings(derandomize=True, max_examples=200)
def test_effective_parents_screen_off_all_other_predecessors(seed: int) -> None:
    graph = random_admg(np.random.default_rng(seed))
    for i, v in enumerate(graph.variables):
        z = graph.effective_parents(v)
        before = set(graph.variables[:i])
        assert z <= before
        if rest := before - z:
            assert graph.separated(v, rest, z)


def test_kahns_order_prefers_the_name_that_came_first() -> None:
    assert Graph("C -> A; B").variables == ("C", "A", "B")
    assert Graph("C -> A; B", variables=["A", "B", "C"]).variables == ("B", "C", "A")
    assert Graph.from_edges([("C", "A")], variables=["A", "B", "C"]).variables == ("B", "C", "A")


def test_the_grammar() -> None:
    graph = Graph("  A -> B <- C <-> D ; {A, C} -> {E,F} # a comment\n\n;G\nA <-> B")
    assert graph.directed == {("A", "B"), ("C", "B"), ("A", "E"), ("A", "F"), ("C", "E"), ("C", "F")}
    assert graph.bidirected == {("C", "D"), ("A", "B")}
    assert set(graph.variables) == set("ABCDEFG")
    assert Graph("").variables == ()
    assert Graph("a.b_1 -> _x").variables == ("a.b_1", "_x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A -> B\nC -> D -> ;", "line 2, column 11: expected a variable after '->', found ';'"),
        ("A -> B\nX1 -> X2 -> ", "line 2, column 13: expected a variable after '->'"),
        ("A -- B", "line 1, column 3: unknown operator '--'; edges are written '->', '<-' or '<->'"),
        ("A @-> B", "line 1, column 3: unknown operator '@->'"),
        ("A <--> B", "line 1, column 3: unknown operator '<-->'"),
        ("A <-> A", "line 1, column 7: A <-> A is a self loop"),
        ("{A, B} -> B", "line 1, column 11: B -> B is a self loop"),
        ("A -> B\nB <- A", "line 2, column 3: the edge B <- A is given twice .first in line 1."),
        ("A <-> B; B <-> A", "line 1, column 12: the edge B <-> A is given twice"),
        ("A -> B\nB -> C\nC -> A", "line 3, column 3: the directed edges form a cycle: A -> B -> C -> A"),
        (
            "A B",
            "or the end of the statement, found 'B'; a name with a space is written in quotes",
        ),
        ("{A B} -> C", "line 1, column 4: expected ',' or '}'; a name with a space is written in quotes"),
        ("{A, B -> C", "line 1, column 7: expected ',' or '}', found '->'"),
        ("{}", "line 1, column 2: expected a variable after '{', found '}'"),
        ("{A, A} -> B", "line 1, column 5: A is named twice in this set"),
        ("1A -> B", "line 1, column 1: expected a variable, found '1'; a name starts with"),
        ("A -> $", "line 1, column 6: expected a variable after '->', found '\\$'; .* any other one in quotes"),
        ('A -> "b c', "line 1, column 6: this quote is not closed on its line"),
        ('A -> ""', "line 1, column 6: '' cannot be the name of a variable: it is empty"),
        ('A -> "b\\d"', "line 1, column 6: .* means nothing in quotes; write"),
        ('"a b" <-> "a b"', 'line 1, column 11: "a b" <-> "a b" is a self loop'),
        ("{A} <-> {A}", "line 1, column 10: A <-> A is a self loop"),
        ("A <-> {A, B}", "line 1, column 8: A <-> A is a self loop"),
        ("{A, B} -> {A, B}", "line 1, column 12: A -> A is a self loop"),
        ("A <-> B; {A, B, C} <-> {A, B, C}", "line 1, column 20: the edge A <-> B is given twice"),
    ],
)
def test_errors_point_at_the_place(text: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph(text)


def test_a_set_with_itself_is_all_pairs() -> None:
    assert Graph("{A, B, C} <-> {A, B, C}") == Graph("A <-> B; A <-> C; B <-> C")
    assert Graph("{A, B} <-> {B, A}") == Graph("A <-> B")
    assert Graph("{A, B} <-> {B, C} -> D") == Graph("A <-> B; A <-> C; B <-> C; {B, C} -> D")
    assert Graph("{A, B} <-> {C, D}") == Graph("A; B; A <-> C; A <-> D; B <-> C; B <-> D")


def test_names_beyond_the_variables_are_refused() -> None:
    with pytest.raises(GraphError, match="line 1, column 6: C is not among the variables A and B"):
        Graph("A -> C", variables=["A", "B"])
    with pytest.raises(UnknownVariable, match="there is no variable 'C'"):
        Graph.from_edges([("A", "C")], variables=["A", "B"])


@pytest.mark.parametrize(
    ("directed", "bidirected", "variables", "message"),
    [
        ([("A", "A")], [], None, "self loop"),
        ([("A", "B"), ("A", "B")], [], None, "A -> B is given twice"),
        ([], [("A", "B"), ("B", "A")], None, "A <-> B is given twice"),
        ([], [], ["A", "A"], "A is listed twice"),
        ([("A", "my\nvar")], [], None, "cannot be the name of a variable: it contains a line end"),
        ([], [], ["Größe", "Gro\u0308ße"], "Größe is listed twice"),
        (["AB"], [], None, "an edge is a pair of names"),
        ([("A", 3)], [], None, "3 cannot be the name"),
    ],
)
def test_edges_are_validated(
    directed: list[tuple[str, str]], bidirected: list[tuple[str, str]], variables: list[str] | None, message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(directed, bidirected, variables)


def test_a_long_cycle_is_named_and_nothing_recurses() -> None:
    n = 20_000
    chain = [(f"V{i}", f"V{i + 1}") for i in range(n)]
    graph = Graph.from_edges(chain)
    assert len(graph.ancestors(f"V{n}")) == n
    with pytest.raises(CycleError) as error:
        Graph.from_edges([*chain, (f"V{n}", "V0")])
    assert len(error.value.cycle) == n + 2


@given(st.integers(0, 10**6))
@settings(derandomize=True, max_examples=200)
def test_text_round_trip(seed: int) -> None:
    graph = random_admg(np.random.default_rng(seed), 1, 8)
    assert Graph(graph.to_text()) == graph
    assert eval(repr(graph), {"Graph": Graph}) == graph


@given(st.text(alphabet="AB1_. ->{},;#\n<@é\0", max_size=30))
@settings(derandomize=True, max_examples=500)
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    with contextlib.suppress(GraphError):
        Graph(text)
        return
    with pytest.raises(GraphError, match=r"^line \d+, column \d+: "):
        Graph(text)


@pytest.mark.parametrize("text", ["dag -> {X, Y}", "graph -> Y", "digraph; X", "graph", "strict <- graph", "dag;mag"])
def test_a_variable_may_have_the_name_of_a_format(text: str) -> None:
    graph = Graph(text)
    assert Graph(graph.to_text()) == graph
    assert graph.variables


def test_graphs_are_made_from_what_people_have() -> None:
    wanted = Graph("X -> Y; X <-> Y")
    hidden: nx.DiGraph[str] = nx.DiGraph([("U", "X"), ("U", "Y"), ("X", "Y")])
    hidden.nodes["U"]["latent"] = True
    texts = ("digraph { U [observed=no]; U -> X; U -> Y; X -> Y }", "dag { U [latent]; U -> {X Y}; X -> Y }")
    for form in (hidden, *texts, "\n".join(nx.generate_gml(hidden))):
        graph = Graph(form)
        assert graph == wanted
        assert graph.origin.hidden == Graph(graph).origin.hidden == ("U",)
        assert not db.is_identifiable(form, do="X", on="Y")
    assert Graph(db.Problem(hidden, "Y", 9)) == wanted
    assert Graph(wanted, variables=["Y", "X"]) == Graph("Y; X; X -> Y; X <-> Y")
    with pytest.raises(UnknownVariable, match="there is no variable 'Y'"):
        Graph(texts[0], variables=["X"])


def test_a_graph_is_a_value() -> None:
    a, b = Graph("A -> B; A <-> B"), Graph.from_edges([("A", "B")], [("B", "A")])
    assert a == b
    assert len({a, b}) == 1
    assert a != Graph("A -> B")
    assert a != cast(object, "A -> B")
    for twin in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a)):
        assert twin == a
        assert twin.parents("B") == {"A"}
    for name in ("variables", "directed", "anything"):
        with pytest.raises(FrozenInstanceError):
            setattr(a, name, ())
    with pytest.raises(FrozenInstanceError):
        del a.directed


def test_unknown_variables_are_named() -> None:
    for ask in (named.BOW.parents, named.BOW.ancestors, named.BOW.c_component, named.BOW.effective_parents):
        with pytest.raises(UnknownVariable, match="there is no variable 'Q' in the graph; it has X and Y"):
            ask("Q")
    with pytest.raises(UnknownVariable):
        named.BOW.project({"X", "Q"})
    with pytest.raises(GraphError, match="must not overlap"):
        named.BOW.separated("X", "Y", given={"X"})


def test_the_papers_effective_parents() -> None:
    """The T_j version on Fig. 11, as worked out by hand."""
    by_hand = {
        "X1": "",
        "X2": "X1",
        "X3": "X1 X2",
        "X4": "X2 X3",
        "X5": "X1 X2 X3 X4",
        "X6": "X1 X2 X3 X4 X5",
        "X7": "X5 X6",
        "Y": "X7",
    }
    assert {v: set(z.split()) for v, z in by_hand.items()} == {
        v: named.FIG11.effective_parents(v) for v in named.FIG11.variables
    }
    assert set(named.FIG1.c_components) == {frozenset({"X1", "X2", "X3", "X5"}), frozenset({"X4"})}


def test_back_doors_of_named_graphs() -> None:
    assert named.BACK_DOOR.has_backdoor("X", "Y")
    assert named.BOW.has_backdoor("X", "Y")
    assert not named.M_BIAS.has_backdoor("X", "Y")
    assert not named.FIG6.has_backdoor("X6", "Y")
    assert named.FIG6.has_backdoor("X4", "Y")
    assert not any(named.PARALLEL.has_backdoor(v, "Y") for v in named.PARALLEL.variables if v != "Y")


def test_drawing() -> None:
    assert named.FIG7.draw() == "\n".join(
        [
            "X1 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╮",
            "│  X2 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╯",
            "└──┼▶ X3",
            "   └──┼▶ X4 ╌╌╌╌╌╌╌╌╌╌╮",
            "      ├──┴▶ X5        ╎",
            "      └─────┴▶ X6 ╌╌╌╌╯",
            "               └▶ Y",
        ]
    )
    assert named.PARALLEL.draw(width=80) == named.PARALLEL.to_text()
    assert Graph("").draw() == ""


def test_files_are_told_apart_by_their_content(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("graphs")
    for name, text in {
        "own.txt": "# mine\nX -> Y; X <-> Y",
        "dot.gv": "// mine\ndigraph { X -> Y; X -> Y [dir=both] }",
        "dagitty.txt": "dag { U [latent]\n U -> X\n U -> Y\n X -> Y }",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
        assert read_file(folder / name) == named.BOW
    (folder / "bad.txt").write_text("X -> ", encoding="utf-8")
    with pytest.raises(GraphError, match=r"bad\.txt: line 1, column 6: expected a variable"):
        read_file(folder / "bad.txt")
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    for name, message in {"bytes.txt": "not a text file", "missing.txt": "no such file"}.items():
        with pytest.raises(DobanditError, match=message):
            read_file(folder / name)
