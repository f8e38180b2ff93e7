"""The report of a simulation: policies against each other on one problem."""

from __future__ import annotations

import math

from dobandit.plots import to_bytes
from dobandit.report.page import AGAINST, Page, Part, Picture, Points, Section, Table, versions
from dobandit.simulation import Results


def comparison_page(results: Results, title: str, facts: dict[str, str]) -> Page:
    """Regret of every policy as a figure and a table, the best first."""
    shows = f"{results.objective} regret of every policy against the {results.axis}"
    figure = results.plot()
    picture = Picture("regret", to_bytes(figure, "svg"), shows, to_bytes(figure, "png"))
    settings = {"trials": f"{results.trials:,}", "regret against": AGAINST[results.optimum], **facts, **versions()}
    parts: list[Part] = [picture, _table(results)]
    if warnings := results.warnings():
        parts += ["The data contradict the graph:", Points(warnings)]
    return Page(title, "", settings, [Section(f"{results.objective.capitalize()} regret", parts)])


def _table(results: Results) -> Table:
    last = {row["policy"]: row["regret"] for row in results.summary()}  # that of the last place on the grid
    rows = [
        [
            f"`{row['policy']}`",
            f"{row[results.axis]:g}",
            f"{row['regret']:.4g}",
            "" if math.isnan(float(row["se"])) else f"{row['se']:.2g}",
            f"{row['spent']:.6g}",
            f"{row['rounds']:.1f}",
        ]
        for row in sorted(results.summary(), key=lambda row: (last[row["policy"]], row["policy"], row[results.axis]))
    ]
    return Table(["policy", results.axis, "regret", "± s.e.", "spent", "pulls"], rows)
