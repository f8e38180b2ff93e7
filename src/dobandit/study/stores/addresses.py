"""The address of a study in a database, as people write it: postgresql://user:password@host/database#name.

What is shown of an address is put together from the parts that may be seen, never cut out of its text, so that
no password slips through, whatever is in it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import quote

from dobandit.errors import DobanditError, MissingExtra

PREFIXES = ("postgresql://", "postgres://")
NAME = "study"  # of a study without a name

_FORM = re.compile(r"(postgres(?:ql)?://(?:[^@/]*@)?)([^@#]*)(?:#([^@#]*))?")  # up to the @ anything may be a password


class Address(NamedTuple):
    """Where the database is, the name of the study in it, and both as they may be shown."""

    url: str
    study: str
    shown: str


def is_url(where: str) -> bool:
    return where.startswith(PREFIXES)


def address_of(where: str) -> Address:
    found = _FORM.fullmatch(where)
    parts = _parts(found[1] + found[2]) if found else None
    if found is None or parts is None:
        raise DobanditError(
            "this is not the address of a database: write postgresql://user:password@host/database#name, "
            "and in its parts %40 for @, %2F for /, %23 for #, %20 for a space and %25 for %"
        )
    return Address(found[1] + found[2], found[3] or NAME, _shown(parts) + (f"#{found[3]}" if found[3] else ""))


def _parts(url: str) -> dict[str, Any] | None:
    """What psycopg reads in a URL; its own complaints about one repeat pieces of it, and are not passed on."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
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
