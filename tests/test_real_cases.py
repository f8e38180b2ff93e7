"""Published data with known answers (docs/case-*.md tell the stories, and are run too)."""

from __future__ import annotations

import sys

import pandas as pd
import pytest
from causaldata import cps_mixtape, nhefs_complete, nsw_mixtape

import dobandit as db
from dobandit.errors import DataError, NotIdentifiable

CAUSES = "sex, race, age, education, smokeintensity, smokeyrs, exercise, active, wt71"


def test_quitting_smoking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hernán and Robins report 3.4 kg with an interval of 2.4 to 4.5 kg: half a kilogram is one standard error."""
    people = nhefs_complete.load_pandas().data
    graph = f"{{{CAUSES}}} -> {{qsmk, wt82_71}}; qsmk -> wt82_71"
    found = db.effect(graph, people, do={"qsmk": 1}, versus={"qsmk": 0}, reward="wt82_71")
    assert abs(found.mean - 3.4) < 0.5
    assert found.low < 3.4 < found.high
    assert 1.5 < found.high - found.low < 2.7
    assert (found.method, found.n) == ("doubly-robust", 1566)
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(DataError) as refused:
        db.effect(graph, people, do={"qsmk": 1}, reward="wt82_71")
    assert str(refused.value) == (
        "the effect of qsmk on wt82_71 cannot be had from tables, since age, smokeintensity, smokeyrs and wt71 are "
        "numbers; without tables, this needs scikit-learn, which is not installed: pip install 'dobandit[ml]'"
    )


def test_job_training() -> None:
    experiment, survey = nsw_mixtape.load_pandas().data, cps_mixtape.load_pandas().data
    observed = pd.concat([experiment[experiment.treat == 1], survey])
    seen, done = (
        db.effect("treat -> re78", rows, do={"treat": 1}, versus={"treat": 0}, reward="re78")
        for rows in (observed, experiment)
    )
    assert seen.high < 0 < done.low
    assert done.mean == pytest.approx(1794.34, abs=0.01)
    with pytest.raises(NotIdentifiable, match="treat <-> re78"):
        db.effect("treat -> re78; treat <-> re78", observed, do={"treat": 1}, reward="re78")
