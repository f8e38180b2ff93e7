"""The address of a study in a database, as people write it: postgresql://user:password@host/database#name.

A place is the name of a file unless it looks like an address. It does if it begins with a scheme (two letters or more
and `:/`), if `postgres:`, `psql:` or the like is in it, or if it may hold a password: `:` with a later `@`, or
`password=`. So `run:3.db` and `C:\\x.db` are files. `./` before the name of a file says that it is one. Only
postgresql:// and postgres:// are taken, in any case; another address is refused, and no error repeats it.

`postgresql://#name` has no database in it: that one is taken from the environment variable DOBANDIT_URL, so that a
password need not stand in the list of processes.

What is shown of an address is put together from the parts that may be seen, never cut out of its text, so that
no password slips through, whatever is in it.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple
from urllib.parse import quote

from dobandit.errors import DobanditError, needing

NAME = "study"  # of a study without a name
URL = "DOBANDIT_URL"  # the environment variable with the address of a database

_ANY_CASE = re.IGNORECASE | re.DOTALL
_OURS = r"\s*postgres(?:ql)?://"
_SERVICE = r"\s*https?://"
_FORM = r"postgres(?:ql)?://((?:[^@/]*@)?[^@#]*)(?:#([^@#]*))?"  # up to the @ all may be secret
_NEARLY_OURS = r"(?:postgres|psql)[a-z0-9+]*:"
_SCHEME = rf"\s*(?:[a-z][a-z0-9+.-]+:/|{_NEARLY_OURS})|.*{_NEARLY_OURS}/"
_LOGIN = r"(?!\.{0,2}/(?!/)|[a-z]:[\\/]).*(?::.*@|(?:password|passwd|pass|pwd)\s*=)"  # not in a path


class Address(NamedTuple):
    """Where the database is, the name of the study in it, and both as they may be shown."""

    url: str
    study: str
    shown: str

    def __repr__(self) -> str:
        return f"Address({self.shown})"  # tracebacks that show variables have no password either


def place_of(where: str | os.PathLike[str]) -> str:
    """A place as text; errors do not repeat it, for it may hold a password."""
    if not where or not isinstance(where, str | os.PathLike):
        what = type(where).__name__ if where else repr(where)
    elif "\0" in os.fsdecode(where):
        what = "a text with a null character"
    else:
        return os.fsdecode(where)
    raise DobanditError(f"a study is kept in a file or a database: give a path or a URL, not {what}")


def is_service(where: str) -> bool:
    """Whether a place is the address of a study behind a server (dobandit.study.remote)."""
    return "://" in where and bool(re.match(_SERVICE, where, _ANY_CASE))


def is_database(where: str) -> bool:
    """Whether a place is a database; an address that is nearly one is refused."""
    if not (":" in where or "=" in where):
        return False  # as nearly always; the expressions below take longer to compile than a file to open
    if re.match(_OURS, where, _ANY_CASE):
        return True
    if re.match(_SCHEME, where, _ANY_CASE) or re.match(_LOGIN, where, _ANY_CASE):
        raise DobanditError(
            "this is not a place for a study: write postgresql://user:password@host/database#name for a database, "
            "http://host:8377/name for a server, or ./ before the name of a file that looks like an address"
        )
    return False


def address_of(where: str) -> Address:
    found = re.fullmatch(_FORM, where.strip(), _ANY_CASE)
    given = os.environ.get(URL, "").strip()
    is_elsewhere = bool(found and not found[1] and given)
    base = re.fullmatch(_FORM, given, _ANY_CASE) if is_elsewhere else found
    url = f"postgresql://{base[1]}" if base else ""
    parts = _parts(url) if base else None
    if found is None or base is None or parts is None:
        raise DobanditError(
            f"{URL if is_elsewhere else 'this'} is not the address of a database: write "
            "postgresql://user:password@host/database#name, "
            "and in its parts %40 for @, %2F for /, %23 for #, %20 for a space and %25 for %"
        )
    name = found[2] or base[2]
    return Address(url, name or NAME, _shown(parts) + (f"#{name}" if name else ""))


def _parts(url: str) -> dict[str, Any] | None:
    """What psycopg reads in a URL; its own complaints about one repeat pieces of it, and are not passed on."""
    with needing("psycopg", "postgres"):
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError:
        return None
    return parts if re.fullmatch(r"[\d,]*", str(parts.get("port", ""))) else None


def _shown(parts: dict[str, Any]) -> str:
    user, host, port, base = (quote(str(parts.get(key, "")), ",:") for key in ("user", "host", "port", "dbname"))
    login = user + (":***" if "password" in parts else "")
    place = f"[{host}]" if ":" in host else host
    return f"postgresql://{login + '@' if login else ''}{place}{':' + port if port else ''}/{base}"
