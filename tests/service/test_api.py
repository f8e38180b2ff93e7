"""The API answers what the command line prints with `--json`, and refuses with its sentences."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dobandit.problem import Problem
from dobandit.study import Study
from dobandit.study.remote import RemoteStudy
from tests.conftest import Ran
from tests.service.running import Service

Run = Callable[..., Ran]
FINE = dict.fromkeys(("Loyalty", "Newsletter", "Ad", "Visit", "Discount", "Buy"), 0)
SMALL = 'budget = 1\nreward = "Y"\ngraph.edges = "X -> Y"'
ELSEWHERE = 'budget = 1\nreward = "Y"\ngraph.file = "/etc/passwd"'


@pytest.mark.parametrize(
    ("what", "options"),
    [("status", []), ("best", []), ("pulls", []), ("explain/3", ["3"]), ("log", []), ("verify", [])],
)
def test_answers_are_those_of_the_command_line(what: str, options: list[str], service: Service, dobandit: Run) -> None:
    command = what.partition("/")[0]
    for place in (str(service.folder / "shop.db"), f"{service.address}/shop"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DOBANDIT_TOKEN", service.tokens["viewer"])
            ran = dobandit("study", command, place, *options, "--json")
        assert ran.code == 0, ran.err
        assert service.api("GET", f"/studies/shop/{what}", role="viewer").json == json.loads(ran.out)


def test_a_study_from_the_first_to_the_last_request(service: Service, examples: dict[str, str]) -> None:
    made = service.api("POST", "/studies", {"name": "new", "problem": examples["shop"], "seed": 3})
    assert (made.status, made.json) == (201, {"study": "new", "policy": "causal-explore"})
    assert made.headers["location"] == "/api/v1/studies/new"
    asked = service.api("POST", "/studies/new/ask", {"n": 2, "ttl": "2d"}, "worker").json
    assert [pull["id"] for pull in asked["pulls"]] == [1, 2]
    assert asked["reason"] is None
    again = service.api("POST", "/studies/new/ask", {"n": 2}, "worker").json
    assert [pull["id"] for pull in again["pulls"]] == [1, 2]
    told = service.api("POST", "/studies/new/tell", {"id": 1, "outcome": FINE}, "worker").json
    assert (told["id"], told["spent"], told["missing"]) == (1, 1.0, {"dropped": 0, "category": 0})
    assert service.api("POST", "/studies/new/tell", {"id": 1, "outcome": FINE}, "worker").status == 200
    other = service.api("POST", "/studies/new/tell", {"id": 1, "outcome": {**FINE, "Buy": 1}}, "worker")
    assert (other.status, other.json["error"]) == (409, "Conflict")
    assert other.headers["content-type"] == "application/problem+json"
    csv = b"id,Loyalty,Newsletter,Ad,Visit,Discount,Buy\n2,1,0,0,1,0,1\n"
    sent = service.api(
        "POST", "/studies/new/tell?name=a.csv", role="worker", body=csv, headers={"Content-Type": "text/csv"}
    )
    assert sent.json["id"] == [2]
    rows = {v: [0, 1] for v in FINE}
    assert service.api("POST", "/studies/new/observe", {"rows": rows, "name": "log"}).json["rows"] == 2
    recorded = service.api("POST", "/studies/new/record", {"arm": "do(Ad=1)", "outcome": {**FINE, "Ad": 1}}, "worker")
    assert recorded.json["id"] == 3
    assert service.api("POST", "/studies/new/amend", {"id": 3, "outcome": {"Buy": 1}}).json == {"id": 3}
    assert service.api("POST", "/studies/new/withdraw", {"id": 3, "refund": True}).json == {"id": 3}
    assert service.api("POST", "/studies/new/extend", {"amount": 1, "name": "June"}).json == {"total": 601.0}
    rule = {"probability": 0.9, "loss": None, "gain_per_cost": False, "pulls_ahead": None, "min_pulls": 3}
    assert service.api("POST", "/studies/new/stop", {"probability": 0.9, "min_pulls": 3}).json == {"stop": rule}
    assert service.api("POST", "/studies/new/stop", {"loss": 1}, "worker").status == 403
    assert service.api("GET", "/studies/new/status").json["stop"]["rule"] == rule
    assert service.api("GET", "/studies/new/status?anytime=1").json["arms"][0]["anytime"].keys() == {"low", "high"}
    page = service.request("GET", "/studies/new?anytime=1", None, "viewer").text
    assert "stopping rule: a probability of 0.9, with 3 outcomes of the answer" in page
    assert "at all times</th>" in page
    kinds = [event["kind"] for event in service.api("GET", "/studies/new/log").json["events"]]
    assert kinds[-7:] == ["told", "observed", "recorded", "amended", "withdrawn", "extended", "stopping"]
    assert service.api("GET", "/studies/new/log?after=3&most=2").json["events"][0]["number"] == 4
    assert service.api("GET", "/studies/new/export.csv").text.count("\n") == 3
    assert service.api("GET", "/studies/new/plot.svg").text.lstrip().startswith("<?xml")
    with Study.open(service.folder / "new.db") as study:
        assert study.log(pull=1)[0].content["worker"] == "the worker"  # the name of the token
        who = {event.kind: event.content.get("by") for event in study.log() if event.kind != "asked"}
        assert who.pop("created") is None
        assert (who.pop("told"), who.pop("recorded"), set(who.values())) == ("the worker", "the worker", {"default"})


@pytest.mark.parametrize(
    ("path", "fields", "status", "sentence"),
    [
        ("/studies/shop/tell", {"id": 1, "outcome": {"Buy": 7}}, 422, "Buy is 7, and not one of 0 and 1"),
        ("/studies/shop/tell", {"id": 999, "outcome": FINE}, 404, "there is no pull 999"),
        ("/studies/shop/tell", {"id": 1}, 400, "send the id of a pull and its outcome"),
        ("/studies/shop/tell", {"id": "one", "outcome": FINE}, 400, "'id' must be a whole number"),
        ("/studies/shop/ask", {"m": 1}, 400, "there is no field 'm'"),
        ("/studies/shop/ask", {"n": 0}, 400, "'n' must be a whole number above 0"),
        ("/studies/shop/ask", [], 400, "a JSON object"),
        ("/studies/shop/extend", {"amount": -1}, 400, "positive amount"),
        ("/studies/shop/stop", {"probability": 2}, 422, "stop.probability: expected a number between 0.5 and 1"),
        ("/studies/shop/stop", {}, 400, "send the parts of a stopping rule"),
        ("/studies/shop/withdraw", {"id": 10**15}, 404, "there is no pull"),
        ("/studies/shop/record", {"arm": "do(", "outcome": FINE}, 400, "do("),
        ("/studies/nothing/ask", {}, 404, "there is no study 'nothing' here"),
        ("/studies", {"name": "../x", "problem": SMALL}, 400, "cannot be the name"),
        ("/studies", {"name": "shop", "problem": SMALL}, 409, "there is a study shop"),
        ("/studies", {"name": "x", "problem": ELSEWHERE}, 422, "files beside the problem"),
        ("/studies", {"name": "x", "problem": "budget = ["}, 422, "x.toml, end of document"),
        ("/studies", {"name": "x", "problem": SMALL, "policy": "os:system"}, 400, "a module of your own"),
    ],
)  # fmt: skip
def test_refusals_are_sentences_and_change_nothing(
    path: str, fields: object, status: int, sentence: str, service: Service
) -> None:
    before = service.api("GET", "/studies/shop").json["last_event"]
    found = service.api("POST", path, fields)
    assert (found.status, found.json["status"]) == (status, status)
    assert sentence in found.json["detail"]
    assert {"type", "title", "status", "detail"} <= set(found.json)
    assert service.api("GET", "/studies/shop").json["last_event"] == before


def test_every_public_method_of_a_study_has_a_remote_form() -> None:
    """Derived ones use the others, so they need none."""
    derived = {"create", "open", "tell", "tell_file", "missing", "outcomes", "export", "plot"}
    public = {name for name in dir(Study) if not name.startswith("_")}
    assert public - derived <= set(vars(RemoteStudy)) | {"made", "opened"}


def test_a_remote_study_is_told_of_files_and_logs_like_a_local_one(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dobandit: Run, examples: dict[str, str]
) -> None:
    monkeypatch.setenv("DOBANDIT_TOKEN", service.tokens["manager"])
    (tmp_path / "shop.toml").write_text(examples["shop"])
    bad, log = tmp_path / "bad.csv", tmp_path / "log.csv"
    bad.write_text("id,Loyalty,Newsletter,Ad,Visit,Discount,Buy\n1,0,0,0,0,0,9\n77,0,0,0,0,0,0\nx,0,0,0,0,0,0\n")
    log.write_text("Loyalty,Newsletter,Ad,Visit,Discount,Buy\n" + "0,1,0,1,0,1\n" * 5)
    said: list[list[tuple[int, str, str]]] = []
    for place in (str(tmp_path / "twin.db"), f"{service.address}/twin"):
        ran = [
            dobandit("study", "init", place, tmp_path / "shop.toml", "--json"),
            dobandit("study", "ask", place, "-n", 2, "--worker", "w", "--json"),
            dobandit("study", "tell", place, "--file", bad),
            dobandit("study", "observe", place, log, "--json"),
            dobandit("study", "observe", place, log),
            dobandit("study", "withdraw", place, 2, "--refund"),
            dobandit("study", "withdraw", place, 2),
            dobandit("study", "tell", place, 5, "Buy=1"),
            dobandit("study", "export", place, tmp_path / f"{len(said)}.csv", "--json"),
            dobandit("study", "status", place),
            dobandit("study", "best", place),
        ]
        ran = [r for i, r in enumerate(ran) if i not in (0, 8)]  # which name the place and the file
        said.append([(r.code, re.sub(r"head \w+", "", r.out), r.err.replace(place, "PLACE")) for r in ran])
    assert said[0] == said[1]


def test_a_file_that_takes_the_place_of_a_study_is_opened(service: Service, tmp_path: Path) -> None:
    path, other = service.folder / "moved.db", tmp_path / "other.db"
    for place, budget in ((path, 5), (other, 7)):
        Study.create(place, Problem("X -> Y", "Y", budget=budget), "f-kube").close()
    assert service.api("GET", "/studies/moved/status").json["budget"]["total"] == 5
    path.unlink()
    assert service.api("GET", "/studies/moved/status").status == 404
    other.rename(path)
    assert service.api("GET", "/studies/moved/status").json["budget"]["total"] == 7


def test_a_server_that_is_not_there(dobandit: Run, monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    assert dobandit("study", "ask", "http://127.0.0.1:1/shop").code == 5
    monkeypatch.delenv("DOBANDIT_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(service.folder / "none"))
    ran = dobandit("study", "ask", f"{service.address}/shop")
    assert (ran.code, "DOBANDIT_TOKEN" in ran.err) == (2, True)
    monkeypatch.setenv("DOBANDIT_TOKEN", service.tokens["viewer"])
    assert dobandit("study", "status", f"{service.address}/nothing").code == 4
    assert "needs a worker" in dobandit("study", "ask", f"{service.address}/shop").err
    for wrong in ("http://user:pass@127.0.0.1/shop", "http://127.0.0.1:99999/shop", "http://127.0.0.1"):
        ran = dobandit("study", "ask", wrong)
        assert (ran.code, "pass@" in ran.err) == (2, False)


def test_clients_need_nothing_of_the_web_stack() -> None:
    """Nor does the command line, before a server starts."""
    rooms = "dobandit, dobandit.cli.study, dobandit.cli.serve, dobandit.cli.token, dobandit.study.remote"
    stack = "{'starlette', 'uvicorn', 'jinja2', 'matplotlib'}"
    program = f"import sys, {rooms}; print(sorted({stack} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
