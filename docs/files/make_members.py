"""Writes members.csv, the messy spreadsheet of the tutorial: python docs/files/make_members.py

A gym wants more members to renew. Staff call those who rarely come, and give a free month to those who complain, which
no column shows. So called members renew less often although calls help, and the log cannot tell what a free month does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROWS = 3000


def main() -> None:
    rng = np.random.default_rng(11)
    age = rng.normal(40, 13, ROWS).clip(18, 79).round().astype(int)
    visits = rng.poisson(np.where(age < 30, 9, np.where(age < 50, 6, 4)))
    complained = rng.random(ROWS) < 0.25
    contact = np.where(rng.random(ROWS) < np.where(visits < 4, 0.75, 0.2), "call", "email")
    free = rng.random(ROWS) < np.where(complained, 0.6, 0.1)
    chance = 0.25 + 0.035 * visits.clip(0, 10) + 0.14 * (contact == "call") + 0.12 * free - 0.25 * complained
    renewed = rng.random(ROWS) < chance.clip(0.02, 0.98)
    lines = ["member no;Age;visits per month;contacted by;Free month;renewed?"]
    for i in range(ROWS):
        shown = "" if rng.random() < 0.02 else str(age[i])
        ends = "TRUE" if free[i] else "FALSE", "yes" if renewed[i] else "no"
        lines.append(";".join([str(10_000 + i), shown, str(visits[i]), contact[i], *ends]))
    Path(__file__).with_name("members.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
