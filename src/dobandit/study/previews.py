"""Files that are checked before they are applied: what they would change, without changing anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dobandit.evidence import Data, MissingRows, fit, open_source
from dobandit.study.files import read_outcomes
from dobandit.study.outcomes import OutcomeRow
from dobandit.study.plain import array_from_plain
from dobandit.study.pulls import Receipt, named
from dobandit.study.study import Study
from dobandit.study.tally import count_log

SHOWN = 10  # outcomes that are shown


class OutcomesPreview(NamedTuple):
    """The outcomes of a file: how many there are, how many of them are new, the first ones with the arms of their
    pulls, and the money after the last one."""

    number: int
    new: int
    first: Sequence[tuple[OutcomeRow, str]]
    receipt: Receipt


class LogPreview(NamedTuple):
    """The logged rows of a file by arm, whether they are new, and in how many of them values are missing."""

    rows: dict[str, int]
    is_new: bool
    missing: MissingRows


def preview_outcomes(study: Study, file: Data) -> OutcomesPreview:
    """What `study.tell_file(file)` would do; it raises the same errors."""
    rows, faults = read_outcomes(open_source(file), study.problem)
    with study._session.trying() as transaction:
        before = transaction.books.number
        transaction.tell_rows(rows, faults)
        first = [(row, str(transaction.arm_of(row.pull))) for row in rows[:SHOWN]]
        new = transaction.books.number - before
        return OutcomesPreview(len(rows), new, first, transaction.receipts([rows[-1].pull])[0])


def preview_log(study: Study, file: Data, name: str) -> LogPreview:
    """What `study.observe(file, name)` would do; it raises the same errors."""
    with study._session.reading() as (_, books):
        problem, tallies = books.problem, books.tallies
    source = fit(open_source(file), problem)
    log = count_log(problem, source, tallies, named(name, "a batch of rows"))
    rows = array_from_plain(log.evidence["rows"]).ravel().round().astype(int).tolist()
    with study._session.trying() as transaction:
        is_new = transaction.observe(log)
    return LogPreview({str(arm): n for arm, n in zip(problem.arms, rows, strict=True) if n}, is_new, source.affected)
