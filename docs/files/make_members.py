"""Writes members.csv, the messy spreadsheet of the tutorial, and results.csv, the outcomes of its experiments:
python docs/files/make_members.py

A gym wants more members to renew. Staff call those who rarely come, and give a free month to those who complain, which
no column shows. So called members renew less often although calls help, and the log cannot tell what a free month does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dobandit as db

FOLDER = Path(__file__).parent
ROWS, PULLS = 3000, 20
HEADER = "Age;visits per month;contacted by;Free month;renewed?"


def main() -> None:
    rng = np.random.default_rng(11)
    members = people(rng, ROWS)
    numbered = [f"{10_000 + i};{line}" for i, line in enumerate(members)]
    write("members.csv", [f"member no;{HEADER}", *numbered])
    with db.Study.create(":memory:", db.Problem.load(FOLDER / "gym.toml")) as study:
        study.observe(FOLDER / "members.csv", name="members.csv")
        pulls = study.ask(n=PULLS)
    rng = np.random.default_rng(12)
    lines = [people(rng, 1, free=pull.set.get("FreeMonth"), contact=pull.set.get("Contact"))[0] for pull in pulls]
    write("results.csv", [f"id;{HEADER}", *(f"{pull.id};{line}" for pull, line in zip(pulls, lines, strict=True))])


def people(rng: np.random.Generator, rows: int, free: str | None = None, contact: str | None = None) -> list[str]:
    """Members as lines of a file; what is given was set by an experiment."""
    age = rng.normal(40, 13, rows).clip(18, 79).round().astype(int)
    visits = rng.poisson(np.where(age < 30, 9, np.where(age < 50, 6, 4)))
    complained = rng.random(rows) < 0.25
    called = rng.random(rows) < np.where(visits < 4, 0.75, 0.2)
    has_free = rng.random(rows) < np.where(complained, 0.6, 0.1)
    called = called if contact is None else np.full(rows, contact == "call")
    has_free = has_free if free is None else np.full(rows, free == "1")
    chance = 0.25 + 0.035 * visits.clip(0, 10) + 0.14 * called + 0.12 * has_free - 0.25 * complained
    renewed = rng.random(rows) < chance.clip(0.02, 0.98)
    shown = [str(years) if rng.random() >= 0.02 else "" for years in age]
    return [
        f"{shown[i]};{visits[i]};{'call' if called[i] else 'email'};{'TRUE' if has_free[i] else 'FALSE'};"
        f"{'yes' if renewed[i] else 'no'}"
        for i in range(rows)
    ]


def write(name: str, lines: list[str]) -> None:
    (FOLDER / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
