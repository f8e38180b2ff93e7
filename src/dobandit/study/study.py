"""A study: a real budget spent with people and machines in the loop.

Every method that changes something is one transaction of the store: it reads what others have written, checks, appends
events, and either all of it is on the disk when it returns or nothing is.
"""

from __future__ import annotations

import os
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dobandit.errors import DobanditError, PolicyError, StorageError, StudyError
from dobandit.evidence import Data, open_source
from dobandit.policies import Policy, name_of, policies_for, policy, spec_of
from dobandit.problem import Arm, Problem, Value, is_positive
from dobandit.study import answers, explanation
from dobandit.study.answers import Best, Status
from dobandit.study.books import Books
from dobandit.study.damage import making_sense_of
from dobandit.study.decisions import decide
from dobandit.study.events import Event
from dobandit.study.explanation import Explanation
from dobandit.study.files import check_columns, check_readable, outcome_rows, read_outcomes, spending, write_rows
from dobandit.study.opening import current, history, up_to_date
from dobandit.study.plain import problem_to_plain
from dobandit.study.pulls import Batch, Pulls, Receipt, TimeToLive, Withdrawal, amount, named, numbered, seconds
from dobandit.study.stores import Access, Store, create_store, open_store, place_of
from dobandit.study.tally import count_log
from dobandit.study.transaction import VERSION, Entry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORKER = "default"  # who asks without a name


class Study:
    """Ask what to try, tell what came out, and read what is best. Open it in every process that uses it.

    >>> problem = Problem("X -> Y", reward="Y", budget=10, default_cost=2)
    >>> study = Study.create(":memory:", problem, policy="f-kube")
    >>> study.ask()[0].arm
    Arm(variable=None, value=None)
    >>> study.tell(1, {"X": 0, "Y": 1})
    Receipt(id=1, spent=1.0, free=9.0)
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._process = os.getpid()
        self._close = weakref.finalize(self, _close, store, self._process)  # when it is no longer used
        self._books: Books | None = None
        with self._reading():
            pass  # so that a broken study is refused when it is opened

    @classmethod
    def create(
        cls,
        where: str | os.PathLike[str],
        problem: Problem,
        policy: str | Policy | None = None,
        seed: int = 0,
        *,
        clock: Callable[[], float] = time.time,
    ) -> Study:
        """A new study in a file, in a database (a postgresql:// URL), or in memory (`:memory:`).

        Without a policy it is led by the recommended one for the objective.
        """
        if not isinstance(problem, Problem):
            raise DobanditError(f"a study is about a Problem, not {problem!r}; read a file with Problem.load")
        if not isinstance(seed, Integral):
            raise DobanditError(f"a seed is a whole number, not {seed!r}")
        check_columns(problem)
        content = {"problem": problem_to_plain(problem), "policy": _fitting(problem, policy), "seed": int(seed)}
        created = Event(1, clock(), "created", None, {**content, "version": VERSION})
        Books.opened(created)  # whatever the policy cannot do with this problem is said before anything is written
        return cls(create_store(place_of(where), created), clock)

    @classmethod
    def open(cls, where: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> Study:
        return cls(open_store(place_of(where)), clock)

    # -- spending ------------------------------------------------------------------------------

    def ask(self, n: int = 1, worker: str = WORKER, ttl: TimeToLive = None) -> Pulls:
        """Pulls to carry out: first those that this worker still has open, then expired ones of others, then new ones.

        Their cost is reserved. After `ttl` (seconds, or a text such as 2d) they may go to another worker.
        """
        if not isinstance(n, Integral) or n < 1:
            raise DobanditError(f"ask for one pull or more, not {n!r}")
        worker, life = named(worker, "a worker"), seconds(ttl)
        with self._writing() as entry:
            expires = None if life is None else entry.time + life
            given = entry.own(worker, n, expires) + entry.expired(worker, n, expires)
            given, reason = given[:n], None
            while len(given) < n:
                decision = decide(entry.books)
                if isinstance(decision, str):
                    reason = decision
                    break
                given.append(entry.hand_out(decision, worker, expires))
            return Pulls(map(entry.ticket, given), reason)

    def tell(self, id: int, outcome: Mapping[str, Value]) -> Receipt:
        """The outcome of a pull: every observed variable and its value. The same outcome twice changes nothing."""
        return self.tell_many([(id, outcome)])[0]

    def tell_many(self, outcomes: Iterable[tuple[int, Mapping[str, Value]]]) -> list[Receipt]:
        """Many outcomes, all or none."""
        pairs = _pairs(outcomes)
        with self._writing() as entry:
            numbers = [entry.tell(pull, outcome) for pull, outcome in pairs]
            return [entry.receipt(number) for number in numbers]

    def tell_file(self, path: str | os.PathLike[str]) -> list[Receipt]:
        """The outcomes of a CSV or Parquet file with a column `id`, all or none."""
        return self.tell_many(read_outcomes(Path(path), self.problem))

    def record(self, arm: Arm | str, outcome: Mapping[str, Value], name: str | None = None) -> Receipt:
        """An experiment that was carried out unasked; it is paid from the budget, even if that is overdrawn by it.

        A name counts once, however often it is sent: send it again if you do not know whether it arrived.
        """
        done = arm if isinstance(arm, Arm) else Arm.parse(arm)
        name = None if name is None else named(name, "an experiment")
        with self._writing() as entry:
            return entry.receipt(entry.record(done, outcome, name))

    def observe(self, rows: Data, name: str | None = None) -> Batch:
        """Logged rows as evidence, free of charge: columns, a frame, or the path of a CSV or Parquet file, with a
        column `intervention` where a row was not a plain observation. A name counts once, however often it is sent."""
        if name is None and not isinstance(rows, str | Path):
            raise DobanditError("give this batch of rows a name, so that it counts once even if it is sent again")
        name = Path(str(rows)).name if name is None else named(name, "a batch of rows")
        if isinstance(rows, str | Path):
            check_readable(Path(rows))
        with self._reading() as (_, books):
            problem, readers, leader = books.problem, books.readers, spec_of(books.policy)
        content = count_log(
            problem, open_source(rows), readers
        )  # may take seconds, so it is done before others have to wait
        with self._writing() as entry:
            new = entry.observe(name, content)
        if not readers[0].reads_logs:
            text = f"{leader} has no rule for logged rows: they count for best and status, not for what is asked"
            warnings.warn(text, stacklevel=2)
        return Batch(content["rows"], new)

    # -- correcting ----------------------------------------------------------------------------

    def amend(self, id: int, outcome: Mapping[str, Value]) -> int:
        """Another outcome instead of the one that was told."""
        with self._writing() as entry:
            told, arm = entry.told(id)
            if told is None:
                raise StudyError(f"pull {id} has no outcome to amend yet; tell it")
            values = entry.checked(id, arm, outcome)
            if values == told:
                return id
            entry.correct("amended", id, {"outcome": values})
        self._fold_again()
        return id

    def withdraw(self, id: int, refund: bool | None = None, reason: str = "") -> Withdrawal:
        """A pull that does not count: it was not carried out, or went wrong. Its money comes back with `refund=True`,
        at once or later, and is taken back with `refund=False`; None leaves what was decided, at first no refund."""
        if refund not in (None, True, False):
            raise DobanditError(f"refund: expected True, False or None, not {refund!r}")
        with self._writing() as entry:
            found = entry.withdraw(id, None if refund is None else bool(refund), str(reason))
        if found.new:
            self._fold_again()
        return found

    def extend(self, amount: float, name: str | None = None) -> float:
        """More money; the new total. A name counts once, however often it is sent."""
        if not is_positive(amount):
            raise DobanditError(f"a study is extended by a positive amount, not {amount!r}")
        name = None if name is None else named(name, "an extension")
        with self._writing() as entry:
            entry.extend(float(amount), name)
            return entry.books.total

    # -- reading -------------------------------------------------------------------------------

    @property
    def problem(self) -> Problem:
        with self._reading() as (_, books):
            return books.problem

    @property
    def policy(self) -> str:
        """The policy that leads the study, by its name."""
        with self._reading() as (_, books):
            return spec_of(books.policy)

    def status(self) -> Status:
        """Where the money is, and what is known of every arm."""
        with self._reading() as (_, books):
            return answers.status(books, self._clock())

    def best(self) -> Best:
        """The arm that the policy recommends, and how sure that is."""
        with self._reading() as (_, books):
            return answers.best(books)

    def explain(self, id: int) -> Explanation:
        """Why this pull: the numbers by which its arm won."""
        with self._reading() as (access, books):
            pull, events = numbered(id, books.last), history(access)
            with making_sense_of(access.name):
                return explanation.explain(events, pull)

    def log(self) -> list[Event]:
        """The whole history."""
        with self._reading() as (access, _):
            return history(access)

    def outcomes(self) -> list[dict[str, Any]]:
        """Every outcome that counts, one row each; what was done is in the column `intervention`."""
        return outcome_rows(self.log(), self.problem)

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the outcomes to a CSV, JSON or Parquet file, by the ending of its name; their number."""
        rows = self.outcomes()
        write_rows(Path(path), rows, self.problem)
        return len(rows)

    def plot(self) -> Figure:
        """The spending over time, and what is known of every arm."""
        from dobandit.plots import EffectRow, study_figure

        found, problem = self.status(), self.problem
        rows = [EffectRow(arm.arm, arm.mean, arm.low, arm.high) for arm in found.arms]
        rows.sort(key=lambda row: row.mean or 0.0, reverse=problem.goal == "max")
        spent = [(datetime.fromtimestamp(moment, UTC), money) for moment, money in spending(self.log(), problem)]
        title = f"{amount(found.budget.spent)} of {amount(found.budget.total)} spent, {found.told:,} outcomes"
        return study_figure(spent, found.budget.total, rows, xlabel=f"mean of {problem.reward}", title=title)

    def close(self) -> None:
        self._close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self._store.name}>"

    # -- transactions --------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[tuple[Access, Books]]:
        self._check_process()
        with self._store.reading() as access:
            known, self._books = self._books, None  # forgotten, should they not be caught up with
            books = self._books = current(known, access)
            yield access, books

    @contextmanager
    def _writing(self) -> Iterator[Entry]:
        """Books that are up to date and that only this process changes; after an error they are read again.

        What takes long, folding a whole history, is done before the others have to wait.
        """
        self._check_process()
        try:
            while True:
                if self._books is None:
                    with self._reading():
                        pass
                with self._store.writing() as access:
                    known, self._books = self._books, None
                    books = known and up_to_date(known, access)
                    if books is not None:
                        entry = Entry(books, access, self._clock())
                        yield entry
                        self._books = entry.written()
                        return
        except BaseException:
            self._books = None
            raise

    def _fold_again(self) -> None:
        """After a correction: fold everything once more, and keep the result for the others. The correction is in the
        log already; if the result cannot be kept, it only takes the next one longer."""
        self._books = None
        with suppress(StorageError), self._writing() as entry:
            entry.keep()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StudyError("this study was opened by another process: open it again in this one")


def _close(store: Store, process: int) -> None:
    """A process that was forked leaves the connection to its parent."""
    if os.getpid() == process:
        store.close()


def _pairs(outcomes: Iterable[tuple[int, Mapping[str, Value]]]) -> list[tuple[int, Mapping[str, Value]]]:
    """The outcomes as a list: made before anybody has to wait for it."""
    try:
        return [(pull, outcome) for pull, outcome in outcomes]
    except (TypeError, ValueError):
        raise DobanditError("many outcomes are pairs, each of the number of a pull and its outcome") from None


def _fitting(problem: Problem, wanted: str | Policy | None) -> str:
    """The policy of a new study, by the name that makes it again when the study is reopened."""
    made = policy(policies_for(problem.objective)[0] if wanted is None else wanted)
    if made.objective != problem.objective:
        raise PolicyError(
            f"{made.name} is for {made.objective} regret, and the problem's objective is {problem.objective}"
        )
    return name_of(made)
