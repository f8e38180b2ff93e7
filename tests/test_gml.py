"""GML, as DoWhy and networkx write it: hidden nodes are projected out, and what cannot be read says where and why."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit.errors import GraphError
from dobandit.graph import Graph, Origin, read_file
from tests.strategies import attempt, fixed

X_Y = 'node [ id 0 label "X" ] node [ id 1 label "Y" ] edge [ source 0 target 1 ]'
GML = {
    "an empty graph": ("graph [ directed 1 ]", ""),
    "as networkx writes it": ("\n".join(nx.generate_gml(nx.DiGraph([("X", "Y"), ("A b", "Y")]))), 'X -> Y; "A b" -> Y'),
    "as DoWhy writes it": (
        'graph[directed 1node[ id "v" label "v"]node[ id "y" label "y"]edge[source "v" target "y"]'
        'node[ id "U" label "U" observed "no"] edge[source "U" target "v"] edge[source "U" target "y"]]',
        "v -> y; v <-> y",
    ),
    "ids as names": ('graph [ directed 1 node [ id "X" ] node [ id "Y" ] edge [ source "X" target "Y" ] ]', "X -> Y"),
    "edges before nodes": (
        'graph [ directed 1 edge [ source 0 target 1 ] node [ id 0 label "X" ] node [ id 1 label "Y" ] ]',
        "X -> Y",
    ),
    "entities": (
        'graph [ directed 1 node [ id 0 label "Gr&#246;&#xdf;e &#34;&amp;copy R&D" ] ]',
        '"Größe \\"&copy R&D"',
    ),
    "about the file": (
        f'# made by hand\nCreator "me" Version 1\ngraph [ directed 1 hierarchic 1 label "G" {X_Y} ]',
        "X -> Y",
    ),
    "any case": ('GRAPH [ Directed 1 Node [ ID 0 Label "X" ] ]', "X"),
    "drawing": (
        'graph [ directed 1 node [ id 0 label "X" graphics [ x 1.5 y -2e3 fill "#fff" Line [ x 1 ] ] color "red" ]'
        ' node [ id 1 label "Y" LabelGraphics [ text "hidden" ] ] edge [ source 0 target 1 weight 2.0 graphics [ ] ] ]',
        "X -> Y",
    ),
    "a hidden cause as an edge": (
        f'graph [ directed 1 {X_Y} edge [ source 1 target 0 dir "both" ] ]',
        "X -> Y; X <-> Y",
    ),
    "a name that says hidden": ('graph [ directed 1 node [ id 0 label "hidden costs" ] ]', '"hidden costs"'),
    "marks": (
        f'graph [ directed 1 {X_Y} node [ id 2 label "U" latent 1 ] node [ id 3 label "V" observed "yes" ]'
        " edge [ source 2 target 0 ] edge [ source 2 target 1 ] edge [ source 3 target 1 ] ]",
        "X -> Y; X <-> Y; V -> Y",
    ),
    "the label of DoWhy": (
        f'graph [ directed 1 {X_Y} node [ id 2 label "Unobserved Confounders" ]'
        " edge [ source 2 target 0 ] edge [ source 2 target 1 ] ]",
        "X -> Y; X <-> Y",
    ),
}


@pytest.mark.parametrize(("text", "same"), GML.values(), ids=GML)
def test_gml_reads(text: str, same: str) -> None:
    read, wanted = Graph.from_gml(text), Graph(same)
    assert (read.directed, read.bidirected) == (wanted.directed, wanted.bidirected)
    assert set(read.variables) == set(wanted.variables)
    assert Graph(text) == read


def test_hidden_nodes_are_reported(tmp_path: Path) -> None:
    (tmp_path / "graph.gml").write_text(GML["as DoWhy writes it"][0])
    (tmp_path / "problem.toml").write_text('reward = "y"\nbudget = 9\n[graph]\nfile = "graph.gml"\n')
    note = "U is latent and was projected out; it leaves v <-> y"
    assert read_file(tmp_path / "graph.gml").origin == Origin(notes=(note,), hidden=("U",))
    assert db.Problem.load(tmp_path / "problem.toml").graph == Graph("v -> y; v <-> y")
    with pytest.raises(db.NotIdentifiable):
        db.identify(GML["as DoWhy writes it"][0], do="v", on="y")


def bad(inside: str) -> str:
    return f"graph [ directed 1\n{inside} ]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected one 'graph .*', found 0"),
        ("graph [ ] graph [ ]", "line 1, column 11: expected one 'graph .*', found 2"),
        ("graph 1", "line 1, column 7: expected '\\[' after 'graph', found '1'"),
        ("graph [ ]", "line 1, column 1: the edges of this graph have no directions; write 'directed 1'"),
        ("graph [\ndirected 0 ]", "line 2, column 10: the edges of this graph have no directions"),
        ("graph [ directed 1 directed 1 ]", "column 20: directed is given twice"),
        ("graph [ directed 1", "column 19: expected a key such as 'node' or '\\]', found the end"),
        ("graph [ directed 1 ] ]", "column 22: expected a key such as 'node', found '\\]'"),
        (bad('node [ id 0 label "X ]'), "line 2, column 19: this quote is never closed"),
        (bad("node [ id ]"), "line 2, column 11: expected a value after 'id', found '\\]'"),
        (bad("node 3"), "line 2, column 6: expected '\\[' after 'node', found '3'"),
        (bad("node [ id 0 ]"), "line 2, column 1: this node has no name; give it a label"),
        (bad('node [ id 0 label "" ]'), "line 2, column 19: '' cannot be the name of a variable: it is empty"),
        (bad('node [ id 0 label "a&#10;b" ]'), "line 2, column 19: .* contains a line end"),
        (bad("node [ id 0 label [ x 1 ] ]"), "line 2, column 13: expected a single value after 'label'"),
        (bad('node [ id 0 label "X" ] node [ id 0 label "Y" ]'), "line 2, column 35: the id 0 is given twice"),
        (bad('node [ id 0 label "X" ] node [ id 1 label "X" ]'), "line 2, column 43: the node X is given twice"),
        (bad('node [ id 0 label "X" kind "hidden" ]'), "line 2, column 23: unknown attribute 'kind'; mark a hidden"),
        (bad('node [ id 0 label "X" observed "maybe" ]'), "line 2, column 32: observed is yes or no"),
        (bad('node [ id 0 label "X" observed "no" latent 0 ]'), "line 2, column 44: X is marked both hidden and"),
        (bad(f"{X_Y}\nedge [ source 0 ]"), "line 3, column 1: this edge has no target"),
        (bad(f"{X_Y}\nedge [ source 0 target 7 ]"), "line 3, column 24: there is no node with the id '7'"),
        (bad(f"{X_Y}\nedge [ source 0 target 1 ]"), "line 3, column 1: the edge X -> Y is given twice"),
        (bad(f"{X_Y}\nedge [ source 1 target 0 ]"), "line 3, column 1: the directed edges form a cycle: X -> Y -> X"),
        (bad(f"{X_Y}\nedge [ source 0 target 0 ]"), "line 3, column 24: X -> X is a self loop"),
        (bad(f"{X_Y}\nedge [ source 1 target 0 confounded 1 ]"), "line 3, column 37: confounded=1 cannot mark an edge"),
        (
            bad(f'{X_Y}\nedge [ source 1 target 0 kind "<->" ]'),
            "line 3, column 26: unknown attribute 'kind' of an edge",
        ),
        (bad('latents "U"'), "line 2, column 9: latents=U cannot mark a whole graph"),
        (bad('node_default [ observed "no" ]'), "line 2, column 25: observed=no cannot mark a whole graph"),
        ("graph " + "[ a " * 60, "more than 50 brackets"),
    ],
)
def test_gml_refuses(text: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_gml(text)


PIECES = [
    *(
        "graph",
        "[",
        "]",
        "directed 1",
        "node [ id 0",
        'label "X"',
        "]",
        "edge [",
        "source 0",
        "target 1",
        "observed",
        '"no"',
    ),
    *(
        '"',
        "é",
        "-1",
        "1.5e3",
        "#",
        "\n",
        "graphics [",
        "label",
        "id 1",
        "latent 1",
        "node",
        "&#34;",
        'node [ id 1 label "Y" ]',
    ),
]


@settings(fixed, max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join), st.booleans())
def test_any_gml_is_read_or_refused_with_a_place(text: str, opened: bool) -> None:
    result = attempt(Graph.from_gml, f"graph [ directed 1 {text} ]" if opened else text)
    assert Graph.from_gml(result.to_gml()) == result if isinstance(result, Graph) else result.line
