"""The service behind nginx with TLS, set up as docs/tutorial-team.md says."""

from __future__ import annotations

import http.client
import re
import shlex
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from dobandit.problem import Problem
from dobandit.service import TokenFile
from dobandit.study import Study
from tests.service.running import free_port, serving

NGINX, OPENSSL = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin"), shutil.which("openssl")
pytestmark = pytest.mark.skipif(not (NGINX and OPENSSL), reason="install the packages nginx-light and openssl")
PAGE = (Path(__file__).parents[2] / "docs" / "tutorial-team.md").read_text(encoding="utf-8")
NAME = "lab.example.org"
AROUND = """
daemon off; pid {folder}/pid; error_log {folder}/log; worker_processes 1; events {{}}
http {{
  access_log off; {places}
  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/cert; ssl_certificate_key {folder}/key;
    {block}
  }}
}}
"""


def shown(kind: str, word: str) -> str:
    """The block of the page with this word."""
    (block,) = [b for b in re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE) if word in b]
    return str(block)


@contextmanager
def proxy(folder: Path, server: str, port: int) -> Iterator[None]:
    """nginx with the block of the page, and a certificate of our own."""
    subject = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1"]
    files = ["-keyout", str(folder / "key"), "-out", str(folder / "cert")]
    command = [str(OPENSSL), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files]
    subprocess.run(command, check=True, capture_output=True)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    block = shown("nginx", "proxy_pass").replace("127.0.0.1:8377", server)
    (folder / "conf").write_text(AROUND.format(folder=folder, places=places, port=port, block=block))
    with subprocess.Popen(
        [str(NGINX), "-p", str(folder), "-c", str(folder / "conf")], stderr=subprocess.DEVNULL
    ) as run:
        try:
            yield
        finally:
            run.terminate()


def test_the_service_behind_a_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "studies").mkdir()
    Study.create(tmp_path / "studies" / "shop.db", Problem("X -> Y", "Y", budget=9), "f-kube").close()
    token = TokenFile(tmp_path / "tokens").add("lab-2", "worker")
    _, command, folder, *options = shlex.split(shown("sh", "--root-path"))
    assert (command, folder) == ("serve", "studies")
    port = free_port()
    with serving(tmp_path / folder, *options, "--port", 0, "--tokens", tmp_path / "tokens") as address:
        place, _, secret = address.removeprefix("http://").partition("/")
        with proxy(tmp_path, place, port), ExitStack() as lines:
            context = ssl.create_default_context(cafile=tmp_path / "cert")

            def get(path: str, host: str = NAME, **headers: str) -> http.client.HTTPResponse:
                for _ in range(600):  # until nginx listens
                    try:
                        line = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
                        lines.callback(line.close)
                        line.request("GET", path, headers={"Host": host, **headers})
                        return line.getresponse()
                    except ConnectionRefusedError:
                        time.sleep(0.1)
                raise AssertionError("nginx does not listen")

            entered = get(f"/dobandit/{secret.removeprefix('dobandit/')}")
            assert (entered.status, entered.getheader("Location")) == (303, "/dobandit/")
            cookie = SimpleCookie(entered.getheader("Set-Cookie"))["dobandit"]
            assert (cookie["path"], bool(cookie["secure"]), bool(cookie["httponly"])) == ("/dobandit/", True, True)
            signed_in = {"Cookie": f"dobandit={cookie.value}"}
            page = get("/dobandit/studies/shop", **signed_in)
            (style,) = re.findall(r'href="(/dobandit/static/style.css[^"]*)"', page.read().decode())
            assert (page.status, get(style).status) == (200, 200)
            assert get("/dobandit/studies/shop").getheader("Location") == "/dobandit/sign-in?next=/studies/shop"
            assert get("/dobandit/", host="evil.example").status == 400
            live = get("/dobandit/api/v1/studies/shop/events", **signed_in)
            assert live.readline() + live.readline() == b"id: 1\nevent: change\n"
            monkeypatch.setenv("DOBANDIT_TOKEN", token)
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert"))
            with Study.open(f"https://127.0.0.1:{port}/dobandit/shop") as study:
                assert study.ask()[0].id == 1
                assert study.log()[-1].content["worker"] == "lab-2"
