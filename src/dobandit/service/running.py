"""Starting the server."""

from __future__ import annotations

import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dobandit.errors import DobanditError, MissingExtra
from dobandit.files import reason
from dobandit.service.tokens import TokenFile

SETTINGS: dict[str, Any] = {  # of uvicorn
    "log_level": "error",
    "access_log": False,  # it would have the secret of the first visit
    "server_header": False,
    "timeout_keep_alive": 20,
    "timeout_graceful_shutdown": 2,
    "h11_max_incomplete_event_size": 64 * 1024,
}


def serve(
    places: Sequence[str],
    host: str = "127.0.0.1",
    port: int = 8377,
    root_path: str = "",
    *,
    names: Sequence[str] = (),
    tokens: Path | None = None,
    is_ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve studies until the process is interrupted.

    Parameters
    ----------
    places
        Files of studies, folders of such files, addresses of studies in databases.
    host, port
        Where to listen; port The port to listen on; 0 chooses a free one.
    root_path
        The path under which a proxy serves these pages.
    names
        Other names under which the server may be addressed.
    tokens
        The file of tokens; default: the one in the user's configuration folder.
    is_ready
        Called with the address that signs in once, when the server listens.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("uvicorn", "web") from None
    from dobandit.service.app import application
    from dobandit.service.door import LOOPBACK, Hosts
    from dobandit.service.shelf import Shelf
    from dobandit.service.visitors import Visitors

    allowed = TokenFile(tokens)
    if host not in LOOPBACK and not allowed.all():
        raise DobanditError(
            f"to listen on {host}, where others can reach it, add a token first: dobandit token add NAME --role worker"
        )
    visitors = Visitors(allowed)
    app = application(Shelf(places), visitors, Hosts(host, names))
    with _listen(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        is_ready(f"http://{shown}:{listening.getsockname()[1]}/sign-in?secret={quote(visitors.secret or '')}")
        uvicorn.Server(uvicorn.Config(app, root_path=root_path, **SETTINGS)).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        if sys.platform != "win32":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(512)
    except (OSError, OverflowError) as error:
        what = reason(error) if isinstance(error, OSError) else str(error)
        raise DobanditError(f"cannot listen on {host}, port {port}: {what}; choose another one with --port") from None
    return made


def open_browser(address: str) -> None:
    webbrowser.open(address)
