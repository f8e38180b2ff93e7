"""What a study answers without being changed. What works an answer out is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dobandit.errors import counted
from dobandit.evidence import NONE_MISSING, MissingRows
from dobandit.numerals import amount, interval, number, percent
from dobandit.policies import spec_of
from dobandit.problem import MISSING, Problem
from dobandit.study import facts
from dobandit.study.damage import making_sense_of
from dobandit.study.events import Event, said
from dobandit.study.outcomes import is_complete
from dobandit.study.pulls import OpenPull, numbered
from dobandit.study.remembering import remember
from dobandit.study.session import Session
from dobandit.study.stores import LAST, Store
from dobandit.study.totals import Money

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dobandit.plots import Part
    from dobandit.study.answers import Best, Status
    from dobandit.study.explanation import Explanation
    from dobandit.study.progress import Moment
    from dobandit.study.verification import Place, Verification


class StudyReader:
    """A study that is read."""

    def __init__(self, store: Store, clock: Callable[[], float] | None = None) -> None:
        self._session = Session(store, clock)
        self._moments: dict[int, Moment] = {}
        self._session.check()  # so that a broken study is refused when it is opened

    @property
    def problem(self) -> Problem:
        return self._session.problem

    @property
    def policy(self) -> str:
        """The policy that leads the study, by its name."""
        with self._session.reading() as (_, books):
            return spec_of(books.policy)

    @property
    def budget(self) -> Money:
        """What is spent, reserved and free."""
        with self._session.reading() as (_, books):
            return books.money

    def status(self, anytime: bool = False) -> Status:
        """Where the money is, and what is known about every arm.

        Parameters
        ----------
        anytime : bool
            Whether arms also have an interval that holds at all times, however often you look, for all arms together at
            level 0.95. It comes from the rewards of their own pulls alone, and needs a reward with a
            known range.
        """
        from dobandit.study import answers

        with self._session.reading() as (access, books):
            remember(books, access)
            found = answers.status(books, self._session.now(access))
        if not anytime:
            return found
        from dobandit.study.sequences import with_sequences

        return with_sequences(found, self.problem, self._outcomes())

    def pulls(self) -> tuple[OpenPull, ...]:
        """The open pulls: who has them, since when and until when."""
        from dobandit.study import answers

        with self._session.reading() as (access, books):
            return answers.open_pulls(books, access.events_of, self._session.now(access))

    def best(self) -> Best:
        """The arm that the policy recommends, and how sure that is."""
        from dobandit.study import answers

        with self._session.reading() as (access, books):
            remember(books, access)
            return answers.best(books)

    def explain(self, id: int) -> Explanation:
        """Why this pull: the numbers by which its arm won."""
        from dobandit.study.explanation import explained

        with self._session.reading() as (access, books):
            pull = numbered(id, books.last)
            with making_sense_of(access.name):
                return explained(access, pull)

    @property
    def id(self) -> str:
        """What tells the study from all others, however often it is copied."""
        with self._session.reading() as (access, _):
            return access.study

    @property
    def head(self) -> str:
        """The hash of the last event, which covers the whole history."""
        with self._session.reading() as (_, books):
            return books.head

    def verify(self, head: str | None = None, against: Place | None = None) -> Verification:
        """Check the whole history: that no event was changed, lost or moved, and that the totals are right.

        Parameters
        ----------
        head : str, optional
            A `head` that was written down earlier, or its first characters: it must be part of the history.
        against : path or str, optional
            A copy of the study: one of the two must be the other's past.

        Returns
        -------
        Verification
            `ok`, the `faults` in words, the number of `events`, the `head`, the identity of the `study`, and the number
            of the first event that has a hash (`since`).
        """
        return self._session.verified(head, against)

    def events(self) -> Iterator[Event]:
        """The history, one event after the other, for one that is too long to be read at once; the study cannot be used
        for anything else meanwhile."""
        with self._session.reading() as (access, _):
            yield from access.events()

    def log(self, after: int = 0, most: int | None = None, pull: int | None = None) -> list[Event]:
        """The history, or a page of it, which takes the same time however long the history is.

        Parameters
        ----------
        after : int
            The number of the event after which the page begins.
        most : int, optional
            How many events.
        pull : int, optional
            Only what was written about this pull.
        """
        with self._session.reading() as (access, books):
            if pull is not None:
                return [event for event in access.events_of(numbered(pull, books.last)) if event.number > after][:most]
            if after >= books.number:
                return []
            return list(access.events(max(after, 0), LAST if most is None else min(after + most, LAST)))

    @property
    def last_event(self) -> int:
        """The number of the last event: it changes whenever the study does."""
        with self._session.reading() as (_, books):
            return books.number

    def missing(self, pulls: Iterable[int]) -> MissingRows:
        """In how many outcomes of these pulls values are missing."""
        problem = self.problem
        if problem.missing == "refuse":
            return NONE_MISSING
        facts_of = ([event.fact for event in self.log(pull=pull)] for pull in pulls)
        told = [[fact.outcome for fact in found if isinstance(fact, facts.Result)][-1] for found in facts_of]
        optional = [v for v, domain in problem.domains.items() if domain.has_missing]
        category = sum(any(outcome.get(v) == MISSING for v in optional) for outcome in told)
        return MissingRows(sum(not is_complete(outcome) for outcome in told), category)

    def outcomes(self) -> list[dict[str, Any]]:
        """Every outcome that counts, one row each; what was done is in the column `intervention`."""
        found = self._outcomes()
        return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]

    def _outcomes(self) -> dict[str, list[Any]]:
        from dobandit.study.files import outcome_columns, shown

        with self._session.reading() as (access, books), making_sense_of(access.name):
            gone = {fact.pull for fact in said(access.corrections(), facts.Withdrawn)}
            read = partial(shown, books.problem)
            return outcome_columns(access.in_brief(read), gone, books.problem)

    def export(self, path: Place) -> int:
        """Write the outcomes to a CSV, JSON or Parquet file, by the ending of its name; their number."""
        from dobandit.study.files import write_outcomes

        found, problem = self._outcomes(), self.problem
        write_outcomes(Path(path), found, problem, {"study": self.id, "head": self.head})
        return len(found[problem.reward])

    def progress(self) -> tuple[Moment, ...]:
        """The money, and what was known about every arm, at up to 25 moments from the first event to the last."""
        from dobandit.study.progress import progress

        with self._session.reading() as (access, books):
            return progress(access, books, self._moments)

    def plot(self, part: Part = "all") -> Figure:
        """The spending and the estimates over time ("time"), what is known about every arm now ("options"), or both
        ("all")."""
        from dobandit.study.plotting import plotted

        return plotted(self, part)

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """For notebooks: where the money is, and what is known about every arm."""
        from dobandit.markup import html_table

        found = self.status()
        money = f"{amount(found.budget.spent)} of {amount(found.budget.total)} spent, {amount(found.budget.free)} free"
        notes = [f"{money}; {counted(found.told, 'outcome')}; policy {found.policy}.", *found.warnings]
        rows = [
            [arm.arm, amount(arm.cost), f"{arm.pulls:,}", number(arm.mean, 3), interval(arm.low, arm.high, 3), best]
            for arm, best in ((arm, percent(arm.probability_best, short=True)) for arm in found.arms)
        ]
        heads = ["arm", "cost", "pulls", f"mean {self.problem.reward}", "95% interval", "P(best)"]
        return html_table(heads, rows, notes)

    def __repr__(self) -> str:
        return f"<Study {self._session.name}>"
