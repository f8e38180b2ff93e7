"""Figures: what must hold for every graph (nothing overlaps, nothing is lost), and files that do not change."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon

from dobandit.errors import DobanditError, FileError, MissingExtra
from dobandit.estimate.observational import Bounds
from dobandit.graph import Graph
from dobandit.plots import (
    Course,
    Curve,
    EffectRow,
    Kind,
    OptionRow,
    Timeline,
    curves_figure,
    effects_figure,
    graph_figure,
    save,
    study_figure,
)
from dobandit.plots.layers import grid
from dobandit.plots.layout import Layout, layout
from dobandit.plots.ordering import crossings, untangled
from dobandit.plots.rows import spaced
from dobandit.problem import Problem
from dobandit.report import problem_figure
from tests import named_graphs as named
from tests.strategies import admgs

LEGEND = {
    "reward": Kind("the reward", "#F0E442"),
    "settable": Kind("can be set", "#56B4E9"),
    "fixed": Kind("cannot", "black"),
}
SHOP = Graph(
    "Loyalty -> {Newsletter, Visit, Buy}; Ad -> Visit -> Buy; Newsletter -> Visit; Discount -> Buy; "
    "Ad <-> Buy; Discount <-> Buy"
)
CONFOUNDED = Graph.from_edges(
    [(f"X{i}", "Y") for i in range(50)],
    [(f"X{i}", "Y") for i in range(0, 50, 3)] + [(f"X{i}", f"X{i + 1}") for i in range(0, 49, 2)],
)
STAR = Graph("A -> {" + ", ".join(f"B{i}" for i in range(40)) + "}")
ALONE = Graph("X -> Y; " + "; ".join(f"Z{i}" for i in range(58)))


def laid_out(graph: Graph, widths: dict[str, float] | None = None) -> Layout:
    widths = widths or {v: 0.3 + 0.08 * len(v) for v in graph.variables}
    return layout(graph.variables, sorted(graph.directed), sorted(graph.bidirected), widths)


def drawn(graph: Graph, **options: object) -> Figure:
    return graph_figure(graph.variables, sorted(graph.directed), sorted(graph.bidirected), **options)  # type: ignore[arg-type]


def points_on(route: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Points along the cubic curves of a route."""
    t = np.linspace(0, 1, 25)[:, None]
    controls = np.array(route)
    pieces = [controls[i : i + 4] for i in range(0, len(controls) - 1, 3)]
    return np.concatenate(
        [(1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d for a, b, c, d in pieces]
    )


# -- layout ------------------------------------------------------------------------------------------


def check(graph: Graph, drawing: Layout) -> None:
    """Causes left of effects, boxes apart, and no line inside any box."""
    assert set(drawing.boxes) == set(graph.variables)
    for a, b in graph.directed:
        assert drawing.boxes[a].x + drawing.boxes[a].width / 2 < drawing.boxes[b].x - drawing.boxes[b].width / 2
    for one, other in combinations(drawing.boxes.values(), 2):
        beside = abs(one.x - other.x) >= (one.width + other.width) / 2 + 0.3
        assert beside or abs(one.y - other.y) >= (one.height + other.height) / 2 + 0.1
    for route in drawing.routes.values():
        points = points_on(route)
        for box in drawing.boxes.values():
            inside = (abs(points - [box.x, box.y]) < np.array([box.width, box.height]) / 2 - 1e-6).all(axis=1)
            assert not inside.any()


@settings(max_examples=20, deadline=None)
@given(admgs(min_size=1, max_size=9), st.floats(0.2, 3.0))
def test_nothing_overlaps_on_random_graphs(graph: Graph, width: float) -> None:
    widths = {v: width if i % 2 else 0.5 for i, v in enumerate(graph.variables)}
    check(graph, laid_out(graph, widths))


@pytest.mark.parametrize("graph", [SHOP, named.FIG7, named.FIG11, named.PARALLEL, CONFOUNDED, STAR, ALONE, Graph("A")])
def test_nothing_overlaps_on_named_graphs(graph: Graph) -> None:
    check(graph, laid_out(graph))


def test_nothing_overlaps_on_large_random_graphs() -> None:
    rng = np.random.default_rng(3)
    names = [f"V{i}" for i in range(60)]
    pairs = list(combinations(names, 2))
    directed = [pair for pair in pairs if rng.random() < 0.04]
    graph = Graph.from_edges(directed, [pair for pair in pairs if rng.random() < 0.02], names)
    check(graph, laid_out(graph))


@settings(max_examples=20, deadline=None)
@given(admgs(min_size=1, max_size=9))
def test_every_line_joins_the_borders_of_its_two_boxes(graph: Graph) -> None:
    drawing = laid_out(graph)
    wanted = [*graph.directed, *(frozenset(pair) for pair in graph.bidirected)]
    assert Counter(frozenset(r[:2]) if r.hidden else (r.left, r.right) for r in drawing.routes) == Counter(wanted)
    for line, route in drawing.routes.items():
        for node, (x, y) in ((line.left, route[0]), (line.right, route[-1])):
            box = drawing.boxes[node]
            away = [abs(x - box.x) - box.width / 2, abs(y - box.y) - box.height / 2]
            assert max(away) == pytest.approx(0, abs=1e-9)


def test_the_hidden_cause_of_a_bow_is_seen_beside_its_arrow() -> None:
    routes = laid_out(named.BOW).routes
    arrow, hidden = (points_on(routes[line]) for line in sorted(routes, key=lambda line: line.hidden))
    assert (hidden[:, 1].max() < arrow[:, 1].min()) or (hidden[:, 1].min() > arrow[:, 1].max())


def cross(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two curves of complex points cross: some piece of each has the ends of the other on both sides."""
    a, b, c, d = one[:-1, None], one[1:, None], other[None, :-1], other[None, 1:]
    sides = [
        ((q - p).conj() * (r - p)).imag * ((q - p).conj() * (s - p)).imag for p, q, r, s in [(a, b, c, d), (c, d, a, b)]
    ]
    return bool(((sides[0] < 0) & (sides[1] < 0)).any())


@pytest.mark.parametrize("graph", [SHOP, named.FIG11, named.INSTRUMENT, Graph("A -> B -> Y; A <-> {B, Y}")])
def test_hidden_causes_at_one_box_do_not_cross(graph: Graph) -> None:
    curves = [points_on(route) @ [1, 1j] for line, route in laid_out(graph).routes.items() if line.hidden]
    assert not any(cross(one, other) for one, other in combinations(curves, 2))


def test_a_chain_is_level_and_a_page_is_not_a_tower() -> None:
    assert len({box.y for box in laid_out(Graph("A -> B -> C -> D")).boxes.values()}) == 1
    boxes = laid_out(named.PARALLEL).boxes.values()
    assert max(box.y for box in boxes) - min(box.y for box in boxes) < 11


@settings(max_examples=20, deadline=None)
@given(admgs(min_size=1, max_size=9))
def test_sorting_never_adds_crossings(graph: Graph) -> None:
    start = grid(graph.variables, graph.directed, graph.bidirected)
    end = untangled(start)
    assert [sorted(map(str, column)) for column in end.columns] == [sorted(map(str, c)) for c in start.columns]
    assert crossings(end.columns, end.neighbours()[1]) <= crossings(start.columns, start.neighbours()[1])


def test_a_drawing_without_need_for_crossings_has_none() -> None:
    tree = Graph("A -> {B, C}; C -> {D, E}; B -> {F, G}; D -> H; F -> I")
    cells = untangled(grid(tree.variables, sorted(tree.directed, reverse=True), []))
    assert crossings(cells.columns, cells.neighbours()[1]) == 0


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(0, 2), st.floats(0.1, 5)), min_size=1, max_size=8))
def test_spacing_keeps_gaps_and_cannot_be_bettered(cells: list[tuple[float, float, float]]) -> None:
    wishes, gaps, weights = [w for w, _, _ in cells], [g for _, g, _ in cells[1:]], [w for _, _, w in cells]
    found = spaced(wishes, gaps, weights)
    assert all(b - a >= gap - 1e-9 for (a, b), gap in zip(pairwise(found), gaps, strict=True))

    def strain(places: list[float]) -> float:
        return sum(v * (p - w) ** 2 for p, w, v in zip(places, wishes, weights, strict=True))

    for i in range(len(found)):  # moving the head or the tail of the row as a whole stays feasible: it must not help
        for step in (-1e-3, 1e-3):
            moved = [p + step * (k >= i if step > 0 else k <= i) for k, p in enumerate(found)]
            assert strain(moved) >= strain(found) - 1e-9


# -- the figure of a graph ---------------------------------------------------------------------------


def labels_of(figure: Figure, kind: type[FancyBboxPatch] | type[PathPatch]) -> list[str]:
    return sorted(str(patch.get_label()) for patch in figure.axes[0].patches if type(patch) is kind)


@settings(max_examples=8, deadline=None)
@given(admgs(min_size=1, max_size=8))
def test_everything_is_drawn_once(graph: Graph) -> None:
    figure = drawn(graph)
    assert labels_of(figure, FancyBboxPatch) == sorted(graph.variables)
    assert sorted(text.get_text() for text in figure.axes[0].texts) == sorted(graph.variables)
    lines = [label.split(" ") for label in labels_of(figure, PathPatch)]
    assert sorted((a, b) for a, sign, b in lines if sign == "->") == sorted(graph.directed)
    assert sorted(tuple(sorted((a, b))) for a, sign, b in lines if sign == "<->") == sorted(graph.bidirected)
    heads = [patch for patch in figure.axes[0].patches if isinstance(patch, Polygon)]
    assert len(heads) == len(graph.directed) + 2 * len(graph.bidirected)


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_the_legend_explains_what_occurs_and_nothing_else() -> None:
    assert legend_of(drawn(named.BOW, kinds={"Y": "reward"}, legend=LEGEND)) == ["the reward", "hidden common cause"]
    assert legend_of(drawn(named.BACK_DOOR, kinds={"Y": "reward", "X": "settable"}, legend=LEGEND)) == [
        "the reward",
        "can be set",
    ]
    assert legend_of(drawn(named.BACK_DOOR)) == []


@pytest.mark.parametrize("graph", [named.BOW, SHOP, Graph("A")])
def test_graph_and_legend_fit_and_do_not_cover_each_other(graph: Graph) -> None:
    kinds = dict(zip(graph.variables, ["reward", "settable", "fixed", "reward"], strict=False))
    figure = drawn(graph, kinds=kinds, legend=LEGEND, notes=["one note", "another one"])
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    body, foot = (part.get_window_extent(renderer) for part in (figure.axes[0], figure.legends[0]))
    upper, lower = sorted((text.get_window_extent(renderer) for text in figure.texts), key=lambda box: -box.y0)
    assert foot.y0 >= upper.y1 > upper.y0 >= lower.y1
    assert lower.y0 >= 0
    assert foot.y1 <= body.y0 <= body.y1 <= figure.bbox.y1
    assert foot.x0 >= 0
    assert foot.x1 <= figure.bbox.x1
    for box, text in zip(figure.axes[0].patches[-len(graph.variables) :], figure.axes[0].texts, strict=True):
        assert box.get_window_extent(renderer).width > text.get_window_extent(renderer).width + 10


def test_the_graph_of_a_problem_tells_what_observations_bound() -> None:
    problem = Problem("X -> Y; X <-> Y; Z -> Y", reward="Y", budget=10)
    bounds = {"do(X=1)": Bounds(0.25, 0.75, "natural")}
    told = [text.get_text() for text in problem_figure(problem, bounds).texts]
    assert told == ["Means of Y that agree with the observations:", "do(X=1): 0.25 to 0.75"]
    kinds = legend_of(problem_figure(problem, bounds))
    assert "can be set; observations bound its effect" in kinds
    assert "can be set; observations show its effect" in kinds
    assert "can be set; only experiments show its effect" in legend_of(problem_figure(problem))
    boxes = {str(box.get_label()): box for box in problem_figure(problem, bounds).axes[0].patches[-3:]}
    assert boxes["X"].get_linestyle() != boxes["Z"].get_linestyle()  # not told by the colour alone


def test_names_are_text_and_can_be_read_on_dark_boxes() -> None:
    figure = graph_figure(["a$b$", "Y"], [("a$b$", "Y")], [], kinds={"Y": "fixed"}, legend=LEGEND)
    texts = figure.axes[0].texts
    assert [text.get_color() for text in texts] == ["#222222", "white"]
    assert not any(text.get_parse_math() for text in texts)


# -- effects -----------------------------------------------------------------------------------------

ROWS = [
    EffectRow("do(X=0)", 0.2, 0.1, 0.3, 0.15, 0.22),
    EffectRow("do(W=1)", naive=0.7, truth=0.3),
    EffectRow("do(X=1)", 0.6, 0.5, 0.7, 0.8, 0.55),
    EffectRow("do()", 0.4),
    EffectRow("do(V=1)"),
]


def arms_of(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def test_arms_are_sorted_and_the_unknown_come_last_in_grey() -> None:
    figure = effects_figure(ROWS, xlabel="reward")
    assert arms_of(figure) == ["do(X=1)", "do()", "do(X=0)", "do(W=1)", "do(V=1)"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["not identifiable from observations"] * 2
    assert [text.get_position()[1] for text in figure.axes[0].texts] == [3, 4]
    colours = [text.get_color() for text in figure.axes[0].get_yticklabels()]
    assert len(set(colours[:3])) == len(set(colours[3:])) == 1
    assert colours[0] != colours[3]


def test_every_number_is_drawn_in_the_row_of_its_arm() -> None:
    axes = effects_figure(ROWS, xlabel="reward").axes[0]
    seen = Counter((x, y) for line in axes.lines for x, y in zip(*map(np.ravel, line.get_data()), strict=True))
    expected = {(0.6, 0), (0.5, 0), (0.7, 0), (0.8, 0), (0.4, 1), (0.2, 2), (0.1, 2), (0.3, 2), (0.15, 2), (0.7, 3)}
    assert seen == Counter(expected)
    marks = [np.asarray(path.vertices)[0] for collection in axes.collections for path in collection.get_paths()]
    assert sorted((float(x), round(float(y))) for x, y in marks) == [(0.22, 2), (0.3, 3), (0.55, 0)]
    low, high = axes.get_xlim()
    assert low < 0.1
    assert high > 0.8


def test_the_legend_of_effects_explains_what_occurs() -> None:
    assert len(legend_of(effects_figure(ROWS, xlabel="reward"))) == 3
    assert legend_of(effects_figure([EffectRow("do()", 0.4)], xlabel="")) == ["estimate with its interval"]
    assert legend_of(effects_figure([EffectRow("do(V=1)")], xlabel="")) == []


@settings(max_examples=6, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_the_reason_never_covers_a_mark(naive: float, truth: float) -> None:
    rows = [EffectRow("do()", 0.5, 0.0, 1.0), EffectRow("do(W=1)", naive=naive, truth=truth)]
    figure = effects_figure(rows, xlabel="reward")
    axes = figure.axes[0]
    reason = axes.texts[0].get_window_extent(figure.canvas.get_renderer())  # type: ignore[attr-defined]
    left, right = (axes.transData.inverted().transform((x, 0))[0] for x in (reason.x0, reason.x1))
    assert not any(left < mark < right for mark in (naive, truth))


# -- files -------------------------------------------------------------------------------------------

SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_saving_is_deterministic(tmp_path: Path, suffix: str) -> None:
    first, again, other = (tmp_path / f"{name}.{suffix}" for name in ("first", "again", "other"))
    figure = drawn(named.FRONT_DOOR)
    save(figure, first)
    save(figure, str(again))
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "none"}):
        save(drawn(named.FRONT_DOOR), other)
    assert first.read_bytes().startswith(SIGNATURES[suffix])
    assert first.read_bytes() == again.read_bytes() == other.read_bytes()


def test_effects_are_deterministic_and_the_svg_is_well_formed(tmp_path: Path) -> None:
    for name in ("a.svg", "b.SVG"):
        save(effects_figure(ROWS, xlabel="reward", title="x < y & z"), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.SVG").read_bytes()
    ElementTree.parse(tmp_path / "a.svg")


def test_mistakes_in_a_path_are_sentences(tmp_path: Path) -> None:
    figure = drawn(Graph("A"))
    for name in ("graph.bmp", "graph"):
        with pytest.raises(DobanditError, match=r"must end in \.png, \.svg or \.pdf"):
            save(figure, tmp_path / name)
    with pytest.raises(FileError, match=r"nowhere.*: its folder does not exist"):
        save(figure, tmp_path / "nowhere" / "graph.png")
    assert not list(tmp_path.iterdir())


# -- matplotlib --------------------------------------------------------------------------------------


def test_without_matplotlib_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    sentence = r"pip install 'dobandit\[plot\]'"
    with pytest.raises(MissingExtra, match=sentence):
        drawn(named.BOW)
    with pytest.raises(MissingExtra, match=sentence):
        effects_figure(ROWS, xlabel="")


def test_settings_are_left_alone() -> None:
    before = dict(mpl.rcParams)
    drawn(named.BOW)
    effects_figure(ROWS, xlabel="")
    assert dict(mpl.rcParams) == before


def test_no_display_no_pyplot_and_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    """Hash seeds differ between processes; a figure must not."""
    code = (
        "import sys; from dobandit.plots import graph_figure, save; assert 'matplotlib' not in sys.modules;"
        "save(graph_figure(['X', 'M', 'Y'], [('M', 'Y'), ('X', 'M')], [('X', 'Y')]), sys.argv[1]);"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "MPLBACKEND": "TkAgg", "MPLCONFIGDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "other.svg")], check=True, env=environment)
    save(drawn(named.FRONT_DOOR), tmp_path / "own.svg")
    assert (tmp_path / "other.svg").read_bytes() == (tmp_path / "own.svg").read_bytes()


# -- regret ------------------------------------------------------------------------------------


CURVES = [
    Curve("paper-simple", (1, 2, 3), (3.0, 2.0, 1.0), (0.1, 0.1, 0.1)),
    Curve("srm", (1, 2, 3), (4.0, 4.0, 4.0), (0.1, 0.1, 0.1)),
    Curve("srm[form=rounds]", (1, 2, 3), (5.0, 5.0, 5.0), (0.1, 0.1, 0.1)),
]
PUBLISHED = [Curve("srm", (1, 3), (6.0, 7.0), (0.1, 0.1)), Curve("srm[form=rounds]", (1, 3), (6.0, 7.0), (0.1, 0.1))]
BOUND = [Curve("a bound", (1, 3), (9.0, 8.0), (0.0, 0.0))]


def lines_of(figure: Figure) -> dict[tuple[float, ...], Line2D]:
    return {tuple(line.get_ydata()): line for line in figure.axes[0].get_lines()}  # type: ignore[arg-type]


def test_regret_with_published_curves_and_bounds() -> None:
    figure = curves_figure(CURVES, xlabel="budget", ylabel="regret", published=PUBLISHED, bounds=BOUND)
    lines = lines_of(figure)
    assert set(lines) == {tuple(c.mean) for c in (*CURVES, *PUBLISHED, *BOUND)}, "the published curve is drawn once"
    ours, variant, theirs = (lines[m] for m in ((4.0, 4.0, 4.0), (5.0, 5.0, 5.0), (6.0, 7.0)))
    assert ours.get_color() == variant.get_color() == theirs.get_color() != lines[3.0, 2.0, 1.0].get_color()
    assert len({str(line._dash_pattern) for line in (ours, variant, theirs)}) == 3  # type: ignore[attr-defined]
    assert legend_of(figure) == ["dotted: as published", "a bound"]
    names = {text.get_text(): text.get_color() for text in figure.axes[0].texts}
    assert {curve.policy: lines[tuple(curve.mean)].get_color() for curve in CURVES}.items() <= names.items()
    assert "bands: ± 1 standard error of the mean" in names
    assert lines[3.0, 2.0, 1.0].get_zorder() > ours.get_zorder() > variant.get_zorder(), "the first is seen"


def test_the_same_policy_has_the_same_colour_in_every_figure() -> None:
    alone = curves_figure(CURVES[1:2], xlabel="x", ylabel="y")
    together = curves_figure(CURVES, xlabel="x", ylabel="y")
    assert lines_of(alone)[4.0, 4.0, 4.0].get_color() == lines_of(together)[4.0, 4.0, 4.0].get_color()


@pytest.mark.parametrize("se", [0.5, math.nan])
def test_regret_at_a_single_place_is_dots_with_bars(se: float) -> None:
    curves = [Curve(name, (60,), (i,), (se,)) for i, name in enumerate(["ucb", "srm", "srm[form=rounds]"])]
    theirs, bound = Curve("srm", (40, 60), (6.0, 7.0), (0.1, 0.1)), Curve("a bound", (60,), (9.0,), (0.0,))
    figure = curves_figure(curves, xlabel="budget", ylabel="regret", published=[theirs], bounds=[bound])
    (axes,) = figure.axes
    drawn = {tuple(map(tuple, np.array(line.get_xydata()).tolist())): line for line in axes.get_lines()}
    dots = [drawn[((i, i),)] for i in range(3)]  # side by side, so that none hides another
    assert len({dot.get_marker() for dot in dots}) == 3
    assert [label.get_text() for label in axes.get_xticklabels()] == [curve.policy for curve in curves]
    assert axes.get_xlabel() == "budget 60"
    bars = [segment for bar in axes.collections if isinstance(bar, LineCollection) for segment in bar.get_segments()]
    ends = [np.asarray(bar).tolist() for bar in bars if len(bar)]
    assert ends == ([] if math.isnan(se) else [[[i, i - se], [i, i + se]] for i in range(3)])
    assert ((0.6, 7.0), (2.4, 7.0)) in drawn, "as published: beside both forms of srm"
    assert ((-0.5, 9.0), (2.5, 9.0)) in drawn
    assert [text.get_text() for text in axes.texts] == ["bars: ± 1 standard error of the mean"] * (not math.isnan(se))
    figure.canvas.draw()


@pytest.mark.parametrize("count", [1, 4, 5, 7, 9])
def test_the_legend_of_regret_is_outside_the_curves(count: int) -> None:
    curves = [Curve(f"policy-with-a-long-name-{i}", (1, 20), (i, i + 1.0), (0.5, 0.5)) for i in range(count)]
    figure = curves_figure(curves, xlabel="cost", ylabel="regret", title="A title", published=PUBLISHED, bounds=BOUND)
    figure.canvas.draw()
    (legend,) = figure.legends
    box, axes = legend.get_window_extent(), figure.axes[0].get_tightbbox()
    assert axes is not None
    assert box.y1 <= axes.y0
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
    assert box.y0 >= 0


@pytest.mark.parametrize("count", [2, 9, 16])
def test_names_stand_beside_the_ends_of_curves_and_do_not_meet(count: int) -> None:
    curves = [Curve(f"policy-{i}", (1, 20), (i, 5 + i / 100), (0.5, 0.5)) for i in range(count)]
    figure = curves_figure(curves, xlabel="cost", ylabel="regret")
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text().startswith("policy")]
    boxes.sort(key=lambda box: box.y0)
    assert len(boxes) == count
    assert all(above.y0 >= below.y1 - 3 for below, above in pairwise(boxes)), "letters need less than their boxes"
    assert all(box.x1 <= figure.bbox.width for box in boxes)


def test_only_as_many_curves_are_coloured_as_can_be_told_apart() -> None:
    curves = [Curve(f"policy-{i}", (1, 2), (0, 20 - i), (0.1, 0.1)) for i in range(10)]
    lines = lines_of(curves_figure(curves, xlabel="cost", ylabel="regret"))
    grey = [i for i in range(10) if lines[0, 20 - i].get_color() == "#AAAAAA"]
    assert grey == [0, 1, 2], "those with the most regret"


def test_curves_are_drawn_into_given_axes_on_a_logarithmic_scale() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert curves_figure(CURVES, xlabel="x", ylabel="y", title="left", axes=left, log=True) is figure
    assert (left.get_yscale(), left.get_title(), len(right.get_lines())) == ("log", "left", 0)


def test_a_study_that_waits_before_its_first_outcome_is_drawn_from_that_outcome() -> None:
    times = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 6, 7, 8)]
    course = Course("do(X=1)", [0.5, 0.6, 0.6, 0.6], [0.1] * 4, [0.9] * 4)
    rows = [OptionRow("do(X=1)", 0.6, 0.1, 0.9, 3, 0.8)]
    for spent, first in (([0.0, 5.0, 10.0, 15.0], times[1]), ([0.0] * 4, times[0])):
        figure = study_figure(Timeline(times, spent, [20.0] * 4, [course]), rows, reward="Y", title="")
        left, right = figure.axes[1].get_xlim()
        assert left < first.timestamp() / 86400 < left + 0.05 * (right - left)
        assert right == times[-1].timestamp() / 86400


@pytest.mark.parametrize("hours", [0.001, 0.07, 1, 4, 30, 96, 24 * 100, 24 * 400, 24 * 1500])
def test_every_span_of_time_has_dates_below_it(hours: float) -> None:
    """Warnings are errors here: matplotlib warns where it finds no unit for the dates."""
    times = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=k * hours) for k in (0, 1)]
    course = Course("do(X=1)", [0.5, 0.6], [0.1] * 2, [0.9] * 2)
    figure = study_figure(Timeline(times, [1.0, 2.0], [20.0] * 2, [course]), [], reward="Y", title="")
    figure.canvas.draw()
    left, right = figure.axes[1].get_xlim()
    assert sum(left <= tick <= right for tick in figure.axes[1].get_xticks()) >= 2


def test_what_bands_are_is_said_above_all_curves() -> None:
    figure = curves_figure([Curve("ucb", [100.0], [3.0], [1.0])], xlabel="budget", ylabel="regret")
    (note,) = [text for text in figure.axes[0].texts if "standard error" in text.get_text()]
    assert note.get_position()[1] > 1
