"""A server with a study of the shop and one whose names are hostile."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dobandit.examples.simulated import simulated_study
from dobandit.problem import parse_problem
from dobandit.study import Study
from tests.service.running import Service, running

HOSTILE = """
budget = 50
reward = "Y"
[graph]
edges = '''"<script>alert(1)</script>" -> Y; Z -> Y'''
[domains]
Z = ['a"b', "{{7*7}}", "<img src=x onerror=alert(1)>", "\\u202Eabc", "e"]
"""


@pytest.fixture(scope="module")
def service(examples: dict[str, str]) -> Iterator[Service]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        simulated_study(parse_problem(examples["shop"]), folder / "shop.db", outcomes=20)
        with Study.create(folder / "hostile.db", parse_problem(HOSTILE), "f-kube") as study:
            study.ask(3, worker="<b>me</b>")
        with running(folder) as started:
            yield started
