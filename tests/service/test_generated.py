"""Requests that are generated from the OpenAPI document: whatever is sent, the answer is never an error of the server,
and always what the document says.

`make test` sends 100 requests, `make stress` (DOBANDIT_REQUESTS=1000) many more.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok

from dobandit.service.answering import API
from dobandit.service.api import routes
from dobandit.service.door import Pace
from dobandit.service.openapi import description
from tests.service.running import Service

REQUESTS = int(os.environ.get("DOBANDIT_REQUESTS", "100"))


def test_the_document_describes_the_routes() -> None:
    documented = {
        (method.upper(), f"{API}{path}")
        for path, methods in description()["paths"].items()
        for method in methods
        if method != "parameters"
    }
    served = {
        (method, path)
        for route in routes()
        for method in set(route.methods or ()) - {"HEAD"}
        for path in (
            [route.path.replace("{form}", form) for form in ("csv", "json", "parquet")]
            if "{form}" in route.path
            else [route.path]
        )
    }
    assert documented == served


def test_no_request_is_an_error_of_the_server(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "allows", lambda *_: True)  # every request is looked at
    schema = schemathesis.openapi.from_dict(description())
    found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    operations = [each for each in found if not each.path.endswith("/events")]
    assert len(operations) > 15
    seen: Counter[int] = Counter()

    @given(st.data())
    @settings(max_examples=REQUESTS, suppress_health_check=list(HealthCheck))
    def send(data: st.DataObject) -> None:
        case = data.draw(data.draw(st.sampled_from(operations)).as_strategy())
        case.path_parameters["study"] = data.draw(st.sampled_from(["shop", "shop", "hostile", "no study"]))
        header = {"Authorization": f"Bearer {service.tokens['manager']}"}
        answer = case.call(base_url=f"{service.address}{API}", headers=header, timeout=30)
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        assert answer.status_code != 429
        assert str(answer.status_code) in re.findall(r"\d{3}", " ".join(case.operation.definition.raw["responses"]))
        seen[answer.status_code] += 1

    send()
    assert {200, 400, 404} <= set(seen)
    assert seen.total() >= REQUESTS
