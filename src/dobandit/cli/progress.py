"""How far a long command is: a progress bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Report = Callable[[str, float], None]  # what is worked on, and the share of it that is done


@contextmanager
def progress(parts: Sequence[str], quiet: bool) -> Iterator[Report | None]:
    """A bar on stderr with the time that is left, if there is a terminal to see it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("", total=len(parts))
        shares = dict.fromkeys(parts, 0.0)

        def report(part: str, share: float) -> None:
            shares[part] = share
            bar.update(task, description=part, completed=sum(shares.values()))

        yield report
