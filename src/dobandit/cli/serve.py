"""`dobandit serve`: studies as web pages and over HTTP."""

from __future__ import annotations

from pathlib import Path

import click

from dobandit.cli.common import say, several
from dobandit.service import open_browser, serve

FOREVER = "Sign in once with this address; it works one time:"


@click.command()
@click.argument("studies", metavar="STUDY...", nargs=-1, required=True)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; any other than the default needs a token.",
)
@click.option(
    "--port",
    default=8377,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 chooses a free one.",
)
@click.option("--root-path", default="", metavar="PATH", help="The path under which a proxy serves these pages.")
@several("--allow-host", "names", "NAME", "Another name of this server, such as that of a proxy.")
@click.option(
    "--tokens", type=click.Path(path_type=Path), metavar="FILE", help="The file of tokens; default: that of the user."
)
@click.option("--open", "browse", is_flag=True, help="Open the page in a browser.")
@click.option("--quiet", is_flag=True, help="Print only the address.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def command(
    studies: tuple[str, ...],
    host: str,
    port: int,
    root_path: str,
    names: tuple[str, ...],
    tokens: Path | None,
    browse: bool,
    quiet: bool,
) -> None:
    """Show studies as web pages, and answer programs over HTTP.

    STUDY is the file of a study, a folder of such files, or the URL of a PostgreSQL database.
    """

    def is_ready(address: str) -> None:
        say(FOREVER, quiet)
        click.echo(address)
        say("Press Ctrl-C to stop.", quiet)
        if browse:
            open_browser(address)

    prefix = "/" + root_path.strip("/") if root_path.strip("/") else ""
    serve(studies, host, port, prefix, names=names, tokens=tokens, is_ready=is_ready)
