"""`dobandit reproduce`: rerun the panels of the paper."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from dobandit import paper
from dobandit.cli.common import FILE, console, print_json, say, several, with_common_options
from dobandit.cli.simulating import CLUSTER, SEED, WORKERS, Report, on_cluster, progress
from dobandit.cli.tables import cell, table
from dobandit.errors import FileError, counted, listing
from dobandit.files import storing
from dobandit.report import number

OUT = Path("dobandit-out/reproduce")


@click.command()
@click.argument("panels", nargs=-1, metavar="[PANEL]...")
@click.option("--trials", default=paper.TRIALS, show_default=True, type=click.IntRange(1), help="How many trials.")
@several("--policy", "policies", "P", "A policy (repeat); default: the paper's.")
@SEED
@WORKERS
@CLUSTER
@click.option("--out", default=OUT, show_default=True, type=FILE, metavar="DIR", help="Where results go.")
@click.option("--page", type=FILE, metavar="FILE", help="Also write a Markdown page of it.")
@click.option("--bounds", is_flag=True, help="Also draw the bounds of the paper's theorems.")
@click.option("--list", "only_list", is_flag=True, help="List the panels.")
@with_common_options
def command(
    panels: tuple[str, ...],
    trials: int,
    policies: tuple[str, ...],
    seed: int,
    workers: int | None,
    cluster: str | None,
    out: Path,
    page: Path | None,
    bounds: bool,
    only_list: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run panels of the paper (default: all thirteen) and put them beside the published curves.

    A PANEL is one like fig10-cost, or a figure like fig10 with all of its panels. DIR then holds results.csv, a figure
    for each panel as PNG and SVG, and report.html, all of this run. Finished pieces of work are kept in DIR/blocks:
    after an interruption, the same command goes on where it stopped.
    """
    if only_list:
        _list(as_json)
        return
    wanted = paper.chosen_panels(panels or paper.PANELS)
    jobs = paper.jobs_of(wanted, trials, policies or None, seed)
    work = paper.sizes(jobs)
    if idle := [p.name for p in wanted if p.name not in work]:
        say(f"note: left out, because the policies are for another kind of regret: {listing(idle)}", quiet)
    if page is not None:
        _check_page(page)
    with _resumable(out, jobs), progress(list(work), quiet) as report, on_cluster(cluster, workers) as executor:
        tell = report and _weighed(report, work)
        rerun = partial(paper.reproduce, out=out / "blocks", executor=executor, workers=workers, progress=tell)
        found = rerun(wanted, trials, policies or None, seed)
        old = _write(found, out, page, bounds)
    if as_json:
        print_json({"panels": [_plain(one) for one in found]})
    else:
        _show(found)
    say(f"wrote {out / 'report.html'}, results.csv and the figures beside it", quiet)
    if old:
        say(f"note: figures of an earlier run were removed: {listing(old)}", quiet)


def _check_page(page: Path) -> None:
    """Refuse a place that cannot be written before any work is done."""
    if not page.parent.is_dir():
        raise FileError(f"{page}: its folder does not exist")
    with storing(page):
        new = not page.exists()
        page.open("a").close()
        if new:
            page.unlink()
    images = page.with_name("images")
    with storing(images):
        images.mkdir(exist_ok=True)


def _weighed(report: Report, sizes: Mapping[str, float]) -> Report:
    """The bar counts panels as equal: let each move it by its part of the work."""
    mean = sum(sizes.values()) / len(sizes)
    return lambda panel, share: report(panel, share * sizes[panel] / mean)


@contextmanager
def _resumable(out: Path, jobs: Sequence[paper.Job]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        blocks = paper.Blocks(out / "blocks")
        kept = sum(blocks.find(job) is not None for job in jobs)
        how = f"{kept} of {counted(len(jobs), 'piece')} kept in {out}: the same command goes on from there"
        raise KeyboardInterrupt(how) from None


def _list(as_json: bool) -> None:
    panels = paper.PANELS.values()
    if as_json:
        print_json({"panels": [{"panel": p.name, "x_label": p.x_label, "policies": p.policies} for p in panels]})
        return
    shown = table("panel", "regret", "world", "costs", gap=2)
    for p in panels:
        shown.add_row(p.name, p.objective, p.describe_world(), p.describe_money())
    console().print(shown)


def _write(found: Sequence[paper.Reproduced], out: Path, page: Path | None, bounds: bool) -> list[str]:
    """Tidy results, figures and the report. Figures that do not belong to it are removed; their panels are told."""
    from dobandit.report import remove_others, write_page, write_reproduction

    with storing(out):
        _write_results(found, out / "results.csv")
        write_reproduction(found, out, bounds=bounds)
        others = remove_others(found, out)
    if page is not None:
        with storing(page):
            write_page(found, page)
    return others


def _write_results(found: Sequence[paper.Reproduced], path: Path) -> None:
    """One line for each panel, policy and place on the grid."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["panel", "policy", "x", "trials", "regret", "se", "published", "published_se"])
        for one in found:
            for name, curve in one.curves.items():
                there = one.published_points(name)
                for x, mean, se, point in zip(curve.x, curve.mean, curve.se, there, strict=True):
                    writer.writerow([one.panel.name, name, f"{x:g}", one.trials, mean, se, *(point or ("", ""))])


def _plain(found: paper.Reproduced) -> dict[str, object]:
    curves = [
        {
            "policy": name,
            "x": list(curve.x),
            "regret": list(curve.mean),
            "se": list(curve.se),
            "published": [point and point.regret for point in found.published_points(name)],
        }
        for name, curve in found.curves.items()
    ]
    return {
        "panel": found.panel.name,
        "x_label": found.panel.x_label,
        "trials": found.trials,
        "seconds": found.seconds,
        "optimum": found.optimum,
        "curves": curves,
    }


def _show(found: Sequence[paper.Reproduced]) -> None:
    numbers = ("regret", "± se", "published", "in 3 s.e.", "seconds")
    shown = table("panel", "policy", numbers=numbers, wrap="policy", gap=2)
    for one in found:
        for i, (name, curve) in enumerate(one.curves.items()):
            there = one.published.get(name)
            agreed = paper.agreement(curve, there) if there else None
            share = f"{agreed.share:.0%}" if agreed and agreed.points else ""
            error = number(round(curve.se[-1], 9), 2)  # what rounding leaves is no error
            cells = [number(curve.mean[-1]), error, number(there.mean[-1]) if there else "", share]
            panel, seconds = ("", "") if i else (one.panel.name, f"{one.seconds:.1f}")
            shown.add_row(panel, cell(name), *cells, seconds)
    screen = console()
    screen.print(shown)
    screen.print(f"[dim]regret at the last point of each panel, means over {counted(found[0].trials, 'trial')}[/]")
    screen.print("[dim]in 3 s.e.: points within three joint standard errors of the published ones[/]")
