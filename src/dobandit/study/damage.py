"""Damage: what is said of a study whose content makes no sense."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from dobandit.errors import MissingPolicy, StorageError, StudyError


def damaged(name: str, what: str) -> StudyError:
    return StudyError(f"{name} is damaged: {what}; restore it from a copy")


@contextmanager
def making_sense_of(name: str) -> Iterator[None]:
    """Whatever fails in here fails because of what is written in the study, which may be anything."""
    try:
        yield
    except (StudyError, StorageError, sqlite3.Error):  # of which the store says what they mean
        raise
    except MissingPolicy as error:
        why = in_words(error) if ":" in error.policy else "install the package that offers it"
        raise StudyError(
            f"{name} uses the policy {error.policy}, a plug-in that is not installed here: {why}"
        ) from None
    except Exception as error:
        raise damaged(name, f"its events make no sense ({type(error).__name__}: {in_words(error)})") from error


def in_words(error: Exception | str) -> str:
    """What an error says, fit for a terminal: it may quote the file, and that may hold anything."""
    sentences = "; ".join(str(error)[:200].splitlines())
    return "".join(c if c.isprintable() else "?" for c in sentences)
