"""Hidden variables in DOT, dagitty and networkx are projected out, and no attribute that may matter is overlooked."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import dobandit as db
from dobandit.errors import GraphError, ProblemError, UnknownVariable
from dobandit.graph import Graph, Origin

CONFOUNDED, OPEN = Graph("X -> Y; X <-> Y"), Graph("U -> {X, Y}; X -> Y")
NOTE = "U is latent and was projected out; it leaves X <-> Y"


def dot(statements: str) -> Graph:
    return Graph.from_dot("digraph {" + statements + "}")


def network(node: dict[str, Any] | None = None, edge: dict[str, Any] | None = None) -> nx.DiGraph[str]:
    """U -> {X, Y}; X -> Y, with attributes of U and of X -> Y."""
    found: nx.DiGraph[str] = nx.DiGraph([("U", "X"), ("U", "Y")])
    found.add_edge("X", "Y", **(edge or {}))
    found.add_node("U", **(node or {}))
    return found


# -- variables ---------------------------------------------------------------------------------

HIDES = [
    *(("observed", value) for value in ("no", "No", "false", "False", "0", "n", "off")),
    *((key, "yes") for key in ("latent", "hidden", "unobserved", "unmeasured", "Latent", "HIDDEN", "is_latent")),
    *(("latent", value) for value in ("true", "TRUE", "1", "y", "on")),
    *(("measured", "no"), ("role", "latent"), ("roles", "{'latents'}"), ("label", "Unobserved Confounders")),
]


@pytest.mark.parametrize(("key", "value"), HIDES)
def test_a_hidden_variable_is_projected_out_and_reported(key: str, value: str) -> None:
    read = dot(f'U ["{key}"="{value}"]; U -> X; U -> Y; X -> Y')
    assert (read, read.origin) == (CONFOUNDED, Origin(notes=(NOTE,), hidden=("U",)))
    assert Graph.from_networkx(network({key: value})).origin == read.origin
    assert Graph.from_networkx(network({key: f'"{value}"'})) == CONFOUNDED  # pydot keeps the quotes
    with pytest.raises(db.NotIdentifiable, match="share hidden causes: X <-> Y"):
        db.identify(read, do="X", on="Y")


@pytest.mark.parametrize(
    "attributes",
    [
        *({"observed": value} for value in (False, 0, 0.0, np.bool_(False))),
        *({"hidden": value} for value in (True, 1, 1.0, np.int64(1))),
        {"roles": {"latents", "adjustment"}, "weight": None},
    ],
)
def test_python_values_hide_nodes(attributes: dict[str, Any]) -> None:
    assert Graph.from_networkx(network(attributes)) == CONFOUNDED


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("observed", "yes"),
        ("observed", "True"),
        ("latent", "no"),
        ("hidden", "0"),
        ("role", "exposure"),
        ("label", "U"),
    ],
)
def test_what_is_marked_as_observed_stays(key: str, value: str) -> None:
    read = dot(f'U [{key}="{value}"]; U -> {{X Y}}; X -> Y')
    assert (read, read.origin) == (OPEN, Origin())
    assert Graph.from_networkx(network({key: value})) == OPEN


SCOPES = {
    "a default": ("node [observed=no]; U; node [observed=yes]; U -> X -> Y; U -> Y", CONFOUNDED),
    "a default for the rest": ("X -> Y; node [latent=true]; U -> {X Y}", CONFOUNDED),
    "a default of a block": ("subgraph cluster_u { node [hidden=1, color=red]; U } U -> {X Y}; X -> Y", CONFOUNDED),
    "a default from outside": ("X; Y; node [observed=no]; { { U } } U -> {X Y}; X -> Y", CONFOUNDED),
    "more than its default": ("node [latent=yes]; X [latent=no]; Y [observed=1]; U -> {X Y}; X -> Y", CONFOUNDED),
    "a default that says nothing": (
        "node [latent=yes]; node [color=red]; U; node [latent=no]; U -> {X Y}; X -> Y",
        CONFOUNDED,
    ),
    "named again later": ("U -> {X Y}; X -> Y; U [observed=no]; U [color=gray]", CONFOUNDED),
    "named again outside": ("{ node [observed=no]; U } U -> {X Y}; X -> Y; {rank=same; U; X}", CONFOUNDED),
    "twice the same": ("U [observed=no, hidden=yes]; U -> {X Y}; X -> Y; U [latent=1]", CONFOUNDED),
    "decided where it was unclear": ("U -> {X Y}; X -> Y; { node [latent=1]; U } U [latent=1]", CONFOUNDED),
    "with parents": ("U [latent=1]; Z -> U -> {X Y}; X -> Y", Graph("Z -> {X, Y}; X -> Y; X <-> Y")),
    "in the middle": ("M [observed=false]; X -> M -> Y", Graph("X -> Y")),
}


@pytest.mark.parametrize(("statements", "same"), SCOPES.values(), ids=SCOPES)
def test_marks_in_dot(statements: str, same: Graph) -> None:
    read = dot(statements)
    assert (set(read.variables), read.directed, read.bidirected) == (
        set(same.variables),
        same.directed,
        same.bidirected,
    )


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ("\n U [observed=maybe]", r"^line 2, column 14: observed is yes or no .*, not 'maybe'$"),
        ('U [observed=""]', r"column 22: observed is yes or no"),
        ("U [role=boss]", r"column 18: unknown role 'boss'; a hidden variable has the role latent$"),
        ("U [observed=no,\n latent=false]", r"^line 2, column 9: U is marked both hidden and observed \(observed=no, "),
        ("U [hidden=1];\nU [hidden=0]", r"^line 2, column 11: U is marked both hidden and observed"),
        ("node [hidden=1, observed=1]", r"column 35: node is marked both hidden and observed"),
        ("U [obsrved=no]", r"column 13: unknown attribute 'obsrved'; mark a hidden variable with observed=no"),
        ("node [causal=no]", r"column 16: unknown attribute 'causal'"),
        (
            "U -> X; { node [observed=no]; U }",
            r"column 40: U was named before, .* write U \[observed=no\] if it is hid",
        ),
        ("{ node [latent=1]; U } node [latent=0]; U", r"column 50: U was named before"),
        ("subgraph s { observed=no; U }", r"column 32: observed=no cannot mark a whole graph; mark each hidden"),
        ("graph [latents=U]", r"column 25: latents=U cannot mark a whole graph"),
        ("X -> Y [confounded=true]", r"column 29: confounded=true cannot mark an edge; write dir=both"),
        ("X -> Y [bidirected=1]", r"column 29: bidirected=1 cannot mark an edge"),
        ("edge [observed=no]", r"column 25: observed=no cannot mark an edge"),
        ("X -> Y [kind=hidden]", r"column 18: unknown attribute 'kind' of an edge; write a hidden common cause as dir"),
        ("X -> Y [arrowhead=none]", r"column 28: arrowhead=none leaves an end of the edge open"),
        ("X -> Y [dir=both, arrowtail=odot]", r"column 38: arrowtail=odot leaves an end of the edge open"),
        ("X -> Y [style=invis]", r"column 24: an edge with style=invis is not seen"),
    ],
)
def test_dot_refuses_marks_that_leave_open_what_is_meant(statements: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        dot(statements)


def test_dagitty_marks_by_its_own_word() -> None:
    for text, message in (
        ("dag { U [observed=no] }", r"column 10: dagitty marks hidden variables as \[latent\]"),
        ("dag { graph [latents=U] }", r"column 22: latents=U cannot mark a whole graph"),
        ("dag { U [hide=yes] }", r"column 10: unknown attribute 'hide'"),
        ("dag { X -> Y [dir=both] }", r"column 15: dagitty has no dir; write"),
        ("dag { X -> Y [confounded] }", r"column 15: confounded=yes cannot mark an edge"),
        ("dag { X -> Y [kind=hidden] }", r"column 15: unknown attribute 'kind' of an edge"),
    ):
        with pytest.raises(GraphError, match=message):
            Graph.from_dagitty(text)


# -- networkx ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "edge", "message"),
    [
        ({"observed": "maybe"}, {}, r"^node U: observed is yes or no .*, not 'maybe'$"),
        (
            {"observed": "no", "latent": False},
            {},
            r"^node U: U is marked both hidden and observed \(observed=no, latent=",
        ),
        ({"latent": None}, {}, r"^node U: latent is yes or no .*, not None$"),
        ({"observed": None}, {}, r"^node U: observed is yes or no .*, not None$"),
        ({"weight": 3}, {}, r"^node U: unknown attribute 'weight'; mark a hidden variable"),
        ({}, {"confounded": None}, r"^edge X -> Y: confounded is yes or no"),
        ({}, {"dir": None}, r"^edge X -> Y: unknown dir"),
        ({"kind": "hidden"}, {}, r"^node U: unknown attribute 'kind'; mark a hidden variable"),
        ({}, {"bidirected": True}, r"^edge X -> Y: bidirected=True cannot mark an edge"),
        ({}, {"confounded": "yes"}, r"^edge X -> Y: confounded=yes cannot mark an edge"),
        ({}, {"type": "dashed"}, r"^edge X -> Y: unknown attribute 'type' of an edge"),
        ({}, {"dir": "none"}, r"^edge X -> Y: dir=none leaves open"),
    ],
)
def test_networkx_names_the_node_or_the_edge(node: dict[str, Any], edge: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_networkx(network(node, edge))


def test_networkx_reads_the_directions_of_dot() -> None:
    assert Graph.from_networkx(network(edge={"dir": "both"})) == Graph("U -> {X, Y}; X <-> Y")
    assert Graph.from_networkx(network(edge={"dir": '"back"'})) == Graph("U -> {Y, X}; Y -> X", variables="UXY")
    assert Graph.from_networkx(network(edge={"dir": "forward", "bidirected": False})) == OPEN
    both: nx.MultiDiGraph[str] = nx.MultiDiGraph([("X", "Y"), ("X", "Y", {"dir": "both"})])
    assert Graph.from_networkx(both) == CONFOUNDED


def test_networkx_reads_the_latents_of_pgmpy() -> None:
    model: Any = network({"weight": None})
    model.latents = "U"
    assert Graph.from_networkx(model) == CONFOUNDED
    model.nodes["U"]["observed"] = "yes"
    with pytest.raises(GraphError, match=r"^node U: U is marked both hidden and observed"):
        Graph.from_networkx(model)


def test_a_mixed_graph_of_pgmpy() -> None:
    """Its ADMG has a type at every edge, and each hidden cause in both directions."""
    model: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    model.add_edge("X", "Y", type="directed")
    for pair in (("X", "Y"), ("Y", "X")):
        model.add_edge(*pair, type="bidirected")
    assert Graph(model) == CONFOUNDED


def test_a_partly_directed_graph_of_pgmpy_is_refused() -> None:
    """Its PDAG has an undirected edge in both directions."""
    model: Any = nx.DiGraph([("X", "Y"), ("Y", "Z"), ("Z", "Y")])
    model.undirected_edges = {("Y", "Z")}
    with pytest.raises(GraphError, match=r"^the direction of the edge between Y and Z is open; choose"):
        Graph(model)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"node": {"observed": '"no"'}}, r"^the defaults of nodes: observed=\"no\" is not at the nodes themselves"),
        ({"edge": {"dir": "both"}}, r"^the defaults of edges: dir=both is not at the edges themselves"),
        ({"latents": ["U"]}, r"^the graph: latents=\['U'\] cannot mark a whole graph"),
    ],
)
def test_defaults_that_networkx_does_not_apply_are_refused(settings: dict[str, Any], message: str) -> None:
    graph = network()
    graph.graph.update({"name": "shop", "graph": {"rankdir": "LR"}, **settings})
    with pytest.raises(GraphError, match=message):
        Graph.from_networkx(graph)
    graph.graph = {"name": "shop", "node": {"shape": "box"}, "edge": {"dir": "forward"}}
    assert Graph.from_networkx(graph) == OPEN


# -- drawing -----------------------------------------------------------------------------------

LAID_OUT = """digraph {
	graph [_draw_="c 9 -#fffffe00 C 7 -#ffffff P 4 0 0", bb="0,0,126,180", xdotversion=1.7, rankdir=LR];
	node [label="\\N", shape=ellipse, fontname="Helvetica,Arial", style="filled,rounded"];
	edge [arrowhead=vee, color="#333333", penwidth=1.5];
	U	[_draw_="c 7 -#000000 e 63 162 27 18", _ldraw_="F 14 11", height=0.5, pos="63,162", width=0.75,
		tooltip="a tooltip", URL="https://example.org", href="x", class="c", id=n1, comment="x", group=g,
		fillcolor=gray, xlabel="x", xlp="1,2", peripheries=2, layer=all, rank=same, image="", fixedsize=true];
	U -> X	[_draw_="c 7", _hdraw_="S 5", pos="e,33,107 56,144", lp="3,4", label=causes, headlabel=h, weight=2,
		minlen=2, constraint=false, labelfontsize=9, tailport=n, ltail=cluster_1, splines=true, style=dashed];
	U -> Y -> {} [URL="x", edgetooltip="x", headURL="x", samehead=a, arrowsize=0.5];
	X -> Y	[taillabel=t, decorate=true];
}"""


def test_drawing_says_nothing_about_causes() -> None:
    read = Graph.from_dot(LAID_OUT)
    assert (read, read.origin) == (OPEN, Origin())


def test_bookkeeping_of_other_programs_says_nothing_about_causes() -> None:
    node = {"pos": (0, 1), "label": "U", "x": 1.0, "subset": 2, "causal_mechanism": object(), "title": "u"}
    assert Graph.from_networkx(network(node, {"weight": None, "origin": "learned", "key": 0})) == OPEN


# -- questions about what is hidden ------------------------------------------------------------


def test_a_hidden_variable_is_no_reward_and_no_arm() -> None:
    graph = dot("Y [observed=no]; X -> Y -> Z")
    with pytest.raises(UnknownVariable, match=r"^Y is hidden in the graph; it has X and Z$"):
        db.identify(graph, do="X", on="Y")
    with pytest.raises(ProblemError) as caught:
        db.Problem(graph, reward="Y", budget=9, intervenable=["Y"], costs={"do(Y)": 2})
    sentence = "Y is hidden in the graph; remove the mark there, or name an observed variable"
    assert str(caught.value).splitlines() == [
        f"{place}: {sentence}" for place in ("reward", "intervenable", "costs.do(Y)")
    ]


@pytest.mark.parametrize(
    "said",
    [
        'U [label="U (unobserved)"]',
        "U [class=latent]",
        'U [comment="hidden"]',
        "U [style=invis]",
        'U [role="latent observed"]',
        'latent_nodes="U"',
        "foo=bar",
        "U -> X2; {node [hidden=true] U} -> Z",
    ],
)
def test_what_may_be_a_mark_is_never_passed_over(said: str) -> None:
    """Read as a drawing, these would make U observed, and the effect of X on Y look identifiable."""
    with pytest.raises(GraphError):
        Graph.from_dot(f"digraph {{ {said}; U -> X; U -> Y; X -> Y }}")


def test_a_label_is_a_label_where_a_mark_says_it() -> None:
    text = 'digraph {{ U [label="latent heat", observed={}]; U -> X; U -> Y; X -> Y }}'
    assert Graph.from_dot(text.format("yes")) == Graph("U -> {X, Y}; X -> Y")
    assert Graph.from_dot(text.format("no")) == Graph("X -> Y; X <-> Y")
