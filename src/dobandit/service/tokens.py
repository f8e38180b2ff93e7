"""Named tokens with roles: who may use the service, and for what.

The file has a SHA-256 of every token, never a token. A token is a long random text, so its digest tells nothing about
it. The file is read again whenever it has changed, so a running server sees additions and revocations at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from dobandit.errors import DobanditError, FileError, did_you_mean, listing
from dobandit.files import cannot_write, config_folder, read_text, replacing

Role = Literal["viewer", "worker", "manager"]
ROLES: tuple[Role, ...] = ("viewer", "worker", "manager")  # each may do what those before it may
_NAME = re.compile(r"[^\W_][\w.@ -]{0,63}")


class Token(NamedTuple):
    """What is known of a token: who has it, what they may do, when it was added, and the digest of its text."""

    name: str
    role: Role
    added: str
    sha256: str


class TokenFile:
    """The tokens of a file; by default of the one in the user's configuration folder."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = config_folder() / "tokens.json" if path is None else path
        self._seen: tuple[int, ...] = ()
        self._tokens: dict[str, Token] = {}

    def find(self, secret: str) -> Token | None:
        """The token with this text."""
        return self._by_digest().get(_digest(secret))

    def all(self) -> list[Token]:
        return list(self._by_digest().values())

    def add(self, name: str, role: Role) -> str:
        """A new token for this name; its text, which is nowhere else."""
        if not _NAME.fullmatch(name):
            raise DobanditError(f"{name!r} cannot be the name of a token: use letters, digits, spaces and . @ _ -")
        secret = f"dobandit_{secrets.token_urlsafe(32)}"
        with self._changing() as tokens:
            if any(token.name == name for token in tokens):
                raise DobanditError(f"there is a token {name!r} already; revoke it first, or choose another name")
            tokens.append(Token(name, role, datetime.now(UTC).isoformat(timespec="seconds"), _digest(secret)))
        return secret

    def revoke(self, name: str) -> None:
        with self._changing() as tokens:
            found = [token for token in tokens if token.name == name]
            if not found:
                names = [token.name for token in tokens]
                raise DobanditError(f"there is no token {name!r}; {did_you_mean(name, names) or _those(names)}")
            tokens.remove(found[0])

    def _by_digest(self) -> dict[str, Token]:
        try:
            about = self.path.stat()
        except FileNotFoundError:
            self._seen, self._tokens = (), {}
            return self._tokens
        except OSError as error:
            raise cannot_write(self.path, error) from None
        if (seen := (about.st_mtime_ns, about.st_size, about.st_ino)) != self._seen:
            self._tokens = {token.sha256: token for token in _read(self.path)}
            self._seen = seen
        return self._tokens

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """The tokens, to be changed; they are written at the end, and only their owner can read the file."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self.path, error) from None
        with _alone(self.path), replacing(self.path) as draft:
            tokens = _read(self.path) if self.path.exists() else []
            yield tokens
            os.close(os.open(draft, os.O_CREAT | os.O_WRONLY, 0o600))
            draft.write_text(json.dumps({"tokens": [token._asdict() for token in tokens]}, indent=2) + "\n")


def _read(path: Path) -> list[Token]:
    try:
        return [Token(**token) for token in json.loads(read_text(path))["tokens"]]
    except (ValueError, TypeError, KeyError):
        raise FileError(
            f"{path}: this is not a file of tokens; move it away, or name another one with --tokens"
        ) from None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One change at a time, where the system has a way to say so."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _those(names: list[str]) -> str:
    return f"the tokens are {listing(names)}" if names else "there are no tokens yet"
