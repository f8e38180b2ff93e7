"""What changes a study beside its pulls: corrections, more money, and when to stop."""

from __future__ import annotations

from dobandit.errors import DobanditError
from dobandit.problem import Stop, StopLike
from dobandit.study.outcomes import Given
from dobandit.study.pulls import Withdrawal, more_money, named, person
from dobandit.study.reading import StudyReader


class SteeredStudy(StudyReader):
    """A study that can be corrected, extended and stopped."""

    def amend(self, id: int, outcome: Given, by: str | None = None) -> int:
        """Another outcome instead of the one that was told.

        Parameters
        ----------
        id : int
            The number of the pull.
        outcome : mapping
            The variables that change and their values; the others stay as they are.
        by : str, optional
            Who decided this, for the log.
        """
        by = person(by)
        self._session.correct(lambda transaction: transaction.amend(id, outcome, by))
        return id

    def withdraw(self, id: int, refund: bool | None = None, reason: str = "", by: str | None = None) -> Withdrawal:
        """A pull that does not count: it was not carried out, or went wrong.

        Parameters
        ----------
        id : int
            The number of the pull.
        refund : bool, optional
            True gives its money back, at once or later, and False takes that back; None leaves what was decided, at
            first no refund.
        reason : str
            Why, for the log.
        by : str, optional
            Who decided this, for the log.

        Returns
        -------
        Withdrawal
            The number of the pull, whether its money came back (`refund`), and whether this changed anything (`new`).
        """
        if refund not in (None, True, False):
            raise DobanditError(f"refund: expected True, False or None, not {refund!r}")
        by = person(by)
        decided = None if refund is None else bool(refund)
        return self._session.correct(lambda transaction: transaction.withdraw(id, decided, str(reason), by))

    def extend(self, amount: float, name: str | None = None, by: str | None = None) -> float:
        """More money.

        Parameters
        ----------
        amount : float
            What is added to the budget.
        name : str, optional
            A name counts once, however often it is sent.
        by : str, optional
            Who decided this, for the log.

        Returns
        -------
        float
            The new total.
        """
        amount = more_money(amount)
        name, by = None if name is None else named(name, "an extension"), person(by)
        with self._session.writing() as transaction:
            transaction.extend(amount, name, by)
            return transaction.books.total

    def stop(self, rule: StopLike | None, by: str | None = None) -> Stop | None:
        """Set when to stop before the budget is spent. Then `ask` hands out nothing new once the rule holds, unless it
        is asked to go on anyway; what is open may still be told.

        Parameters
        ----------
        rule : mapping or None
            As `stop` of `Problem`, such as {"probability": 0.95}. It replaces the rule that the study has; None: the
            whole budget may be spent.
        by : str, optional
            Who decided this, for the log.

        Returns
        -------
        Stop or None
            The rule.
        """
        by = person(by)
        with self._session.writing() as transaction:
            transaction.stop(rule, by)
            return transaction.books.stop
