"""Adjustment for more than tables can hold: over the strata that occur, and by doubly robust estimation."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobandit as db
from dobandit.errors import DataError, DobanditError
from dobandit.estimate import SparseDataWarning
from dobandit.estimate.observational.cases import read_cases
from dobandit.estimate.observational.robust import robust_scores
from dobandit.estimate.observational.scale import infer_scale
from dobandit.evidence import open_source

Rows = dict[str, np.ndarray[Any, Any]]
NAMES = [f"Z{i}" for i in range(9)]
NINE = f"{{{', '.join(NAMES)}}} -> {{X, Y}}; X -> Y"
EFFECT = 1.5


def nine_confounders(n: int, seed: int) -> Rows:
    """Four numbers and five flags act on X and on Y, one of them by its square; X adds 1.5 to Y."""
    rng = np.random.default_rng([41, seed])
    rows: Rows = {z: rng.normal(size=n) if i < 4 else rng.integers(0, 2, n) for i, z in enumerate(NAMES)}
    pull = 0.5 * rows["Z0"] - 0.4 * rows["Z1"] + 0.5 * rows["Z4"] - 0.3 * rows["Z5"]
    rows["X"] = (rng.random(n) < 1 / (1 + np.exp(-pull))).astype(int)
    level = rows["Z0"] - rows["Z1"] + 0.5 * rows["Z2"] ** 2 + rows["Z4"] + 0.5 * rows["Z6"]
    rows["Y"] = EFFECT * rows["X"] + level + rng.normal(size=n)
    return rows


def test_doubly_robust_intervals_cover_and_confounding_is_removed() -> None:
    """8 data sets: more than two misses of a 95 % interval have a chance of 0.6 %; the mean of 8 standardised errors
    is within three standard errors of zero."""
    errors = []
    for seed in range(8):
        rows = nine_confounders(500, seed)
        found = db.effect(NINE, rows, do={"X": 1}, versus={"X": 0}, reward="Y")
        naive = rows["Y"][rows["X"] == 1].mean() - rows["Y"][rows["X"] == 0].mean()
        assert abs(found.mean - EFFECT) < abs(naive - EFFECT) / 2
        assert (found.method, found.n) == ("doubly-robust", 500)
        errors.append((found.mean - EFFECT) / ((found.high - found.low) / 2 / 1.959964))
    assert sum(abs(e) > 1.959964 for e in errors) <= 2
    assert abs(np.mean(errors)) < 3 / math.sqrt(len(errors))


def test_the_same_rows_in_any_order_give_the_same_answer() -> None:
    rows = nine_confounders(300, 50)
    order = np.random.default_rng(1).permutation(300)
    found = [db.effect(NINE, r, do={"X": 1}, reward="Y") for r in (rows, {v: c[order] for v, c in rows.items()})]
    assert found[0] == found[1]
    fit = found[0].fits[0]
    assert fit.outcome.startswith(("ridge regression", "gradient boosting"))
    assert fit.propensity.startswith(("logistic regression", "gradient boosting"))
    assert 0 < fit.overlap.quantiles["0%"] < fit.overlap.quantiles["50%"] < fit.overlap.quantiles["100%"] < 1
    assert 0 < fit.overlap.effective_rows <= fit.overlap.rows


def test_doubly_robust_agrees_with_tables_where_these_are_small() -> None:
    """Two flags to adjust for: both use the same rows, so they differ by much less than the standard error."""
    rng = np.random.default_rng(42)
    a, b = rng.integers(0, 2, (2, 1000))
    x = (rng.random(1000) < 0.3 + 0.3 * a).astype(int)
    rows = {"A": a, "B": b, "X": x, "Y": (rng.random(1000) < 0.2 + 0.3 * x + 0.3 * a * b).astype(int)}
    plug_in = db.effect("{A, B} -> {X, Y}; X -> Y", rows, do={"X": 1}, reward="Y")
    source = open_source(rows)
    cases = read_cases(source, ["A", "B", "X"], "Y", infer_scale(source, ["A", "B", "X", "Y"], "Y", ["A", "B"]))
    scores = robust_scores(cases.one_by_one(), db.Arm.of({"X": 1}), ["A", "B"])
    error = scores.values.std() / math.sqrt(1000)
    assert abs(scores.values.mean() - plug_in.mean) < error / 2
    assert 2 * 1.959964 * error == pytest.approx(plug_in.high - plug_in.low, rel=0.1)


def test_strata_that_occur_serve_where_complete_tables_do_not_fit() -> None:
    """Sixteen covariates are one flag sixteen times: two of 65,536 strata occur, and the answer is that of the flag."""
    rng = np.random.default_rng(43)
    flag = rng.integers(0, 2, 400)
    x = (rng.random(400) < 0.3 + 0.4 * flag).astype(int)
    y = (rng.random(400) < 0.2 + 0.3 * x + 0.3 * flag).astype(int)
    names = [f"Z{i:02}" for i in range(16)]
    for versus in (None, {"X": 0}, {}):
        wide = db.effect(
            f"{{{', '.join(names)}}} -> {{X, Y}}; X -> Y",
            {**dict.fromkeys(names, flag), "X": x, "Y": y},
            do={"X": 1},
            reward="Y",
            versus=versus,
        )
        one = db.effect("Z -> {X, Y}; X -> Y", {"Z": flag, "X": x, "Y": y}, do={"X": 1}, reward="Y", versus=versus)
        assert wide.mean == pytest.approx(one.mean)
        assert (wide.method, wide.n) == ("adjustment", 400)
        assert wide.high - wide.low == pytest.approx(one.high - one.low, rel=0.05)


def test_strata_without_the_arm_may_hold_anything_where_the_reward_is_zero_or_one() -> None:
    """In 1,980 rows half have X=1, of which a fifth wins; the other stratum has 20 rows without X=1."""
    flag, x = np.repeat([0, 1], [1980, 20]), np.repeat([1, 0], [990, 1010])
    y, names = (np.arange(2000) < 198).astype(int), [f"Z{i:02}" for i in range(16)]
    graph = f"{{{', '.join(names)}}} -> {{X, Y}}; X -> Y"
    with pytest.warns(SparseDataWarning):
        found = db.effect(graph, {**dict.fromkeys(names, flag), "X": x, "Y": y}, do={"X": 1}, reward="Y")
    assert found.mean == pytest.approx(0.99 * 0.2 + 0.01 * 0.5)
    plain = db.effect("X -> Y", {"X": x[:1980], "Y": y[:1980]}, do={"X": 1}, reward="Y")
    assert found.high - found.low == pytest.approx(0.99 * (plain.high - plain.low) + 0.01, rel=0.02)


def test_exact_distributions_need_no_models() -> None:
    rows: Rows = {"X": np.arange(24) % 2, "Y": np.arange(24) % 7, "w": np.full(24, 1 / 24)}
    rows["A"] = np.arange(24) // 2 + 0.1  # one row of each X for every A
    problem = db.Problem(
        "A -> {X, Y}; X -> Y",
        {"variable": "Y", "range": [0, 6]},
        9,
        domains={"A": "number"},
        intervenable=["X"],
    )
    found = db.effect(problem, rows, do={"X": 1}, reward="Y", weights="w")
    assert found.mean == pytest.approx(rows["Y"][rows["X"] == 1].mean())
    assert (found.low, found.high, found.n) == (found.mean, found.mean, 0)


def test_a_sentence_where_overlap_fails() -> None:
    rows = nine_confounders(400, 3)
    rows["X"] = (rows["Z0"] > 0).astype(int)
    with pytest.warns(SparseDataWarning, match=r"overlap fails for do\(X=1\): .* of the rows are unlike"):
        db.effect(NINE, rows, do={"X": 1}, reward="Y")
    rows["X"] = (np.arange(400) < 12).astype(int)
    with pytest.raises(DataError, match=r"do\(X=1\): only 12 rows have it, which is too few"):
        db.effect(NINE, rows, do={"X": 1}, reward="Y")


def test_without_scikit_learn_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    sentence = (
        "the effect of X on Y cannot be had from tables, since Z0, Z1, Z2 and Z3 are numbers; without tables, "
        "this needs scikit-learn, which is not installed: pip install 'dobandit[ml]'"
    )
    with pytest.raises(DataError) as refused:
        db.effect(NINE, nine_confounders(300, 4), do={"X": 1}, reward="Y")
    assert str(refused.value) == sentence


def test_weights_must_be_whole_without_tables() -> None:
    rows = nine_confounders(300, 5)
    with pytest.raises(DataError, match="without tables weights are whole numbers"):
        db.effect(NINE, rows, do={"X": 1}, reward="Y", weights=np.full(300, 1.5))


# -- numbers in problems -----------------------------------------------------------------------------------


def test_numbers_are_for_effects_only(dobandit: Callable[..., Any], tmp_path: Path) -> None:
    file, log = tmp_path / "p.toml", tmp_path / "log.csv"
    numbers = "\n".join(f'{z} = "number"' for z in NAMES[:4])
    file.write_text(
        f'budget = 9\nintervenable = ["X"]\n[graph]\nedges = "{NINE}"\n'
        f'[reward]\nvariable = "Y"\nrange = [-20, 20]\n[domains]\n{numbers}\n'
    )
    rows = nine_confounders(300, 6)
    lines = zip(*rows.values(), strict=True)
    log.write_text("\n".join([",".join(rows), *(",".join(map(str, line)) for line in lines)]))
    ran = dobandit("effect", file, log, "--do", "X=1", "--versus", "X=0", "--json")
    (effect,) = json.loads(ran.out)["effects"]
    assert effect["method"] == "doubly-robust"
    assert [fit["arm"] for fit in effect["fits"]] == ["do(X=1)", "do(X=0)"]
    assert "effective_rows" in effect["fits"][0]["overlap"]
    shown = dobandit("effect", file, log, "--do", "X=1").out
    assert "doubly-robust: tables cannot hold all that is adjusted for" in shown
    assert "chance of the arm by logistic regression" in shown
    assert dobandit("check", file).code == 0
    assert "a number without bins" in dobandit("run", file).err
    problem = db.Problem.load(file)
    assert problem.numbers == frozenset(NAMES[:4])
    with pytest.raises(DobanditError, match="Z0, Z1, Z2 and Z3: only effects from logs can be adjusted for a number"):
        db.Study.create(":memory:", problem)
    assert [verdict.p_value for verdict in db.check_graph(problem, log) if "Z0" in verdict.independence[:2]] == [
        None
    ] * 8
    faulty = {v: list(column) for v, column in rows.items()}
    faulty["Z0"][3], faulty["Z1"][5] = None, "tall"
    for ask in (lambda: db.effect(problem, faulty, do={"X": 1}, reward="Y"), lambda: db.check_graph(problem, faulty)):
        with pytest.raises(DataError, match=r"(?s)2 faults.*column Z0 has 1 row without.*Z1 has 1 row with .*'tall'"):
            ask()
    with pytest.raises(DobanditError, match=r"Z0 is a number, which has no values to set; give it cut points"):
        db.Problem(NINE, "Y", 9, domains={"Z0": "number"}, intervenable=["Z0"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert db.Problem(NINE, "Y", 9, domains={"Z0": "number"}).intervenable == (*NAMES[1:], "X")
