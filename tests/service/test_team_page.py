"""The examples of docs/tutorial-team.md, as they stand there, against a server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dobandit.study import Study
from tests.service.running import Service

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial-team.md").read_text(encoding="utf-8")
PRINTED = "http://127.0.0.1:8377"  # the address in the examples


def examples(kind: str) -> list[str]:
    return [
        block for block in re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE) if PRINTED in block
    ]


def run(service: Service, *command: str) -> str:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "DOBANDIT_TOKEN": service.tokens["worker"], "PATH": programs}
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_python(service: Service) -> None:
    (block,) = examples("python")
    assert run(service, sys.executable, "-c", block.replace(PRINTED, service.address)).startswith("do(")
    with Study.open(service.folder / "shop.db") as study:
        asked = [event for event in study.log() if event.kind == "asked" and event.content["worker"] == "script"]
        told = {event.pull for event in study.log() if event.kind == "told"}
        assert {event.pull for event in asked} <= told
        assert len(asked) == 2


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_commands_and_curl(service: Service) -> None:
    commands, curl = examples("sh")
    out = run(service, "sh", "-ec", commands.replace(PRINTED, service.address))
    assert '"budget"' in out
    out = run(service, "sh", "-ec", curl.replace(PRINTED, service.address))
    assert '"probability_best"' in out
    assert '"pulls": [{"id"' in out
    assert "id,intervention,cost,worker" in out


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r(service: Service) -> None:
    (block,) = examples("r")
    assert "do(" in run(service, "Rscript", "-e", block.replace(PRINTED, service.address))
