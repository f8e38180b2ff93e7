"""DOT, dagitty and networkx: what is read is what was written, and what cannot be read says where and why."""

from __future__ import annotations

import sys
from typing import Any

import networkx as nx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dobandit.errors import CycleError, DobanditError, GraphError
from dobandit.graph import Graph, Origin
from tests.strategies import admgs, any_names, attempt, fixed

PLACED = r"^line \d+, column \d+: "


# -- there and back ----------------------------------------------------------------------------


@fixed
@given(admgs(names=any_names))
def test_text_round_trip(graph: Graph) -> None:
    assert Graph(graph.to_text()) == graph
    assert eval(repr(graph), {"Graph": Graph}) == graph


@fixed
@given(admgs(names=any_names))
def test_gml_round_trip(graph: Graph) -> None:
    assert Graph.from_gml(graph.to_gml()) == Graph(graph.to_gml()) == graph
    by_networkx = nx.parse_gml(graph.to_gml())
    assert Graph(by_networkx) == graph
    assert Graph("\n".join(nx.generate_gml(by_networkx))) == graph


@fixed
@given(admgs(names=any_names))
def test_dot_round_trip(graph: Graph) -> None:
    assert Graph.from_dot(graph.to_dot()) == Graph(graph.to_dot()) == graph


@fixed
@given(admgs(names=any_names))
def test_dagitty_round_trip(graph: Graph) -> None:
    assert Graph.from_dagitty(graph.to_dagitty()) == Graph(graph.to_dagitty()) == graph


@fixed
@given(admgs(names=any_names))
@example(Graph("A_B <-> C; A <-> B_C; U_A_B_C"))
@example(Graph.from_edges([], [("a" * 255, "b" * 255), ("a" * 255, "c" * 255)]))
def test_networkx_round_trip(graph: Graph) -> None:
    network = graph.to_networkx()
    assert list(network)[: len(graph.variables)] == list(graph.variables)
    assert Graph.from_networkx(network) == Graph(network) == graph


@fixed
@given(admgs(min_size=2), st.data())
def test_roles_round_trip(graph: Graph, data: st.DataObject) -> None:
    outcome, *exposures = data.draw(st.lists(st.sampled_from(graph.variables), min_size=1, unique=True))
    marked = Graph.from_edges(
        graph.directed, graph.bidirected, graph.variables, origin=Origin(tuple(exposures), outcome)
    )
    again = Graph.from_dagitty(marked.to_dagitty())
    assert again == graph
    assert (sorted(again.origin.exposures), again.origin.outcome) == (sorted(exposures), outcome)


@fixed
@given(admgs(max_size=5), st.data())
def test_hiding_in_a_file_is_projecting_the_graph(graph: Graph, data: st.DataObject) -> None:
    hidden = data.draw(st.sets(st.sampled_from(graph.variables))) if graph.variables else set()
    projected = graph.project(set(graph.variables) - hidden)
    network = graph.to_networkx()
    marks = " ".join(f'"{v}" [latent]' for v in hidden)
    in_dot = " ".join(f'"{v}" [observed=no]' for v in hidden)
    for v in hidden:
        network.nodes[v]["latent"] = 1
    for read in (
        Graph.from_dagitty(graph.to_dagitty().replace("dag {", "dag {" + marks)),
        Graph.from_dot(graph.to_dot().replace("digraph {", "digraph {" + in_dot)),
        Graph.from_networkx(network),
    ):
        assert set(read.variables) == set(projected.variables)
        assert (read.directed, read.bidirected) == (projected.directed, projected.bidirected)


# -- DOT ---------------------------------------------------------------------------------------

SPELT = '"Customer segment" -> Größe; "a\\"b" -> 価格 -> "-1.5"'
DOT = {
    "empty": ("digraph {}", ""),
    "named, strict, any case": ("STRICT DiGraph G { a -> b }", "a -> b"),
    "an edge twice in a strict graph": ("strict digraph { a -> b a -> {b c}; a -> c }", "a -> {b, c}"),
    "ports": ('digraph { a:n -> b:"p 1":se -> c:w; c:e [color=red] }', "a -> b -> c"),
    "HTML labels": (
        "digraph { label=<x>; a [label=<<b>A</b> &amp; <i>B</i><br/>>]; a -> b [label=<> color=red] }",
        "a -> b",
    ),
    "quoted title": ('digraph "my graph" { a -> b }', "a -> b"),
    "chain": ("digraph { a -> b -> c }", "a -> b -> c"),
    "no semicolons": ("digraph { a b c -> a }", "c -> a; b"),
    "many semicolons": ("digraph { ; a -> b;; c; }", "a -> b; c"),
    "quoted names": ('digraph { "node" -> "a.b" }', "node -> a.b"),
    "names": ('digraph { "Customer segment" -> Größe; "a\\"b" -> 価格 -> -1.5 }', SPELT),
    "comments": ("// one\n# two\ndigraph { /* a -> c\n */ a -> b // b -> c\n  # d\n}", "a -> b"),
    "a comment sign in quotes": ('digraph { a [label="// no /* comment"]; b }', "a; b"),
    "windows lines": ("digraph {\r\n a -> b\r\n}\r\n", "a -> b"),
    "drawing": (
        'digraph { rankdir=LR; graph [label="x", size=-1]; node [y=z]; a [x=.5;y="2"][z=é]; a -> b [z=1] }',
        "a -> b",
    ),
    "sets": ("digraph { {a b} -> {c d} }", "{a, b} -> {c, d}"),
    "a set with an edge": ("digraph { {a -> b} -> c }", "a -> b -> c; a -> c"),
    "a set names a variable twice": ("digraph { {a; a; a -> b} -> c }", "a -> b -> c; a -> c"),
    "nested sets": ("digraph { {a {b {c}}} -> d }", "{a, b, c} -> d"),
    "empty sets": ("digraph { {} -> a -> {} }", "a"),
    "a set as a statement": ("digraph { {rank=same; a; b} a -> b }", "a -> b"),
    "subgraphs": (
        "digraph { subgraph cluster_1 { a -> b } SUBGRAPH { c } subgraph s {b} -> d }",
        "a -> b; c; b -> d",
    ),
    "dir": (
        "digraph { a -> b [dir=forward]; b -> a [dir=both]; c -> a [dir=back] }",
        "a -> b; a <-> b; a -> c",
    ),
    "dir in quotes": ('digraph { a -> b ["dir"="both"] }', "a <-> b"),
    "dir of a chain": ("digraph { a -> {b c} -> d [dir=both] }", "a <-> {b, c}; d <-> {b, c}"),
    "dir back of a chain": ("digraph { a -> b -> c [dir=back] }", "a; b; c; c -> b -> a"),
    "the last dir": ("digraph { a -> b [dir=back, dir=both][dir=forward] }", "a -> b"),
    "dir of a variable": ("digraph { dir=both; node [dir=both]; a [dir=none]; a -> b }", "a -> b"),
    "default dir": (
        "digraph { a -> b; edge [dir=both]; a -> b; a -> c [dir=forward]; edge [dir=forward]; b -> c }",
        "a -> b; a <-> b; a -> c; b -> c",
    ),
    "default dir in a scope": (
        "digraph { { edge [dir=both] a -> b { b -> c; edge [dir=back] a -> d } a -> c } b -> d }",
        "a <-> b; b <-> c; d -> a; a <-> c; b -> d",
    ),
    "a default dir that came before": ("digraph { edge [dir=both]; subgraph { a -> b } }", "a <-> b"),
}


@pytest.mark.parametrize(("text", "same"), DOT.values(), ids=DOT)
def test_dot_reads(text: str, same: str) -> None:
    read, wanted = Graph.from_dot(text), Graph(same)
    assert (read.directed, read.bidirected) == (wanted.directed, wanted.bidirected)
    assert set(read.variables) == set(wanted.variables)


def test_dot_keeps_the_order_of_declaration() -> None:
    assert Graph.from_dot("digraph { c; a; b; d -> a }").variables == ("c", "b", "d", "a")


BAD_DOT = {
    "nothing": "",
    "only a comment": "// digraph {}",
    "no digraph": "a -> b",
    "our own grammar": "{ a -> b }",
    "an undirected graph": "graph { a }",
    "a strict undirected graph": "strict graph { a -- b }",
    "a quoted keyword": '"digraph" { a }',
    "dagitty": "dag { a -> b }",
    "no brace": "digraph",
    "no brace after the title": "digraph g",
    "two titles": "digraph g h { a }",
    "a keyword as the title": "digraph edge { a }",
    "a word after strict": "strict a {}",
    "never closed": "digraph { a -> b",
    "a set never closed": "digraph { {a b -> c }",
    "closed twice": "digraph { a } }",
    "two graphs": "digraph { a } digraph { b }",
    "a quote never closed": 'digraph { a [label="x] }',
    "a quote ends in a backslash": 'digraph { "a\\" }',
    "a comment never closed": "digraph { a /* b }",
    "an undirected edge": "digraph { a -- b }",
    "an undirected edge in a chain": "digraph { a -> b -- c }",
    "an arrow back": "digraph { a <- b }",
    "an arrow both ways": "digraph { a <-> b }",
    "a fat arrow": "digraph { a => b }",
    "half an arrow": "digraph { a - b }",
    "nothing after an arrow": "digraph { a -> }",
    "nothing before an arrow": "digraph { -> a }",
    "two arrows": "digraph { a -> -> b }",
    "a comma in a set": "digraph { {a, b} -> c }",
    "a comma between statements": "digraph { a, b }",
    "attributes of a set": "digraph { {a b} [color=red] }",
    "attributes before an arrow": "digraph { a [x=1] -> b }",
    "attributes of nothing": "digraph { [x=1] }",
    "attributes never closed": "digraph { a [x=1 }",
    "an attribute without a value": "digraph { a [latent] }",
    "an attribute with half a value": "digraph { a [x=] }",
    "an attribute without a name": "digraph { a [=1] }",
    "two commas": "digraph { a [x=1,,y=2] }",
    "two values": "digraph { a [x=1=2] }",
    "an HTML name": "digraph { <a> -> b }",
    "a setting without a value": "digraph { rankdir= }",
    "joined strings": 'digraph { "a" + "b" }',
    "a name that ends with a blank": 'digraph { "a " -> c }',
    "a name with an escape": 'digraph { "a\\nb" -> c }',
    "an empty name": 'digraph { "" -> c }',
    "a name with a line end": 'digraph { "a\nb" }',
    "a name with a sign": "digraph { a$ -> c }",
    "a keyword as a name": "digraph { node -> b }",
    "a keyword at the end of an edge": "digraph { a -> Edge }",
    "a keyword as an attribute": "digraph { a [node=1] }",
    "subgraph as a name": "digraph { a -> subgraph }",
    "a subgraph without a block": "digraph { subgraph s; a }",
    "a subgraph that is opened again": "digraph { subgraph s {a} subgraph s {b} -> c }",
    "dir=none": "digraph { a -> b [dir=none] }",
    "dir=none by default": "digraph { edge [dir=none] }",
    "an unknown dir": "digraph { a -> b [dir=sideways] }",
    "a dir in capitals": "digraph { a -> b [dir=Both] }",
    "an empty dir": 'digraph { a -> b [dir=""] }',
    "a self loop": "digraph { a -> a }",
    "a self loop in sets": "digraph { {a b} -> {c b} }",
    "a self loop of a hidden cause": "digraph { a -> a [dir=both] }",
    "an edge twice": "digraph { a -> b; a -> b }",
    "an edge in two directions in a strict graph": "strict digraph { a -> b a -> b [dir=both] }",
    "a port without a name": "digraph { a: -> b }",
    "three ports": "digraph { a:b:n:s -> b }",
    "HTML that is not closed": "digraph { a [label=<b] }",
    "an edge twice, once backwards": "digraph { a -> b; b -> a [dir=back] }",
    "a hidden cause twice": "digraph { a -> b [dir=both]; b -> a [dir=both] }",
    "a cycle of two": "digraph { a -> b -> a }",
    "a cycle of three": "digraph { a -> b -> c; c -> a }",
    "a cycle by dir=back": "digraph { a -> b; a -> b [dir=back] }",
    "too deep": "digraph " + "{" * 5000,
    "too deep in edges": "digraph {" + "a -> {" * 5000,
    "too deep in subgraphs": "digraph {" + "subgraph {" * 5000,
}


@pytest.mark.parametrize("text", BAD_DOT.values(), ids=BAD_DOT)
def test_dot_refuses(text: str) -> None:
    with pytest.raises(GraphError, match=PLACED):
        Graph.from_dot(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("digraph {\n  a -> b\n  b -- c\n}", r"^line 3, column 5: '--' has no direction; write 'X -> Y'"),
        ("graph {}", r"^line 1, column 1: a 'graph' has no directions; write 'digraph'"),
        (
            "digraph {\n a -> b [dir=none] }",
            r"^line 2, column 14: dir=none leaves open which way the edge points",
        ),
        ("digraph { a -> b [dir=up] }", r"^line 1, column 23: unknown dir 'up'; write forward, back or both"),
        (
            "digraph {\na\n-> b\n; a -> b}",
            r"^line 4, column 5: the edge a -> b is given twice \(first in line 3\)",
        ),
        ("digraph { a -> {b\na} }", r"^line 2, column 1: a -> a is a self loop"),
        ('digraph { a\n"" }', r"^line 2, column 1: '' cannot be the name of a variable: it is empty"),
        (
            "digraph { node -> b }",
            r"^line 1, column 16: expected '\[' after the word 'node', .* needs quotes",
        ),
        ("digraph { a -> Graph }", r"^line 1, column 16: expected .* found the word 'Graph' of this format"),
        ("digraph { a\n", r"^line 2, column 1: expected a variable, a set or '}', found the end of the text"),
        (
            "digraph { a -> <b> }",
            r"^line 1, column 16: HTML is the value of an attribute only; write a name in quotes",
        ),
        ('digraph {\n "a }', r"^line 2, column 2: this quote or comment is never closed"),
        ("digraph { a <-> b }", r"^line 1, column 13: DOT has only '->'; write .* \[dir=both\]' for <->"),
        ("digraph " + "{" * 60, r"^line 1, column 59: more than 50 braces"),
        ("digraph { a -> $ }", r"^line 1, column 16: expected a variable .*, found '\$'; a name starts with .*$"),
        ("digraph g h { a } }", r"^line 1, column 11: expected '{', found 'h'$"),
        ("digraph { a -> ] }", r"^line 1, column 16: expected a variable or a set after '->', found '\]'$"),
    ],
)
def test_dot_says_what_to_do(text: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_dot(text)


def test_dot_places_a_cycle_at_its_last_edge() -> None:
    text = "digraph {\n c -> a\n a -> b\n b -> c; c -> d }"
    with pytest.raises(CycleError, match=r"^line 4, column 4: .*cycle: a -> b -> c -> a$") as caught:
        Graph.from_dot(text)
    assert caught.value.cycle == ("a", "b", "c", "a")


def test_fifty_braces_are_not_too_deep() -> None:
    assert Graph.from_dot("digraph " + "{" * 50 + "a" + "}" * 50) == Graph("a")


def test_dot_is_written_in_order() -> None:
    assert Graph("B; A; A <-> B; A -> C").to_dot().splitlines() == [
        "digraph {",
        '  "B";',
        '  "A";',
        '  "C";',
        '  "A" -> "C";',
        '  "B" -> "A" [dir=both, style=dashed];',
        "}",
    ]
    crossed = Graph("A; B; C; D; B -> {C, D}; A -> D; D <-> A; D <-> B; C <-> B")
    edges = [line.split(" [")[0].strip('; "').replace('" -> "', "") for line in crossed.to_dot().splitlines()[5:-1]]
    assert edges == ["AD", "BC", "BD", "AD", "BC", "BD"]


# -- dagitty -----------------------------------------------------------------------------------

DAGITTY = {
    "empty": ("dag{}", ""),
    "named, any case": ("DAG model { a -> b }", "a -> b"),
    "quoted title": ('dag "my model" { a -> b }', "a -> b"),
    "separators": ("dag { a b;c\n\nd;; a -> b c <- d }", "a -> b; d -> c"),
    "all arrows": ("dag { a -> b <- c <-> d }", "a -> b; c -> b; c <-> d"),
    "a bow": ("dag { a -> b; a <-> b }", "a -> b; a <-> b"),
    "sets": ("dag { {a b} -> {c d} <- e }", "{a, b, e} -> {c, d}"),
    "hidden causes between sets": ("dag { {a b} <-> {c d} }", "{a, b} <-> {c, d}"),
    "a set with an edge": ("dag { {a -> b} -> c }", "a -> b -> c; a -> c"),
    "quoted names": ('dag { "a" -> "graph" }', "a -> graph"),
    "names": ('dag { "Customer segment" -> Größe; "a\\"b" -> 価格 -> "-1.5" }', SPELT),
    "names with dots": ("dag { a.1 -> b.2 }", "a.1 -> b.2"),
    "drawing": (
        'dag { bb="-1,-2,3,4" graph [bb="0,0,1,1"]\na [pos="0,1", label="a b"]\na -> b [beta=-0.5,fixed] }',
        "a -> b",
    ),
    "roles without meaning for a graph": ("dag { a [adjusted]; b [a] }", "a; b"),
    "words of DOT that are free": ("dag { dag -> strict -> digraph }", "dag -> strict -> digraph"),
    "a latent": ("dag { u [latent] u -> {x y} }", "x <-> y"),
    "a latent in a set": ("dag { {u [latent]} -> {x y} }", "x <-> y"),
    "latents in all words": (
        "dag { a [l] b [u] c [unobserved] {a b c} -> x; a -> p; b -> q; c -> r }",
        "x <-> {p, q, r}",
    ),
    "a latent in between": ("dag { x -> u -> y; u [latent] }", "x -> y"),
    "a latent and a hidden cause": ("dag { u [latent] u <-> x u -> y }", "x <-> y"),
    "only latents": ("dag { u [latent] v [latent] u -> v }", ""),
}


@pytest.mark.parametrize(("text", "same"), DAGITTY.values(), ids=DAGITTY)
def test_dagitty_reads(text: str, same: str) -> None:
    read, wanted = Graph.from_dagitty(text), Graph(same)
    assert (read.directed, read.bidirected) == (wanted.directed, wanted.bidirected)
    assert set(read.variables) == set(wanted.variables)


def test_dagitty_keeps_roles() -> None:
    text = 'dag { X [exposure,pos="0,1"]; Y [o]; Z [e]; {X Z} -> Y; X [pos="1,1"] X [e] Y [target] }'
    assert Graph.from_dagitty(text).origin == Origin(("X", "Z"), "Y")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("dag { U [latent] U -> {X Y} X -> Y }", "U is latent and was projected out; it leaves X <-> Y"),
        (
            "dag { U [latent] V [latent] U -> {X Y} X -> V -> Z }",
            "U and V are latent and were projected out; they leave X -> Z and X <-> Y",
        ),
        ("dag { U [latent] U -> X }", "U is latent and was projected out; it leaves no new edge"),
        ("dag { U [latent] V [u] }", "U and V are latent and were projected out; they leave no new edge"),
        ("dag { U [latent] Y <-> X U -> {X Y} }", "U is latent and was projected out; it leaves no new edge"),
    ],
)
def test_dagitty_reports_what_it_hid(text: str, note: str) -> None:
    assert Graph.from_dagitty(text).origin.notes == (note,)


def test_dagitty_has_nothing_to_report() -> None:
    assert Graph.from_dagitty("dag { X -> Y }").origin == Origin()


def test_hidden_parents_do_not_change_the_order() -> None:
    assert Graph.from_dagitty("dag { X Y Z U [latent] U -> {X Z} }").variables == ("X", "Y", "Z")


BAD_DAGITTY = {
    "nothing": "",
    "no dag": "a -> b",
    "no type": "{ a -> b }",
    "a mag": "mag { a -> b }",
    "a pdag": "pdag { a -> b }",
    "a pag": "PAG { a @-> b }",
    "a graph": "graph { a -- b }",
    "a digraph": "digraph { a -> b }",
    "another type": "tree { a -> b }",
    "a quoted type": '"dag" { a -> b }',
    "no brace": "dag",
    "two titles": "dag a b { c }",
    "never closed": "dag { a -> b",
    "a set never closed": "dag { {a b -> c }",
    "closed twice": "dag { a } }",
    "two graphs": "dag { a } dag { b }",
    "text after the end": "dag { a } b",
    "a quote never closed": 'dag { a [pos="0,1] }',
    "a comment": "dag { a -> b // c\n }",
    "a hash": "dag { # a\n }",
    "an undirected edge": "dag { a -- b }",
    "an open end": "dag { a @-> b }",
    "an open end, backwards": "dag { a <-@ b }",
    "two open ends": "dag { a @-@ b }",
    "an open undirected end": "dag { a @-- b }",
    "an open undirected end, backwards": "dag { a --@ b }",
    "a long arrow": "dag { a --> b }",
    "a long arrow back": "dag { a <-- b }",
    "a fat arrow": "dag { a => b }",
    "a regression": "dag { y ~ x }",
    "nothing after an arrow": "dag { a -> }",
    "nothing before an arrow": "dag { <-> a }",
    "two arrows": "dag { a -> <- b }",
    "a comma in a set": "dag { {a, b} -> c }",
    "attributes of a set": "dag { {a b} [latent] }",
    "attributes before an arrow": "dag { a [latent] -> b }",
    "attributes never closed": "dag { a [latent }",
    "an attribute with half a value": "dag { a [pos=] }",
    "two commas": "dag { a [e,,pos=1] }",
    "a setting without a value": "dag { bb= }",
    "an unknown role": "dag { a [latnt] }",
    "a role in capitals": "dag { a [Latent] }",
    "a role with a value": "dag { a [latent=false] }",
    "a role at an edge": "dag { a -> b [latent] }",
    "selection": "dag { a [selected] }",
    "selection, short": "dag { a [s] }",
    "two outcomes": "dag { a [outcome]; b [o] }",
    "a latent exposure": "dag { a [exposure,latent] }",
    "a latent outcome": "dag { a [u]; a [outcome] }",
    "exposure and outcome": "dag { a [exposure]; a [outcome] }",
    "a minus": "dag { a -b }",
    "a name that starts with a blank": 'dag { " a" -> c }',
    "an empty name": 'dag { "" -> c }',
    "a name with a sign": "dag { a$ -> c }",
    "node as a name": "dag { node -> b }",
    "defaults of DOT": "dag { edge [dir=both] a -> b }",
    "graph as a name": "dag { a -> graph }",
    "graph alone": "dag { graph -> a }",
    "a subgraph of DOT": "dag { subgraph s { a } }",
    "a self loop": "dag { a -> a }",
    "a hidden self loop": "dag { a <-> a }",
    "an edge twice": "dag { a -> b; b <- a }",
    "a hidden cause twice": "dag { a <-> b; b <-> a }",
    "a cycle": "dag { a -> b -> c -> a }",
    "a cycle of latents": "dag { a [latent] b [latent] a -> b -> a }",
    "too deep": "dag " + "{" * 5000,
    "too deep in edges": "dag {" + "a -> {" * 5000,
}


@pytest.mark.parametrize("text", BAD_DAGITTY.values(), ids=BAD_DAGITTY)
def test_dagitty_refuses(text: str) -> None:
    with pytest.raises(GraphError, match=PLACED):
        Graph.from_dagitty(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dag {\n a -- b }", r"^line 2, column 4: '--' has no direction; write '->', '<-', or '<->'"),
        ("dag { a @-> b }", r"^line 1, column 9: '@' leaves an end of the edge open; decide it"),
        ("pdag {}", r"^line 1, column 1: a pdag stands for several graphs at once; choose one"),
        ("digraph {}", r"^line 1, column 1: a digraph is DOT; read it with Graph.from_dot"),
        ("graph {}", r"^line 1, column 1: a graph has no directions; write 'dag { ... }'"),
        (
            "dag {\nS [selected] }",
            r"^line 2, column 4: S is selected, and selection is not a hidden common cause",
        ),
        ("dag { A [o]\nB [outcome] }", r"^line 2, column 4: A and B are both outcomes; mark only one"),
        ("dag { A [e]\nA [latent] }", r"^line 2, column 4: A is both exposure and latent; mark it as one"),
        (
            "dag { A [Latent] }",
            r"^line 1, column 10: unknown role 'Latent'; roles are exposure, outcome, latent",
        ),
        ("dag { A [latent=0] }", r"^line 1, column 17: the role 'latent' takes no value; write \[latent\]"),
        ("dag { A -> B [latent] }", r"^line 1, column 15: the role 'latent' stands at an edge; give it to"),
        (
            "dag { edge [dir=both] }",
            r"^line 1, column 7: .* found the word 'edge' of this format; .* needs quotes",
        ),
        ("dag { a <- b\nb <- a }", r"^line 2, column 3: the directed edges form a cycle: a -> b -> a$"),
    ],
)
def test_dagitty_says_what_to_do(text: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_dagitty(text)


def test_dagitty_is_written_in_order() -> None:
    origin = Origin(exposures=("A", "not.here"), outcome="node")
    graph = Graph.from_edges([("A", "node")], [("A", "node"), ("A", "B")], ["B", "A", "node"], origin=origin)
    assert graph.to_dagitty().splitlines() == [
        "dag {",
        "B",
        "A [exposure]",
        '"node" [outcome]',
        'A -> "node"',
        "B <-> A",
        'A <-> "node"',
        "}",
    ]


def test_dagitty_is_readable_even_if_the_outcome_is_an_exposure() -> None:
    graph = Graph.from_edges([("X", "Y")], origin=Origin(("X", "Y"), "Y"))
    assert Graph.from_dagitty(graph.to_dagitty()).origin == Origin(("X",), "Y")


# -- networkx ----------------------------------------------------------------------------------


def network_of(*edges: tuple[Any, Any], **marks: Any) -> nx.DiGraph[Any]:
    network: nx.DiGraph[Any] = nx.DiGraph(edges)
    network.add_node("U", **marks)
    return network


@pytest.mark.parametrize("mark", ["hidden", "latent"])
def test_networkx_hides_marked_nodes(mark: str) -> None:
    graph = Graph.from_networkx(network_of(("U", "X"), ("U", "Y"), ("X", "Y"), **{mark: True}))
    assert graph == Graph("X -> Y; X <-> Y")
    assert graph.origin.notes == ("U is latent and was projected out; it leaves X <-> Y",)


@pytest.mark.parametrize("mark", ["hidden", "latent"])
def test_networkx_keeps_nodes_that_are_marked_as_not_hidden(mark: str) -> None:
    graph = Graph.from_networkx(network_of(("U", "X"), **{mark: False}))
    assert (graph, graph.origin) == (Graph("U -> X"), Origin())


def test_networkx_hides_the_latents_of_pgmpy() -> None:
    model: Any = network_of(("U", "X"), ("U", "Y"))
    model.latents = {"U", "not.here"}
    assert Graph.from_networkx(model) == Graph("X <-> Y")


def test_networkx_reads_multigraphs() -> None:
    assert Graph.from_networkx(nx.MultiDiGraph([("A", "B"), ("A", "C")])) == Graph("A -> {B, C}")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ([("A", "B")], r"^expected a networkx DiGraph, not list$"),
        (nx.Graph([("A", "B")]), r"^this networkx graph is undirected; build a DiGraph"),
        (network_of((1, 2)), r"^1 cannot be the name of a variable: a name must be a text$"),
        (network_of(("A", "B\tc")), r"^'B\\tc' cannot be the name of a variable"),
        (network_of(("A", "A")), r"^A -> A is a self loop"),
        (nx.MultiDiGraph([("A", "B"), ("A", "B")]), r"^the edge A -> B is given twice$"),
        (network_of(("A", "B"), ("B", "C"), ("C", "A")), r"cycle: A -> B -> C -> A$"),
        (
            network_of(("A", "B"), ("B", "A")),
            r"cycle: A -> B -> A; a hidden cause of both is a node with hidden=True",
        ),
    ],
)
def test_networkx_refuses(network: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_networkx(network)


def test_networkx_gives_hidden_causes_names_of_their_own() -> None:
    network = Graph("X <-> Y; U_X_Y -> X").to_networkx()
    assert list(network) == ["Y", "U_X_Y", "X", "U_Y_X"]
    assert [name for name, data in network.nodes(data=True) if data] == ["U_Y_X"]
    again = Graph("X <-> Y; U_X_Y").to_networkx()
    assert list(again) == ["X", "Y", "U_X_Y", "U_X_Y_"]
    assert list(again.edges) == [("U_X_Y_", "X"), ("U_X_Y_", "Y")]


def test_networkx_is_asked_for_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(DobanditError, match="pip install networkx"):
        Graph("X -> Y").to_networkx()


# -- whatever comes ----------------------------------------------------------------------------

SIGNS = [*'abcXY{}[];,=-<>"\\/*#.1é:@+ \n', "->", "<->", "<-", "--", "@->", "//", "/*", "*/"]
WORDS = [
    "a",
    '"a"',
    '"a b"',
    "node",
    "edge",
    "graph",
    "digraph",
    "strict",
    "subgraph s",
    "latent",
    "dag",
    "[x=1]",
]
DOT_STATEMENTS = [
    "a -> b",
    "{a b}",
    "-> c",
    "c -> d [dir=both]",
    "d -> e [dir=back]",
    "edge [dir=both]",
    "node [latent=1]",
    "a [observed=no]",
    "b [hidden=0]",
    "{",
    "}",
]
DAGITTY_STATEMENTS = [
    "a -> b",
    "{a b}",
    "<-> c",
    "d <- c",
    "a [latent]",
    "b [exposure]",
    "c [outcome]",
    "{",
    "}",
]


def texts(opening: str, statements: list[str]) -> st.SearchStrategy[str]:
    """Texts from the alphabet of a format: noise, noise that gets past the first line, and near misses."""
    noise = st.lists(st.sampled_from([*SIGNS, *WORDS, *statements]), max_size=25).map("".join)
    sense = st.lists(st.sampled_from(statements), max_size=6).map(" ".join)
    return noise | (noise | sense).map(lambda text: f"{opening} {{ {text} }}")


@settings(fixed, max_examples=400)
@given(texts("digraph", DOT_STATEMENTS))
def test_any_dot_is_read_or_refused_with_a_place(text: str) -> None:
    result = attempt(Graph.from_dot, text)
    assert Graph.from_dot(result.to_dot()) == result if isinstance(result, Graph) else result.line


@settings(fixed, max_examples=400)
@given(texts("dag", DAGITTY_STATEMENTS))
def test_any_dagitty_is_read_or_refused_with_a_place(text: str) -> None:
    result = attempt(Graph.from_dagitty, text)
    assert Graph.from_dagitty(result.to_dagitty()) == result if isinstance(result, Graph) else result.line


@pytest.mark.parametrize("read", [Graph.from_dot, Graph.from_dagitty])
def test_only_texts_are_read(read: Any) -> None:
    with pytest.raises(GraphError, match=r"^a graph is read from a text, not from NoneType$"):
        read(None)
