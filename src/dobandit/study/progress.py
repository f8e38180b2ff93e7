"""How a study came to where it stands: what was spent and what was known after some of its events.

The moments are those after every 2nd, 4th, 8th, ... event, so that a study that grows goes on with the moments that it
has. What was known then includes no later correction, so a moment never changes.
"""

from __future__ import annotations

from typing import NamedTuple

from dobandit.study.assessment import judged_arms
from dobandit.study.books import Books
from dobandit.study.opening import at, up_to_date
from dobandit.study.remembering import remember_doubts
from dobandit.study.stores import Access

MOST = 24  # moments before the last one: each takes as long as a status


class Moment(NamedTuple):
    """What a study said after the event with this `number`: the money, and of every arm the mean and the ends of its
    interval. `time` is in seconds since 1970."""

    number: int
    time: float
    spent: float
    total: float
    means: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def progress(access: Access, books: Books, known: dict[int, Moment]) -> tuple[Moment, ...]:
    """The moments of a study up to its last event.

    Parameters
    ----------
    access
        The log.
    books
        The totals up to the last event.
    known
        Moments by number that were worked out before; new ones are added, those that are not needed are removed.
    """
    numbers, past = _chosen(books.number), None
    for number in set(known).difference(numbers):
        del known[number]
    for number in numbers:
        if number not in known:
            past = (past and up_to_date(past, access, number)) or at(access, number)
            known[number] = _moment(past, access)
    return (*(known[number] for number in numbers), _moment(books, access))


def _chosen(last: int) -> list[int]:
    """The numbers of the events before the last one after which it is told what was known.

    >>> _chosen(5), _chosen(100)
    ([1, 2, 3, 4], [1, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96])
    """
    step = 1
    while (last - 1) // step > MOST - 1:
        step *= 2
    return sorted({1, *range(step, last, step)} - {last})


def _moment(books: Books, access: Access) -> Moment:
    remember_doubts(books, access, books.number)
    known = judged_arms(books).beliefs
    ends = (tuple(map(float, each)) for each in (known.means, known.low, known.high))
    return Moment(books.number, books.latest, books.money.spent, books.total, *ends)
