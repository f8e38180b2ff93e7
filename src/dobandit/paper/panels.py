"""The thirteen panels of the paper's experiments, from `panels.toml`; `reproduce` runs them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from dobandit import worlds
from dobandit.errors import DobanditError, did_you_mean, listing
from dobandit.paper import claims
from dobandit.paper.panel import Experiment, Panel
from dobandit.paper.published import points

_DATA: Mapping[str, Any] = tomllib.loads(files("dobandit.paper").joinpath("panels.toml").read_text(encoding="utf-8"))
CHOICES: tuple[str, ...] = tuple(_DATA["choices"])
_QUOTED = {  # numbers of the paper in texts
    "at_cost_6": points("fig4-cost", "paper-simple")[6.0].regret,
    "at_budget_800": points("fig4-budget", "paper-simple")[800.0].regret,
}


def _notes(keys: Iterable[str]) -> dict[str, str]:
    """By policy."""
    return {note["policy"]: note["text"].format(**_QUOTED) for note in (_DATA["notes"][key] for key in keys)}


def _experiment(entry: Mapping[str, Any]) -> Experiment:
    """Of the parallel model with so many variables, or of the XOR model on a graph of the paper."""
    parallel = entry.get("parallel")
    return Experiment(
        objective=entry["objective"],
        graph=worlds.parallel(parallel).graph if parallel else getattr(worlds, entry["graph"]),
        model="parallel" if parallel else "xor",
        policies=tuple(entry["policies"]),
        variants=entry["variants"],
        notes=_notes(entry["notes"]),
    )


_CLAIMS = {
    key: claims.Claim(c["text"], getattr(claims, c["check"]), tuple(c.get("of", ())), tuple(c.get("also", ())))
    for key, c in _DATA["claims"].items()
}
_EXPERIMENTS = {key: _experiment(entry) for key, entry in _DATA["experiments"].items()}


def _panel(name: str, entry: Mapping[str, Any]) -> Panel:
    """A panel against costs where it states a budget, else against budgets."""
    first, last, step = entry["grid"]
    return Panel(
        name=name,
        figure=f"Figure {entry['figure']}",
        experiment=_EXPERIMENTS[entry["experiment"]],
        axis="cost" if "budget" in entry else "budget",
        grid=tuple(map(float, range(first, last + 1, step))),
        claims=tuple(_CLAIMS[key] for key in entry["claims"]),
        costs=tuple(entry.get("costs", ())),
        budget=entry.get("budget"),
        remark=entry.get("remark", ""),
        own_notes=_notes(entry.get("notes", ())),
    )


PANELS = {name: _panel(name, entry) for name, entry in _DATA["panels"].items()}


def panels_of(name: str) -> list[Panel]:
    """The panel of this name, or all of a figure (`fig10`); an unknown name is answered with the nearest."""
    known = name.strip().lower()
    if found := [panel for panel in PANELS.values() if known in (panel.name, panel.name.partition("-")[0])]:
        return found
    meant = did_you_mean(known, PANELS, most=3) or f"there are {listing(PANELS, most=len(PANELS))}"
    raise DobanditError(f"there is no panel {name!r}; {meant}")
