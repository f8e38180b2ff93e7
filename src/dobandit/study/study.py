"""A study: a real budget spent with people and machines in the loop.

Every method that changes something is one transaction of the store: it reads what others have written, checks, appends
events, and either all of it is on the disk when it returns or nothing is. Recording an outcome never runs a policy.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dobandit.errors import DobanditError
from dobandit.policies import PolicyLike, spec_of
from dobandit.problem import Arm, Problem, StopLike
from dobandit.study import facts
from dobandit.study.books import Books
from dobandit.study.chain import new_identity
from dobandit.study.clocks import clock_told
from dobandit.study.decisions import SURE, decide
from dobandit.study.events import Event
from dobandit.study.leader import policy_for
from dobandit.study.outcomes import Given, OutcomeRow, as_pairs
from dobandit.study.plain import problem_to_plain
from dobandit.study.pulls import Batch, Pulls, Receipt, TimeToLive, how_many, is_integer, named, person, seconds
from dobandit.study.steering import SteeredStudy
from dobandit.study.stores import MEMORY, VERSION, create_store, is_service, open_store, place_of
from dobandit.study.tally import count_log

if TYPE_CHECKING:
    from dobandit.certainty import Standing
    from dobandit.evidence import Data
    from dobandit.study.verification import Place

WORKER = "default"  # who asks without a name


class Study(SteeredStudy):
    """Ask what to try, tell what came out, and read what is best. Open it in every process that uses it.

    >>> problem = Problem("X -> Y", reward="Y", budget=10, default_cost=2)
    >>> study = Study.create(":memory:", problem, policy="f-kube")
    >>> study.ask()[0].arm
    Arm(settings=())
    >>> study.tell(1, {"X": 0, "Y": 1})
    Receipt(id=1, spent=1.0, free=9.0)
    """

    @classmethod
    def create(
        cls,
        where: Place,
        problem: Problem,
        policy: PolicyLike | None = None,
        seed: int = 0,
        *,
        stop: StopLike | None = None,
        clock: Callable[[], float] | None = None,
    ) -> Study:
        """Make a new study.

        Parameters
        ----------
        where : path or str
            A file, a database (a postgresql:// URL), a server (http://host:8377/name), or `:memory:`.
        problem : Problem
            The graph, the arms, their costs and the budget.
        policy : str, Policy or function, optional
            What chooses the pulls; default: the recommended policy for the objective. One of your own is imported
            again when the study is opened, so it must be in a module.
        seed : int
            The seed of the policy's random choices.
        stop : mapping, optional
            When to stop before the budget is spent, as `stop` of `Problem`; default: as the problem says.
        clock : callable
            Gives the time in seconds since 1970; default: that of this machine, or of the server of a database.
        """
        from dobandit.study.files import check_columns

        if not isinstance(problem, Problem):
            raise DobanditError(f"a study is about a Problem, not {problem!r}; read a file with Problem.load")
        if not is_integer(seed):
            raise DobanditError(f"a seed is a whole number, not {seed!r}")
        problem = problem if stop is None else problem.with_stop(stop)
        problem.require_values()
        check_columns(problem)
        plain, leader = problem_to_plain(problem), policy_for(problem, policy, is_kept=str(where) != MEMORY)
        if is_service(place_of(where)):
            from dobandit.study.remote import RemoteStudy  # which is a study itself

            return RemoteStudy.made(place_of(where), problem, leader, int(seed))
        fact = facts.Created(plain, leader, int(seed), VERSION, new_identity())
        created = Event(1, (clock or time.time)(), fact)
        Books.opened(created)  # whatever the policy cannot do with this problem is said before anything is written
        return cls(create_store(place_of(where), created), clock)

    @classmethod
    def open(cls, where: Place, *, clock: Callable[[], float] | None = None) -> Study:
        """Open a study that exists.

        Parameters
        ----------
        where : path or str
            Its file, the postgresql:// URL of its database, or its address on a server (http://host:8377/name).
        clock : callable
            Gives the time in seconds since 1970; default: that of this machine, or of the server of a database.
        """
        if is_service(place_of(where)):
            from dobandit.study.remote import RemoteStudy

            return RemoteStudy.opened(place_of(where))
        return cls(open_store(place_of(where)), clock)

    # -- spending ------------------------------------------------------------------------------

    def ask(
        self, n: int = 1, worker: str = WORKER, ttl: TimeToLive = None, *, force: bool = False, anyway: bool = False
    ) -> Pulls:
        """Pulls to carry out: first those that this worker still has open, then expired ones of others, then new ones.

        Parameters
        ----------
        n : int
            How many pulls.
        worker : str
            Who asks.
        ttl : float, timedelta or str, optional
            The time after which the pulls may go to another worker: seconds, or a text such as 2d.
        force : bool
            Take over expired pulls of others even if the clock is behind the last event, so that it may be wrong.
        anyway : bool
            Go on even if the stopping rule holds. Without this, only pulls that the worker has open are given then.

        Returns
        -------
        Pulls
            The pulls, whose cost is reserved; `reason` says why there are fewer than n.
        """
        n, worker, life = how_many(n), named(worker, "a worker"), seconds(ttl)
        with self._session.writing(deciding=True) as transaction:
            expires = None if life is None else transaction.time + life
            given = transaction.own(worker, n, expires)
            if not anyway and len(given) < n and (sure := self._sure_enough(transaction.books)):
                return Pulls(map(transaction.ticket, given), SURE, sure)
            if (late := clock_told(transaction.behind)) and not force:
                warnings.warn(f"{late}; expired pulls are not taken over, unless you force it", stacklevel=2)
            given += transaction.expired(worker, n, expires) if force or not late else []
            given, reason = given[:n], None
            while len(given) < n:
                decision = decide(transaction.books)
                if isinstance(decision, str):
                    reason = decision
                    break
                given.append(transaction.hand_out(decision, worker, expires))
            return Pulls(map(transaction.ticket, given), reason)

    @staticmethod
    def _sure_enough(books: Books) -> Standing | None:
        """How the stopping rule stands, if it says to stop."""
        if books.stop is None:
            return None
        from dobandit.study.assessment import is_sure_enough

        return is_sure_enough(books)

    def tell(self, id: int, outcome: Given, by: str | None = None) -> Receipt:
        """The outcome of a pull. The same outcome twice changes nothing.

        Parameters
        ----------
        id : int
            The number of the pull.
        outcome : mapping
            Every observed variable and its value; what the arm sets may be left out.
        by : str, optional
            Who tells it, for the log.

        Returns
        -------
        Receipt
            The pull, what is spent and what is free.
        """
        return self.tell_many([(id, outcome)], by)[0]

    def tell_many(self, outcomes: Iterable[tuple[int, Given]], by: str | None = None) -> list[Receipt]:
        """Many outcomes, each with the number of its pull: all of them count, or none."""
        told, by = as_pairs(outcomes), person(by)  # before anybody has to wait for it
        with self._session.writing() as transaction:
            return transaction.receipts([transaction.tell(pull, outcome, by) for pull, outcome in told])

    def tell_file(self, file: Data, by: str | None = None) -> list[Receipt]:
        """The outcomes of a file (CSV, Parquet, JSON lines) with a column `id`: all of them count, or none, and then
        the error names all faulty rows."""
        from dobandit.evidence import open_source
        from dobandit.study.files import read_outcomes

        return self.tell_rows(*read_outcomes(open_source(file), self.problem), by)

    def tell_rows(self, rows: Sequence[OutcomeRow], faults: Sequence[str] = (), by: str | None = None) -> list[Receipt]:
        """The outcomes of rows that were read, unless faults were found in them already."""
        with self._session.writing() as transaction:
            transaction.tell_rows(rows, faults, person(by))
            return transaction.receipts([row.pull for row in rows])

    def record(self, arm: Arm | str, outcome: Given, name: str | None = None, by: str | None = None) -> Receipt:
        """An experiment that was carried out unasked; it is paid from the budget, even if that is overdrawn by it.

        Parameters
        ----------
        arm : Arm or str
            What was done, such as do(X=1).
        outcome : mapping
            Every observed variable and its value; what the arm sets may be left out.
        name : str, optional
            A name counts once: send it again if you do not know whether it arrived.
        by : str, optional
            Who did it, for the log.

        Returns
        -------
        Receipt
            The number of the new pull, what is spent and what is free.
        """
        done = arm if isinstance(arm, Arm) else Arm.parse(arm)
        name = None if name is None else named(name, "an experiment")
        with self._session.writing() as transaction:
            return transaction.receipts([transaction.record(done, outcome, name, person(by))])[0]

    def observe(self, rows: Data, name: str | None = None, by: str | None = None) -> Batch:
        """Logged rows as evidence, free of charge.

        Parameters
        ----------
        rows : columns, frame or path
            What was logged, or a file of it (CSV, Parquet, JSON lines), or a list of paths or a pattern for several. It
            has a column `intervention` where a row was not a plain observation.
        name : str, optional
            A name counts once, however often it is sent; default: the name of the file.
        by : str, optional
            Who sends them, for the log.

        Returns
        -------
        Batch
            The number of rows; `new` says whether they were added now.
        """
        from dobandit.evidence import STANDARD_INPUT, fit, open_source

        if name is None and (not isinstance(rows, str | Path) or str(rows) == STANDARD_INPUT):
            raise DobanditError("give this batch of rows a name, so that it counts once even if it is sent again")
        name = Path(str(rows)).name if name is None else named(name, "a batch of rows")
        with self._session.reading() as (_, books):
            problem, tallies, leader = books.problem, books.tallies, spec_of(books.policy)
        source = fit(open_source(rows), problem)
        log = count_log(problem, source, tallies, name, person(by))  # may take seconds: others need not wait for it
        with self._session.writing() as transaction:
            new = transaction.observe(log)
        if not tallies[0].reads_logs:
            text = f"{leader} has no rule for logged rows: they count for best and status, not for what is asked"
            warnings.warn(text, stacklevel=2)
        return Batch(log.rows, new, source.affected)
