"""What is refused, and how that is said: a status that fits, and the sentence of the command line (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dobandit.errors import (
    DataError,
    DobanditError,
    MissingExtra,
    NoSuchPull,
    OutcomeError,
    ProblemError,
    StorageError,
    StudyError,
)

TITLES = {
    400: "Bad input",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "The request took too long",
    409: "Conflict",
    413: "Too large",
    422: "It does not fit the study",
    429: "Too many requests",
    500: "A bug in dobandit",
    501: "Not installed",
    503: "The storage is busy or cannot be reached",
}
SECONDS_TO_RETRY = 2


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **members: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.members = status, detail, dict(headers or {}), members

    @property
    def title(self) -> str:
        return TITLES.get(self.status, "Error")

    def document(self) -> dict[str, Any]:
        """The problem document."""
        kind = self.members.get("error", "")
        about = {"type": f"urn:dobandit:error:{kind}" if kind else "about:blank", "title": self.title}
        return {**about, "status": self.status, "detail": self.detail, **self.members}


def refusal_of(error: DobanditError) -> Refusal:
    """What an error of a study means for a request."""
    members: dict[str, Any] = {"error": type(error).__name__, "exit_code": error.exit_code}
    for name in ("faults", "expected"):
        if name in vars(error) and not isinstance(error, ProblemError):
            members[name] = getattr(error, name)
    status = status_of(error)
    return Refusal(status, str(error), {"Retry-After": str(SECONDS_TO_RETRY)} if status == 503 else None, **members)


def status_of(error: DobanditError) -> int:
    match error:
        case NoSuchPull():
            return 404
        case StorageError():
            return 503
        case DataError() if error.exit_code == StudyError.exit_code:
            return 409
        case StudyError():
            return 409
        case OutcomeError() | DataError() | ProblemError():
            return 422
        case MissingExtra():
            return 501
    return 400


def bug(error: Exception) -> Refusal:
    """Something that should not happen; the traceback is on the server's stderr."""
    return Refusal(500, f"this is a bug in dobandit ({type(error).__name__}); the server's log says more")
