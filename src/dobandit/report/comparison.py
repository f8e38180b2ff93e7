"""The report of a simulation: policies against each other on one problem."""

from __future__ import annotations

from dobandit.plots import to_bytes
from dobandit.report.page import AGAINST, Page, Part, Picture, Points, Section, Table, versions
from dobandit.simulation import Results


def comparison_page(results: Results, title: str, facts: dict[str, str]) -> Page:
    """Regret of every policy as a figure and a table, the best first."""
    shows = f"{results.objective} regret of every policy against the {results.axis}"
    figure = results.plot()
    picture = Picture("regret", to_bytes(figure, "svg"), shows, to_bytes(figure, "png"))
    settings = {"trials": f"{results.trials:,}", "regret against": AGAINST[results.optimum], **facts, **versions()}
    table = Table(
        ["policy", results.axis, "regret", "± s.e.", "spent", "pulls"],
        [[f"`{name}`", *numbers] for name, *numbers in summary_rows(results)],
    )
    parts: list[Part] = [picture, table]
    if warnings := results.warnings():
        parts += ["The data contradict the graph:", Points(warnings)]
    return Page(title, "", settings, [Section(f"{results.objective.capitalize()} regret", parts)])


def summary_rows(results: Results) -> list[list[str]]:
    """Policy, place on the grid, regret, its standard error, spending and pulls as texts; the least regret first."""
    rows = results.summary()
    last = {row["policy"]: row["regret"] for row in rows}  # that of the last place on the grid
    rows.sort(key=lambda row: (last[row["policy"]], row["policy"], row[results.axis]))
    formats = {results.axis: "g", "regret": ".4g", "se": ".2g", "spent": ".6g", "rounds": ".1f"}
    # A single trial has no standard error: NaN, which equals nothing.
    return [
        [str(row["policy"]), *(f"{row[k]:{f}}" if row[k] == row[k] else "" for k, f in formats.items())] for row in rows
    ]
