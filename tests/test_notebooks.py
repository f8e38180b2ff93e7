"""What notebooks show: short reprs, drawings, tables and formulas; and the example notebooks run."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dobandit as db
from tests import notebooks

GRAPH = db.Graph("Z -> X -> M -> Y; Z -> Y; X <-> Y")
PROBLEM = db.Problem(GRAPH, reward="Y", budget=1000, costs={"do(X)": 3.5}, default_cost=2)
WORLD = db.worlds.random(GRAPH, seed=5)
LOG = WORLD.sample("do()", n=300, seed=0)


def test_a_graph_is_drawn_or_written_where_there_is_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    assert GRAPH._repr_html_().startswith('<img alt="Z -')
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "hidden cause" in GRAPH._repr_html_() or "╌" in GRAPH._repr_html_()


def test_problems_and_answers_are_tables() -> None:
    study = db.Study.create(":memory:", PROBLEM)
    study.observe(LOG, name="log")
    results = db.simulate(PROBLEM, WORLD, ["ucb", "thompson"], trials=3)
    effect = db.effect(GRAPH, LOG, do={"X": 1}, reward="Y")
    for shown, words in (
        (PROBLEM, ["Make <b>Y</b> large", "do(X=1)", "3.5"]),
        (study, ["0 of 1,000 spent", "policy causal-thompson", "do(M=0)"]),
        (results, ["ucb", "Means over 3 trials."]),
        (effect, ["c-factor", "300"]),
        (db.effects(PROBLEM, LOG), ["do(Z=1)", "adjustment"]),
    ):
        html = shown._repr_html_()
        assert all(word in html for word in words), html
    assert repr(results) == "<Results: cumulative regret of ucb and thompson, budget 1,000, 3 trials>"
    assert repr(effect).startswith("Effect(mean=0.5")


def test_formulas_are_latex_and_mathml() -> None:
    estimand = db.identify(GRAPH, do="X", on="Y")
    assert repr(estimand) == "<Estimand: P(Y | do(X)) = Σ_M P(M | X) [Σ_X' P(X') P(Y | X', M)]>"
    assert estimand._repr_latex_() == (
        r"$\displaystyle P(Y \mid \mathrm{do}(X)) = \sum_{M} P(M \mid X)\, "
        r"\left[\sum_{X'} P(X')\, P(Y \mid X', M)\right]$"
    )
    napkin = db.identify(db.Graph("W1 -> W2 -> X -> Y; W1 <-> X; W1 <-> Y"), do="X", on="Y")
    assert r"\frac{\sum_{\mathrm{W1}, \mathrm{W2}} P(" in napkin._repr_latex_()
    for each in (estimand, napkin):
        (text,) = ["".join(ElementTree.fromstring(each._repr_html_()).itertext())]
        signs = str(each).translate({ord(sign): None for sign in " _/"}).replace("Σ", "∑")
        assert sorted(text.replace("(", "").replace(")", "")) == sorted(signs.replace("(", "").replace(")", ""))


def test_names_that_are_no_letters_stay_readable_in_formulas() -> None:
    estimand = db.identify(db.Graph('"Ad & more" -> my_Y'), do="Ad & more", on="my_Y")
    assert r"\mathrm{my\_Y}" in estimand._repr_latex_()
    assert "Ad &amp; more" in estimand._repr_html_()


def test_results_draw_the_policies_that_are_asked_for() -> None:
    results = db.simulate(PROBLEM, WORLD, ["ucb", "thompson", "f-kube"], trials=3, budgets=[100, 200])
    figure = results.plot("title", policies=["thompson"], log=True)
    assert figure.axes[0].texts[0].get_text() == "thompson"
    with pytest.raises(
        db.DobanditError, match="no policy tompson in these results; there are ucb, thompson and f-kube"
    ):
        results.plot(policies=["tompson"])


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_the_example_notebooks_show_what_happens(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = notebooks.read(path)
    shown = notebooks.texts(notebooks.executed(notebook))
    assert shown == notebooks.texts(notebook), "the output has changed: run `python -m tests.notebooks` and look at it"
    assert len(shown) >= 5
