"""Differences between interventions, and tables of effects: exact on exact distributions, with intervals that use what
both sides have in common, and the same numbers in every form."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dobandit as db
from dobandit.errors import NotIdentifiable
from tests.models import marginal, random_admg, random_model
from tests.test_effect import draw, joint_as_rows

Ran = Callable[..., Any]


def test_differences_are_exact_on_exact_distributions() -> None:
    """Between values of one variable, between variables, and from doing nothing."""
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng([31, seed])
        graph = random_admg(rng, 3, 5)
        model = random_model(graph, rng, values=(2, 3))
        on = graph.variables[-1]
        rows, weights = joint_as_rows(model)
        arms = [{}, *({v: int(rng.integers(model.cards[v]))} for v in graph.variables[:-1])]
        arms = [arm for arm in arms if all(db.is_identifiable(graph, v, on) for v in arm)]
        truth = [float(marginal(model.joint(arm), graph, on) @ np.arange(model.cards[on])) for arm in arms]
        for i, j in np.ndindex(len(arms), len(arms)):
            found = db.effect(graph, rows, do=arms[i], versus=arms[j], reward=on, weights=weights)
            assert found.mean == pytest.approx(truth[i] - truth[j], abs=1e-9)
            assert (found.low, found.high, found.n) == (found.mean, found.mean, 0)
            compared += 1
    assert compared > 300


@pytest.mark.parametrize(
    ("do", "versus"), [({"X": 1}, {"X": 0}), ({"X": 1}, {}), ({"X": 1}, {"W": 1}), ({"W": 0}, {"W": 1})], ids=str
)
def test_the_interval_of_a_difference_covers_it(do: dict[str, int], versus: dict[str, int]) -> None:
    """400 data sets of 150 rows: the tolerance is three standard errors of a share of 95 %. Both estimates rest on the
    same rows, so the interval is narrower than the two intervals together."""
    graph = db.Graph("Z -> X -> Y; Z -> Y; W -> Y; Z <-> W")
    truth, rng = random_model(graph, np.random.default_rng(4)), np.random.default_rng(32)
    means = [marginal(truth.joint(arm), graph, "Y")[1] for arm in (do, versus)]
    covered, widths, separate = [], [], []
    for _ in range(400):
        rows = draw(truth, 150, rng)
        found = db.effect(graph, rows, do=do, versus=versus, reward="Y")
        sides = [db.effect(graph, rows, do=arm, reward="Y") for arm in (do, versus)]
        assert found.mean == pytest.approx(sides[0].mean - sides[1].mean, abs=1e-12)
        covered.append(found.low <= means[0] - means[1] <= found.high)
        widths.append(found.high - found.low)
        separate.append(sum(side.high - side.low for side in sides))
    assert abs(np.mean(covered) - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 400)
    assert np.mean(widths) < 0.85 * np.mean(separate)


def test_a_difference_agrees_with_the_textbook() -> None:
    """Two shares of a randomised experiment: the standard error is the square root of the sum of both squares."""
    x, y = np.repeat([0, 1], 20000), np.concatenate([np.arange(20000) < 6000, np.arange(20000) < 9000]).astype(int)
    found = db.effect("X -> Y", {"X": x, "Y": y}, do={"X": 1}, versus={"X": 0}, reward="Y")
    half = 1.959964 * math.sqrt(0.3 * 0.7 / 20000 + 0.45 * 0.55 / 20000)
    assert found.mean == pytest.approx(0.15)
    assert [found.low, found.high] == pytest.approx([0.15 - half, 0.15 + half], abs=1e-4)
    same = db.effect("X -> Y", {"X": x, "Y": y}, do={"X": 1}, versus={"X": 1}, reward="Y")
    assert (same.mean, same.low, same.high) == (0, 0, 0)


def test_differences_turn_around() -> None:
    rng = np.random.default_rng(33)
    graph = db.Graph("Z -> X -> Y; Z -> Y")
    rows = draw(random_model(graph, rng), 60, rng)
    there = db.effect(graph, rows, do={"X": 1}, versus={}, reward="Y")
    back = db.effect(graph, rows, do={}, versus={"X": 1}, reward="Y")
    assert [back.mean, back.low, back.high] == pytest.approx([-there.mean, -there.high, -there.low])
    assert there.method == back.method == "adjustment"


def test_both_sides_must_be_identifiable() -> None:
    rows = {"A": [0, 1], "X": [0, 1], "Y": [0, 1]}
    with pytest.raises(NotIdentifiable, match="the effect of X on Y"):
        db.effect("A -> Y; X -> Y; X <-> Y", rows, do={"A": 1}, versus={"X": 0}, reward="Y")


# -- tables --------------------------------------------------------------------------------------------

BOW = db.Problem("Z -> X -> Y; Z -> Y; B -> Y; B <-> Y", reward="Y", budget=100, intervenable=["X", "B"])
LOG = {"Z": [0, 0, 0, 1, 1, 1], "X": [0, 0, 1, 0, 1, 1], "B": [0, 1, 0, 1, 0, 1], "Y": [0, 1, 1, 0, 0, 1]}


def test_a_table_has_a_row_for_each_arm() -> None:
    table = db.effects(BOW, LOG)
    records = table.to_dicts()
    assert [record["arm"] for record in records] == [str(arm) for arm in BOW.arms]
    assert all(set(r) == {"arm", "versus", "mean", "low", "high", "n", "method", "bounds"} for r in records)
    by_arm = {record["arm"]: record for record in records}
    alone = db.effect(BOW, LOG, do={"X": 1}, reward="Y")
    assert by_arm["do(X=1)"] == {
        "arm": "do(X=1)",
        "versus": None,
        **{name: getattr(alone, name) for name in ("mean", "low", "high", "n", "method")},
        "bounds": None,
    }
    assert (by_arm["do(B=1)"]["mean"], by_arm["do(B=1)"]["method"]) == (None, "none")
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["mean"].isna().tolist() == [record["mean"] is None for record in records]
    assert frame["mean"].dtype == float


def test_a_table_is_read_by_people() -> None:
    table = db.effects(BOW, LOG, versus={"X": 0})
    lines = str(table).splitlines()
    assert lines[0].split() == ["arm", "difference", "95%", "interval", "rows", "method"]
    assert lines[1].split()[:2] == ["do(X=1)", "0.5"]
    assert lines[-1] == "difference: mean Y with the arm, minus mean Y with do(X=0)"
    assert sum(line.endswith("not identifiable") for line in lines) == 2
    html = table._repr_html_()
    assert html.count("<tr>") == 1 + len(table)
    assert "<td>do(X=1)</td>" in html


def test_rows_with_interventions_are_left_out_and_counted(dobandit: Ran, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('budget = 9\nreward = "Y"\nintervenable = ["X"]\ngraph.edges = "X -> Y"\n')
    rows = ["0,0,do()", "0,1,", "1,1,do()", "1,0,do(X=1)", "1,0,do(X=1)"]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["X,Y,intervention", *rows]))
    arguments = (tmp_path / "p.toml", log, "--do", "X=1", "--versus", "X=0")
    answer = json.loads(dobandit("effect", *arguments, "--json").out)
    assert repr(answer["left_out"]) == "2"
    assert [(e["arm"], e["versus"], e["mean"], e["n"]) for e in answer["effects"]] == [("do(X=1)", "do(X=0)", 0.5, 3)]
    assert "2 rows with an intervention left out" in dobandit("effect", *arguments).out
    assert db.effect("X -> Y", log, do={"X": 1}, reward="Y").left_out == 2
    against_nothing = json.loads(dobandit("effect", *arguments[:4], "--versus", "do()", "--json").out)
    assert against_nothing["effects"][0]["versus"] == "do()"
    for wrong in ("X=2", "Q=1", "Y=1", ""):
        assert dobandit("effect", *arguments[:4], "--versus", wrong).code == 2
