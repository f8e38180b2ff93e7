"""Who gets in, and what they may do there."""

from __future__ import annotations

import json
import re
import socket
import stat
import time
from collections.abc import Callable
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import pytest

from dobandit.service import door
from dobandit.service.door import Hosts, Pace
from dobandit.service.tokens import TokenFile
from tests.conftest import Ran
from tests.service.running import Answer, Service, running

Run = Callable[..., Ran]
PAGES = ["", "/studies/hostile", "/studies/hostile/next", "/studies/hostile/pulls/2", "/studies/hostile/history"]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def cookie_of(answer: Answer) -> str:
    jar = SimpleCookie(answer.headers["set-cookie"])
    return f"dobandit={jar['dobandit'].value}"


def signed_in(service: Service, role: str) -> str:
    body = urlencode({"token": service.tokens[role], "next": "/studies/shop"}).encode()
    answer = service.request("POST", "/sign-in", body=body, headers=FORM)
    assert (answer.status, answer.headers["location"]) == (303, "/studies/shop")
    flags = answer.headers["set-cookie"].lower()
    assert "httponly" in flags
    assert "samesite=strict" in flags
    return cookie_of(answer)


def csrf_of(page: str) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', page)
    assert found is not None
    return found[1]


def test_the_printed_address_opens_once_and_leaves_no_secret_in_the_address(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        path = service.secret.removeprefix(service.address)
        assert service.request("GET", "/").headers["location"] == "/sign-in?next=/"
        first = service.request("GET", path)
        assert (first.status, first.headers["location"]) == (303, "/")
        assert service.request("GET", "/", headers={"Cookie": cookie_of(first)}).status == 200
        again = service.request("GET", path)
        assert again.status == 401
        assert "set-cookie" not in again.headers
        assert service.secret.partition("=")[2] not in again.text


def test_roles(service: Service) -> None:
    tell = {"id": 1, "outcome": {}}
    for role, asked, extended in ((None, 401, 401), ("viewer", 403, 403), ("worker", 200, 403), ("manager", 200, 200)):
        assert service.api("POST", "/studies/shop/ask", {}, role).status == asked
        assert service.api("POST", "/studies/shop/extend", {"amount": 1, "name": "once"}, role).status == extended
        assert service.api("POST", "/studies/shop/tell", tell, role).status == (422 if asked == 200 else asked)
        assert service.api("GET", "/studies/shop/status", role=role).status == (200 if role else 401)
        made = service.api("POST", "/studies", {"name": "x", "problem": ""}, role).status
        assert made == (422 if role == "manager" else 403 if role else 401)
    assert service.api("GET", "/studies").status == 200


def test_a_revoked_token_and_a_new_one_count_at_once(service: Service) -> None:
    secret = service.token_file.add("guest", "viewer")
    header = {"Authorization": f"Bearer {secret}"}
    other = TokenFile(service.token_file.path)  # as another process has it
    assert service.request("GET", "/studies/shop", headers=header).status == 200
    cookie = {"Cookie": f"dobandit={secret}"}
    assert service.request("GET", "/studies/shop", headers=cookie).status == 200
    other.revoke("guest")
    refused = service.api("GET", "/studies", role=None, headers=header)
    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert secret not in refused.text
    assert service.request("GET", "/studies/shop", headers=cookie).status == 303


def test_forms_of_other_sites_are_refused(service: Service) -> None:
    cookie = {"Cookie": signed_in(service, "manager"), **FORM}
    page = service.request("GET", "/studies/shop", headers=cookie).text
    amount = {"amount": "1", "name": "csrf"}
    for csrf in ("", "0" * 64):
        body = urlencode({**amount, "csrf": csrf}).encode()
        assert service.request("POST", "/studies/shop/extend", body=body, headers=cookie).status == 403
    api = service.api("POST", "/studies/shop/extend", amount, None, headers=cookie)
    assert api.status == 403
    body = urlencode({**amount, "csrf": csrf_of(page)}).encode()
    assert service.request("POST", "/studies/shop/extend", body=body, headers=cookie).status == 303


def test_other_names_of_the_server_are_refused(service: Service) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", ""):
        found = service.api("GET", "/studies", headers={"Host": host})
        assert found.status == 400
    assert service.api("GET", "/studies", headers={"Host": "localhost:1234"}).status == 200
    everywhere = Hosts("0.0.0.0", ["lab.example"])
    assert [everywhere.have(h) for h in ("10.1.2.3:8377", "[fe80::1]:80", "lab.example", "evil.example")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/studies/..%2f..%2fetc%2fpasswd", "/studies/%00", "/%2e%2e"]
)
def test_no_file_but_ours_is_served(path: str, service: Service) -> None:
    found = service.request("GET", path, role="manager")
    assert found.status in (303, 404)
    assert b"root:" not in found.body


def test_hostile_names_are_shown_and_not_obeyed(service: Service) -> None:
    for path in PAGES:
        found = service.request("GET", path or "/", role="manager")
        assert found.status == 200, found.text
        assert "script-src 'self'" in found.headers["content-security-policy"]
        for bad in ("<script>alert", "<img src=x", "<b>me"):
            assert bad not in found.text
        assert not re.search(r"<script(?! src=)", found.text)
        assert "\u202e" not in re.sub(r"<bdi>.*?</bdi>|<option.*?</option>|<[^>]*>", "", found.text)
    text = service.request("GET", "/studies/hostile", role="manager").text
    assert "{{7*7}}" in text
    assert "&lt;img src=x" in text


def test_hostile_files_and_addresses_are_shown_and_not_obeyed(service: Service) -> None:
    """A file is shown before it is applied; an error shows what was asked for."""
    script = "<script>alert(1)</script>"
    header, row = ",".join(["id", f'"{script}"', "Z", "Y"]), "1,1,{{7*7}},0"
    file = f'Content-Disposition: form-data; name="file"; filename="{script}.csv"\r\n\r\n{header}\n{row}\n'
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    sent = f"--x\r\n{file}\r\n--x--\r\n".encode()
    found = service.request("POST", "/studies/hostile/upload", role="worker", headers=kind, body=sent)
    assert (found.status, "Nothing has been changed yet" in found.text) == (200, True)
    lost = service.request("GET", f"/studies/{quote(script.partition('</')[0])}", role="viewer")
    assert lost.status == 404
    for page in (found.text, lost.text):
        assert "&lt;script&gt;alert(1)" in page
        assert not re.search(r"<script(?! src=)", page)


def test_a_token_that_was_never_given_out_is_refused(service: Service) -> None:
    for secret in ("", "dobandit_", f"{service.tokens['manager']}x", "é"):
        header = {"Authorization": f"Bearer {secret}".encode().decode("latin-1")}
        assert service.api("GET", "/studies", role=None, headers=header).status == 401
        assert service.api("GET", "/studies", role=None, headers={"Cookie": header["Authorization"]}).status == 401
    assert service.api("GET", "/studies", role=None, headers={"Authorization": "Basic YTpi"}).status == 401


def test_what_is_too_large_or_too_slow_is_refused(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_BYTES", 1000)
    assert service.api("POST", "/studies/shop/tell", {"id": 1, "outcome": {"X": "y" * 2000}}).status == 413
    place = urlsplit(service.address)
    chunk = b"POST /api/v1/studies/shop/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" + (
        f"Authorization: Bearer {service.tokens['worker']}\r\n\r\n".encode()
    )
    with socket.create_connection((str(place.hostname), place.port), timeout=20) as sent:
        sent.sendall(chunk + b"800\r\n" + b" " * 0x800 + b"\r\n0\r\n\r\n")
        assert b" 413 " in sent.recv(100)
    monkeypatch.setattr(door, "BODY_SECONDS", 0.2)
    with socket.create_connection((str(place.hostname), place.port), timeout=20) as slow:
        slow.sendall(chunk + b"5\r\n{")
        assert service.api("GET", "/studies/shop/status").status == 200  # others need not wait
        assert b" 408 " in slow.recv(100)


def test_pace() -> None:
    pace = Pace(per_second=2, at_once=3)
    assert [pace.allows("a", 0.0) for _ in range(4)] == [True, True, True, False]
    assert pace.allows("b", 0.0)
    assert [pace.allows("a", 0.5), pace.allows("a", 0.5)] == [True, False]


def test_too_many_requests(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "allows", lambda *_: False)
    found = service.api("GET", "/studies")
    assert (found.status, found.headers["retry-after"]) == (429, "1")


def test_no_token_is_ever_written_down(service: Service, capfd: pytest.CaptureFixture[str]) -> None:
    for role in service.tokens:
        service.request("GET", "/nothing", role=role)
        service.api("POST", "/studies/shop/ask", {"worker": 1}, role)
    out, err = capfd.readouterr()
    kept = b"".join(path.read_bytes() for path in service.folder.iterdir() if path.is_file())
    for secret in service.tokens.values():
        assert secret not in out + err
        assert secret.encode() not in kept


def test_tokens_from_the_command_line(tmp_path: Path, dobandit: Run) -> None:
    file = tmp_path / "deep" / "tokens.json"
    made = json.loads(dobandit("token", "add", "lab-2", "--role", "worker", "--tokens", file, "--json").out)
    assert set(made) == {"name", "role", "token"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert made["token"] not in file.read_text()
    found = TokenFile(file).find(made["token"])
    assert found is not None
    assert (found.name, found.role) == ("lab-2", "worker")
    assert dobandit("token", "add", "lab-2", "--role", "viewer", "--tokens", file).code == 2
    assert "lab-2" in dobandit("token", "list", "--tokens", file).out
    assert "did you mean lab-2?" in dobandit("token", "revoke", "lab-3", "--tokens", file).err
    assert dobandit("token", "revoke", "lab-2", "--tokens", file).code == 0
    assert json.loads(dobandit("token", "list", "--tokens", file, "--json").out) == {"tokens": []}


def test_a_server_for_others_needs_a_token(tmp_path: Path, dobandit: Run) -> None:
    ran = dobandit("serve", tmp_path, "--host", "0.0.0.0", "--port", 0, "--tokens", tmp_path / "none.json")
    assert (ran.code, "add a token first" in ran.err) == (2, True)
    assert dobandit("serve", tmp_path / "nothing.db").code == 4


def test_a_lost_database_is_a_503_and_the_server_goes_on(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    from dobandit.errors import StorageError
    from dobandit.study.stores import SqliteStore

    def gone(self: SqliteStore) -> None:
        raise StorageError("shop.db: the database did not answer")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "reading", gone)
        patch.setattr(SqliteStore, "writing", gone)
        found = service.api("POST", "/studies/shop/ask", {})
        assert (found.status, found.headers["retry-after"]) == (503, "2")
        assert "did not answer" in found.json["detail"]
        assert "tries again by itself" in service.request("GET", "/studies/shop", role="viewer").text
    assert service.api("POST", "/studies/shop/ask", {}).status == 200


def test_changes_are_told_as_they_happen(service: Service) -> None:
    place = urlsplit(service.address)
    head = "GET /api/v1/studies/shop/events HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Authorization: Bearer {service.tokens['viewer']}"
    with socket.create_connection((str(place.hostname), place.port), timeout=20) as listening:
        listening.sendall(f"{head}\r\n\r\n".encode())
        heard = b""
        while b"event: change" not in heard:
            heard += listening.recv(4096)
        service.api("POST", "/studies/shop/ask", {"worker": f"new {time.time()}"})
        while heard.count(b"event: change") < 2:
            heard += listening.recv(4096)
