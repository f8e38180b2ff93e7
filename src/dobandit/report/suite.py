"""The report of a benchmark: a table of mean regret for every class of worlds, and a figure where budgets vary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dobandit.plots import to_bytes
from dobandit.report.html import to_html
from dobandit.report.page import AGAINST, Page, Part, Picture, Section, Table, mean_text, versions
from dobandit.suite import Comparison, write

SETTLED = 0.01  # simple regret below which the recommendation counts as good


def suite_page(comparisons: Sequence[Comparison], seed: int) -> Page:
    first = comparisons[0]
    return Page(
        "Policies on benchmark worlds",
        f"Mean {first.objective} regret ± standard error, against {AGAINST[first.optimum]}. All policies meet the same "
        "worlds, costs and luck. An asterisk marks the lowest mean.",
        {"trials": str(first.trials), "seed": str(seed), **versions()},
        [_section(comparison) for comparison in comparisons],
    )


def write_suite(comparisons: Sequence[Comparison], folder: Path, seed: int) -> None:
    """results.csv, report.html, and a figure as PNG for every world with more than one budget."""
    write(comparisons, folder / "results.csv")
    taken: Counter[str] = Counter()
    for comparison in comparisons:
        if len(comparison.grid) > 1:
            name = comparison.file_name
            taken[name] += 1
            again = f"-{taken[name]}" if taken[name] > 1 else ""  # two folders may have a network of the same name
            (folder / f"{name}{again}.png").write_bytes(to_bytes(comparison.plot(), "png"))
    (folder / "report.html").write_text(to_html(suite_page(comparisons, seed)), encoding="utf-8")


def _section(comparison: Comparison) -> Section:
    parts: list[Part] = [table_of(comparison, comparison.grid)]
    if len(comparison.grid) > 1:
        shows = f"{comparison.objective} regret of the policies in {comparison.short_name} against the budget"
        parts.insert(0, Picture(comparison.file_name, to_bytes(comparison.plot(), "svg"), shows))
    return Section(f"{comparison.short_name}, costs {comparison.costs}", parts)


def table_of(comparison: Comparison, budgets: Sequence[float]) -> Table:
    """Policies against some of the budgets, the lowest mean of each marked; the lowest at the last budget first."""
    rows = {(row["policy"], row["budget"]): (float(row["regret"]), float(row["se"])) for row in comparison.summary()}
    lowest = {b: min(rows[name, b] for name in comparison.policies)[0] for b in budgets}
    head = ["policy", *(f"B = {b:g}" for b in budgets)]
    settles = comparison.objective == "simple" and len(comparison.grid) > 1
    digits = 3 if comparison.objective == "simple" else 1
    found = []
    for name in sorted(comparison.policies, key=lambda name: rows[name, budgets[-1]][0]):
        cells = [mean_text(*rows[name, b], digits) + "*" * (rows[name, b][0] == lowest[b]) for b in budgets]
        found.append([name, *cells, *([settled_text(comparison, name)] if settles else [])])
    return Table([*head, f"<= {SETTLED:g} from"] if settles else head, found)


def settled_text(comparison: Comparison, name: str) -> str:
    """The budget from which mean regret stays small, or beyond which it would have to be looked for."""
    found = comparison.settled(name, SETTLED)
    return f"> {comparison.grid[-1]:g}" if found is None else f"{found:g}"
