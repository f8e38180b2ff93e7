"""How much memory a table may take: 1 GB, or what the environment variable DOBANDIT_MEMORY or `dobandit --memory` says.

A variable of the environment, because processes that are started inherit it. The limit is looked at before a table is
made, so that an answer never depends on it: there is one, or a sentence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from dobandit.errors import DobanditError

VARIABLE = "DOBANDIT_MEMORY"
_USUAL = "1GB"
_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


def memory_limit() -> int:
    """The largest number of bytes of one table, all trials together."""
    return parsed(os.environ.get(VARIABLE) or _USUAL)


@cache
def parsed(text: str) -> int:
    """The bytes of a size.

    >>> parsed("500MB"), parsed("1.5 gb")
    (524288000, 1610612736)
    """
    found = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([KMGT]?B)\s*", text, re.IGNORECASE)
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if not size:
        raise DobanditError(f"the memory limit is {text!r}; write a size such as 500MB or 4GB ({VARIABLE}, --memory)")
    return size


@contextmanager
def limited(text: str) -> Iterator[None]:
    """Another limit, here and in processes that are started meanwhile."""
    parsed(text)
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = text
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
