"""Logged rows as evidence of a study: they cost nothing, and each batch counts once."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from dobandit.errors import Conflict, DataError, DobanditError
from dobandit.problem import Problem
from dobandit.study import Study, facts
from dobandit.study.books import Books
from tests.study.driving import SMALL


def test_logged_rows_count_once_and_cost_nothing(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    rows: dict[str, list[object]] = {"Z": [0, 1] * 50, "X": [1] * 100, "W": [0, 0, 1, 1] * 25, "Y": [1, 0, 1, 1] * 25}
    rows["intervention"] = ["do()", "do(X=1)"] * 50
    for new in (True, False):
        with pytest.warns(UserWarning, match="f-kube has no rule for logged rows"):
            batch = study.observe(rows, name="2025")
        assert (batch, batch.new) == (100, new)
    with pytest.raises(Conflict, match="'2025' is already in the study with 100 rows; these 2 rows differ"):
        study.observe({v: column[:2] for v, column in rows.items()}, name="2025")
    with pytest.raises(DobanditError, match="give this batch of rows a name"):
        study.observe(rows)
    with pytest.raises(DataError):
        study.observe({**rows, "X": [7] * 100}, name="other")
    found = study.status()
    assert (found.logged, found.budget.spent) == (100, 0)
    assert study.best().observational == 0.5
    assert found.arms[4].mean != 0.5  # do(X=1) was logged 50 times


def test_sums_of_measurements_may_differ_in_their_last_digits(place: str) -> None:
    """Rewards that are read in another order, by many threads, add up to nearly the same: these are the same rows."""
    study = Study.create(place, Problem("X -> Y", {"variable": "Y", "range": [1000, 1001]}, 10), "causal-thompson")
    rng = np.random.default_rng(2)
    rows = {"X": rng.integers(2, size=5000), "Y": 1000 + rng.random(5000)}
    assert study.observe(rows, name="log").new
    assert not study.observe({name: column[::-1] for name, column in rows.items()}, name="log").new
    with pytest.raises(Conflict, match="'log' is already in the study"):
        study.observe({**rows, "Y": np.r_[1000.0, rows["Y"][1:]]}, name="log")


def test_logs_of_files_have_the_name_of_the_file(folder: Path) -> None:
    study = Study.create(":memory:", SMALL)
    file = folder / "old.csv"
    file.write_text("Z,X,W,Y\n0,1,0,1\n1,1,0,0\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether the policy has a rule for logs is not what this is about
        assert study.observe(file) == study.observe(str(file)) == 2
    assert [event.content["name"] for event in study.log()[1:]] == ["old.csv"]


def test_logs_that_another_version_counted_wait_to_be_sent_again() -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    rows = {"Z": [0, 1], "X": [1, 1], "W": [0, 0], "Y": [1, 0]}
    with pytest.warns(UserWarning, match="no rule"):
        study.observe(rows, name="old")
    created, observed = study.log()
    assert isinstance(observed.fact, facts.Observed)
    other = facts.Observed(**{**vars(observed.fact), "evidence": {**observed.fact.evidence, "tables": []}})
    books = Books.folded([created, observed._replace(fact=other)])
    assert books.judged.evidence.told.sum() == 0
    study._session.books = books
    assert (study.status().logged, study.status().uncounted) == (0, ("old",))
    with pytest.warns(UserWarning, match="no rule"):
        assert study.observe(rows, name="old") == 2
    assert (study.status().logged, study.status().uncounted) == (2, ())
    twice = Books.folded([created, observed, observed._replace(number=observed.number + 1)])
    assert twice.judged.evidence.told.sum() == 2  # a version that can count both counts one
