"""The reports of comparisons: policies against each other on one problem, or on classes of benchmark worlds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from dobandit.numerals import amount, number
from dobandit.plots import graph_figure
from dobandit.problem import Problem
from dobandit.report.html import write_html
from dobandit.report.page import AGAINST, Page, Part, Picture, Points, Section, Table, mean_text, versions
from dobandit.simulation import Results, standard_error
from dobandit.suite import Comparison, write

CLEAR = 2.0  # standard errors by which a difference is more than luck
SETTLED = 0.01  # simple regret below which the recommendation counts as good


def comparison_page(results: Results, title: str, facts: dict[str, str], problem: Problem) -> Page:
    """Which policy is best; the regret of every policy as a figure and a table, the best first; the problem."""
    shows = f"{results.objective} regret of every policy against the {results.axis}"
    settings = {"trials": f"{results.trials:,}", "regret against": AGAINST[results.optimum], **facts, **versions()}
    table = Table(
        ["policy", results.axis, "regret", "± s.e.", "spent", "pulls"],
        [[f"`{name}`", *numbers] for name, *numbers in summary_rows(results)],
    )
    parts: list[Part] = [Picture.of(results.plot(), "regret", shows), table]
    if warnings := results.warnings():
        parts += ["Keep in mind:", Points(warnings)]
    sections = [Section(f"{results.objective.capitalize()} regret", parts), _about(problem)]
    return Page(title, verdict(results), settings, sections)


def verdict(results: Results) -> str:
    """Which policy has the least regret at the last place of the grid, and whether that is more than luck."""
    last = [row for row in results.summary() if row[results.axis] == results.grid[-1]]
    best, *others = sorted(last, key=lambda row: float(row["regret"]))
    found, kind = _regret_text(best), f"mean {results.objective} regret"
    where = f"With a {results.axis} of {amount(results.grid[-1])}, `{best['policy']}`"
    if not others:
        return f"{where} has a {kind} of {found}."
    paired = results.regret[str(others[0]["policy"])][:, -1] - results.regret[str(best["policy"])][:, -1]
    is_clear = paired.mean() > CLEAR * standard_error(paired)
    than = f"`{others[0]['policy']}` follows with {_regret_text(others[0])}"
    doubt = "" if is_clear else ", which may be luck: the difference is within two standard errors"
    return f"{where} has the least {kind}: {found}. {than}{doubt}."


def _regret_text(row: Mapping[str, float | str]) -> str:
    mean, se = float(row["regret"]), float(row["se"])
    return number(mean, 3) + ("" if math.isnan(se) else f" ± {number(se, 2)}")


def _about(problem: Problem) -> Section:
    """The graph and the arms."""
    graph = problem.graph
    figure = graph_figure(graph.variables, sorted(graph.directed), sorted(graph.bidirected))
    costs = [amount(cost) if isinstance(cost, float) else str(cost) for cost in problem.costs]
    size = "large" if problem.goal == "max" else "small"
    goal = f"Make `{problem.reward}` {size} with a budget of {amount(problem.budget)}."
    table = Table(["arm", "cost of a pull"], [[f"`{a}`", cost] for a, cost in zip(problem.arms, costs, strict=True)])
    return Section("The problem", [goal, Picture.of(figure, "graph", "the causal graph"), table])


def summary_rows(results: Results) -> list[list[str]]:
    """Policy, place on the grid, regret, its standard error, spending and pulls as texts; the least regret first."""
    rows = results.summary()
    last = {row["policy"]: row["regret"] for row in rows}  # that of the last place on the grid
    rows.sort(key=lambda row: (last[row["policy"]], row["policy"], row[results.axis]))
    digits = {results.axis: 6, "regret": 4, "se": 2, "spent": 6}
    return [
        [str(row["policy"]), *(number(float(row[k]), d) for k, d in digits.items()), f"{row['rounds']:,.1f}"]
        for row in rows
    ]


def suite_page(comparisons: Sequence[Comparison], seed: int) -> Page:
    """A table of mean regret for every class of worlds, and a figure where budgets vary."""
    first = comparisons[0]
    return Page(
        "Policies on benchmark worlds",
        f"Mean {first.objective} regret ± standard error, against {AGAINST[first.optimum]}. All policies meet the same "
        "worlds, costs and luck. An asterisk marks the lowest mean.",
        {"trials": str(first.trials), "seed": str(seed), **versions()},
        [_section(c, name) for c, name in zip(comparisons, _file_names(comparisons), strict=True)],
    )


def write_suite(comparisons: Sequence[Comparison], folder: Path, seed: int) -> None:
    """results.csv, report.html, and a figure as PNG for every world with more than one budget."""
    write(comparisons, folder / "results.csv")
    write_html(suite_page(comparisons, seed), folder, "png")


def _file_names(comparisons: Sequence[Comparison]) -> list[str]:
    """Names for their pictures; two folders may have a network of the same name."""
    names = [comparison.file_name for comparison in comparisons]
    before = [names[:i].count(name) for i, name in enumerate(names)]
    return [f"{name}-{n + 1}" if n else name for name, n in zip(names, before, strict=True)]


def _section(comparison: Comparison, name: str) -> Section:
    parts: list[Part] = [table_of(comparison, comparison.grid)]
    if len(comparison.grid) > 1:
        shows = f"{comparison.objective} regret of the policies in {comparison.short_name} against the budget"
        parts.insert(0, Picture.of(comparison.plot(), name, shows))
    about = comparison.about
    return Section(f"{comparison.short_name}, costs {comparison.costs}", [f"{about[0].upper()}{about[1:]}.", *parts])


def table_of(comparison: Comparison, budgets: Sequence[float]) -> Table:
    """Policies against some of the budgets, the lowest mean of each marked; the lowest at the last budget first."""
    rows = {(row["policy"], row["budget"]): (float(row["regret"]), float(row["se"])) for row in comparison.summary()}
    lowest = {b: min(rows[name, b] for name in comparison.policies)[0] for b in budgets}
    head = ["policy", *(f"B = {amount(b)}" for b in budgets)]
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
    return f"> {amount(comparison.grid[-1])}" if found is None else amount(found)
