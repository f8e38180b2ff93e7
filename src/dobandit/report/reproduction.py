"""The report of a reproduction: what the paper claims about every panel, its numbers, and ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from dobandit import paper
from dobandit.errors import counted, listing
from dobandit.plots import Curve
from dobandit.report.html import write_html
from dobandit.report.markdown import to_markdown
from dobandit.report.page import AGAINST, Page, Part, Picture, Points, Section, Table, mean_text, versions

ALG2_PANELS = ("fig3-budget", "fig3-cost", "fig9-budget", "fig10-budget", "fig10-cost")
ALG2_START = 220.0  # budgets; below, the published curve lies higher
BOUNDS_TEXT = {
    "cumulative": (
        "Thin lines: the bound of Theorem 1, which holds for Algorithm 1 alone, and a lower bound for the worst world, "
        "not for these; averages over the worlds and costs of the first {}."
    ),
    "simple": (
        "Thin lines, averages over the worlds and costs of the first {}: an upper bound is proved where no back-door "
        "path is open, for Algorithm 2 with `threshold=<` alone, and is level where it is no less than the largest "
        "regret there is; a rate tells the shape, up to a factor that is not known, and bounds nothing."
    ),
}


def reproduction_page(panels: Sequence[paper.Reproduced], *, timed: bool = True, bounds: bool = False) -> Page:
    """The page; `timed` says how long each panel took, `bounds` draws those of the paper's theorems."""
    first = panels[0]
    facts = {"trials": f"{first.trials:,} for each policy", "seed": str(first.seed), **versions()}
    if timed:
        facts["computing time"] = f"{sum(p.seconds for p in panels):.1f} s on all processes together"
    return Page(
        "Confounded Budgeted Causal Bandits: the experiments, rerun",
        f"{paper.CITATION} Every panel was run again; dotted curves and the rows called published are the points of "
        "the paper's figures.",
        facts,
        [_summary(panels, timed), *(_section(found, timed, bounds) for found in panels)],
    )


def write_reproduction(panels: Sequence[paper.Reproduced], folder: Path, *, bounds: bool = False) -> None:
    """report.html, and every figure as PNG and SVG."""
    write_html(reproduction_page(panels, bounds=bounds), folder, "png", "svg")


def remove_others(panels: Sequence[paper.Reproduced], folder: Path) -> list[str]:
    """Remove figures of panels that are not in the report, left by an earlier run; which panels those were."""
    ours = {found.panel.name for found in panels}
    old = [folder / f"{name}.{form}" for name in paper.PANELS if name not in ours for form in ("png", "svg")]
    there = [file for file in old if file.exists()]
    for file in there:
        file.unlink()
    return list(dict.fromkeys(file.stem for file in there))


def write_page(panels: Sequence[paper.Reproduced], path: Path) -> None:
    """A Markdown page without times: the same run gives the same page. Its pictures go to `images` beside it."""
    page = reproduction_page(panels, timed=False)
    page = page._replace(lead=f"{page.lead} This page is written by `dobandit reproduce --page FILE`.")
    images = path.with_name("images")
    images.mkdir(exist_ok=True)
    for picture in page.pictures:
        (images / f"{picture.name}.svg").write_bytes(picture.svg)
    path.write_text(to_markdown(page), encoding="utf-8")


def _summary(panels: Sequence[paper.Reproduced], timed: bool) -> Section:
    rows = []
    for found in panels:
        for name, curve in found.curves.items():
            there = found.published.get(name)
            last = ["", ""] if there is None else [_value(found, there, -1), str(paper.agreement(curve, there))]
            rows.append([f"`{found.panel.name}`", f"`{name}`", _value(found, curve, -1), *last])
    head = ["panel", "policy", "ours, at the last point", "published", "within 3 s.e."]
    parts: list[Part] = [
        "Regret at the last point of the grid, and how many points lie within three joint standard errors "
        "(the root of the sum of both squared) of the published ones. Names without brackets are the algorithms as "
        "their papers define them; names with brackets are variants, run because a published curve looks like them or "
        "because the paper does not say which form it used. How near they come is said with every panel.",
        Table(head, rows, words=2),
    ]
    share = paper.Agreement(*map(sum, zip(*map(_of_algorithm_2, panels), strict=True)))
    if share.points:
        parts.append(
            f"Algorithm 2 on the parallel graphs (Figures 3, 9 and 10, budgets from {ALG2_START:g}): "
            f"{share} of the points are within three joint standard errors."
        )
    parts += [f"What the paper says is checked with numbers. {paper.CRITERIA}"]
    parts += ["What the paper leaves open:", Points(paper.CHOICES)]
    if timed:
        parts.append(Table(["panel", "seconds"], [[f"`{p.panel.name}`", f"{p.seconds:.1f}"] for p in panels]))
    return Section("All panels", parts)


def _of_algorithm_2(found: paper.Reproduced) -> paper.Agreement:
    if found.panel.name not in ALG2_PANELS or "paper-simple" not in found.published:
        return paper.Agreement(0, 0)
    start = ALG2_START if found.panel.axis == "budget" else -math.inf
    return paper.agreement(found.curves["paper-simple"], found.published["paper-simple"], start)


def _section(found: paper.Reproduced, timed: bool, bounds: bool) -> Section:
    panel = found.panel
    figure = found.plot(f"{panel.figure}: {counted(found.trials, 'trial')}", bounds=bounds)
    took = f" Computed in {found.seconds:.1f} s." if timed else ""
    parts: list[Part] = [
        f"{panel.figure}: {panel.describe()}. Regret against {AGAINST[found.optimum]}. {panel.remark}".strip() + took,
        Picture.of(figure, panel.name, _title(found)),
        *([BOUNDS_TEXT[panel.objective].format(counted(paper.bounds_trials(found.trials), "trial"))] if bounds else []),
        _numbers(found),
    ]
    judged = paper.judgements(found)
    head = [
        "the paper says",
        "its points",
        "our run, baselines nearest to the published curves",
        "our run, baselines as their papers define them",
    ]
    parts.append(Table(head, [_row(j) for j in judged], words=len(head)))
    said = [remark for j in judged if (remark := j.remark())]
    forms = [paper.nearest(found, policy) for policy in panel.experiment.variants]
    if forms and any(j.nearest for j in judged):
        said.insert(0, f"Nearest to the published curves, of two forms each: {listing(f'`{f}`' for f in forms)}.")
    said += [f"`{name}`: {text}" for name, text in paper.notes(found).items()]
    return Section(_title(found), [*parts, Points(said)] if said else parts)


def _row(judgement: paper.Judgement) -> list[str]:
    """A claim, and three times whether it holds, with the numbers."""
    verdicts = [judgement.published, judgement.nearest, judgement.as_defined]
    what = next((f" ({v.what})" for v in verdicts if v), "")
    return [judgement.text.removesuffix(".") + what, *(_verdict(verdict) for verdict in verdicts)]


def _title(found: paper.Reproduced) -> str:
    return f"{found.panel.name}: {found.objective} regret against the {found.panel.x_label}"


def _numbers(found: paper.Reproduced) -> Table:
    """Regret at four places of the grid: every policy, and after its variants the published curve."""
    grid = found.panel.grid
    places = [round(k * (len(grid) - 1) / 3) for k in range(4)]
    rows = []
    names = list(found.curves)
    for i, name in enumerate(names):
        curve, there = found.curves[name], found.published.get(name)
        shown = "" if there is None else str(paper.agreement(curve, there))
        rows.append([f"`{name}`", *(_value(found, curve, p) for p in places), shown])
        base = name.partition("[")[0]
        if there is not None and (i + 1 == len(names) or names[i + 1].partition("[")[0] != base):
            at = {x: j for j, x in enumerate(there.x)}
            numbers = [_value(found, there, at[grid[p]]) if grid[p] in at else "" for p in places]
            rows.append([f"published {base}", *numbers, ""])
    sign = "B" if found.panel.axis == "budget" else "c"
    return Table(["policy", *(f"{sign} = {grid[p]:g}" for p in places), "within 3 s.e."], rows)


def _value(found: paper.Reproduced, curve: Curve, place: int) -> str:
    return mean_text(curve.mean[place], curve.se[place], 1 if found.objective == "cumulative" else 4)


def _verdict(verdict: paper.Verdict | None) -> str:
    return "" if verdict is None else f"{verdict.answer}: {', '.join(map(str, verdict.numbers))}"
