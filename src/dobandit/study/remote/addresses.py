"""The address of a study behind a server, http://host:8377/name, and the token that opens it."""

from __future__ import annotations

import os
import tomllib
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from dobandit.errors import DobanditError, FileError
from dobandit.files import config_folder, read_text

TOKEN = "DOBANDIT_TOKEN"


class Service(NamedTuple):
    """A server: whether the connection is encrypted, its host, port and prefix; and the name of a study there."""

    is_secure: bool
    host: str
    port: int
    prefix: str
    study: str

    @property
    def server(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == (443 if self.is_secure else 80)
        return f"{'https' if self.is_secure else 'http'}://{shown}{'' if is_usual else f':{self.port}'}{self.prefix}"

    @property
    def shown(self) -> str:
        return f"{self.server}/{quote(self.study)}"


def service_of(where: str) -> Service:
    """The parts of an address. It has no place for a password: the token is told elsewhere."""
    try:
        parts = urlsplit(where.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    prefix, _, name = parts.path.rstrip("/").rpartition("/")
    if not parts.hostname or not name or "@" in parts.netloc or parts.query or parts.fragment:
        raise DobanditError(
            "this is not the address of a study: write http://host:8377/name, and put the token into the variable "
            f"{TOKEN}, never into the address"
        )
    is_secure = parts.scheme.lower() == "https"
    return Service(is_secure, parts.hostname, port or (443 if is_secure else 80), prefix, unquote(name))


def token_for(service: Service) -> str | None:
    """The token in the environment, else the one for this server in the user's configuration (config.toml):

    [tokens]
    "https://lab.example.org" = "dobandit_..."
    """
    if given := os.environ.get(TOKEN, "").strip():
        return given
    path = config_folder() / "config.toml"
    if not path.exists():
        return None
    try:
        tokens = tomllib.loads(read_text(path)).get("tokens", {})
        found = {str(server).rstrip("/"): str(token) for server, token in tokens.items()}
    except (tomllib.TOMLDecodeError, AttributeError):
        raise FileError(f"{path}: this is not TOML with a table [tokens] of servers and their tokens") from None
    return found.get(service.server)
