"""What is known in a study: counts of tables and what the arms earned, from pulls and from logs."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled import OwnRewards
from dobandit.evidence import CountTable, Evidence, Layout
from dobandit.problem import Problem
from dobandit.study import facts
from dobandit.study.leader import Leader
from dobandit.study.outcomes import AsNumbers
from dobandit.study.plain import array_from_plain, array_to_plain
from dobandit.study.stored import stored

if TYPE_CHECKING:
    from dobandit.evidence import Source

ROUNDED = 1e-9  # of a row: what rounding may change when rewards are added up in another order
MOST_WAITING = 4096  # outcomes that are counted together
LARGEST_WHOLE = 2**40  # thousands of such numbers have an exact sum
_Outcome = tuple[int, Mapping[str, str], int]  # its arm, its values, and its number among the outcomes of the arm
_FIELDS = ("counts", "told", "rewards", "reference", "worst")


class Tally:
    """The evidence of one reader: a batch of one row. Outcomes wait until the evidence is read, because it takes hardly
    longer to count many of them than one; the counts are the same."""

    def __init__(self, problem: Problem, tables: Sequence[CountTable], reads_logs: bool) -> None:
        self._evidence, self.reads_logs = Evidence.none(problem, tables, 1), reads_logs
        self._as_numbers = AsNumbers(problem)
        self._waiting: list[_Outcome] = []

    @property
    def evidence(self) -> Evidence:
        if self._waiting:
            self._count()
        return self._evidence

    def _count(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._evidence.add(*self._as_arrays(waiting))

    @property
    def layout(self) -> Layout:
        return self._evidence.layout

    @property
    def outcomes(self) -> float:
        """How many there are, with those that wait."""
        return float(self._evidence.told.sum()) + len(self._waiting)

    def add(self, arm: int, outcome: Mapping[str, str], number: int) -> None:
        """The outcome of a pull, and its number among the outcomes of its arm."""
        self._waiting.append((arm, outcome, number))
        if len(self._waiting) >= MOST_WAITING:
            self._count()

    def remove(self, arm: int, outcome: Mapping[str, str]) -> None:
        """The opposite, where the tally `is_exact`."""
        self.evidence.remove(*self._as_arrays([(arm, outcome, 0)]))

    def _as_arrays(self, outcomes: Sequence[_Outcome]) -> tuple[Indices, Indices, Indices, Array, Indices]:
        """What `Evidence.add` takes: rows, arms, codes, rewards and numbers."""
        arms, said, numbers = zip(*outcomes, strict=True)
        codes, rewards = self._as_numbers(said)
        return np.zeros(len(arms), dtype=np.intp), np.array(arms), codes, rewards, np.array(numbers)

    @property
    def is_exact(self) -> bool:
        """Whether every outcome adds whole numbers, whatever came before it: then it can be removed exactly."""
        return not (self.layout.has_moments or self.layout.is_split)

    def can_add(self, evidence: Mapping[str, Any]) -> bool:
        """Whether everything that estimates need was counted: another version may have counted other tables."""
        found = {_key(table) for table in evidence["tables"]}
        return not self.reads_logs or all(_key(vars(t)) in found for t in self.layout.tables if t.needed)

    def add_logged(self, evidence: Mapping[str, Any]) -> None:
        """Rows that were logged elsewhere."""
        if not self.reads_logs:
            return
        from dobandit.evidence import Logged

        found = {_key(table): table["counts"] for table in evidence["tables"]}
        counts = np.zeros(self.layout.size)
        for table, at in zip(self.layout.tables, self.layout.slices, strict=True):
            if _key(vars(table)) in found:
                counts[at] = array_from_plain(found[_key(vars(table))])
        rows, rewards = (array_from_plain(evidence[name]) for name in ("rows", "rewards"))
        reference, worst = (float(evidence.get(name, math.nan)) for name in ("reference", "worst"))
        self.evidence.add_logged(Logged(counts, rows, rewards, reference, worst))

    def to_plain(self) -> dict[str, Any]:
        return {"tables": self._tables, **{name: array_to_plain(getattr(self.evidence, name)) for name in _FIELDS}}

    @cached_property
    def _tables(self) -> str:
        """A digest of the tables, because counts of others must not be taken for counts of these."""
        return hashlib.sha256(repr(self.layout.tables).encode()).hexdigest()

    def restored(self, plain: Mapping[str, Any]) -> Tally:
        if plain["tables"] != self._tables:
            raise ValueError("these are counts of other tables")
        for name in _FIELDS:
            setattr(self._evidence, name, array_from_plain(plain[name]))
        return self


TALLIES = stored(
    lambda tallies: [tally.to_plain() for tally in tallies],
    lambda plain, tallies: tuple(tally.restored(saved) for tally, saved in zip(tallies, plain, strict=True)),
)


def tallies(leader: Leader) -> tuple[Tally, ...]:
    """The counts that the policy decides by, and those by which a study judges its arms: all data in one pool. Often
    they are the same.

    Published policies have no rule for rows that were logged before them, so logs are kept from these.
    """
    ours = Tally(leader.problem, leader.compiled.tables, leader.policy.reads_logs)
    pool = tuple(leader.graphs.given.tables) if leader.graphs else OwnRewards(leader.problem).tables
    if ours.reads_logs and pool == ours.layout.tables:
        return (ours,)
    return ours, Tally(leader.problem, pool, True)


def count_log(
    problem: Problem, source: Source, tallies: Sequence[Tally], name: str, by: str | None = None
) -> facts.Observed:
    """A log under this name, counted for every tally that reads logs; `by` is who sends it."""
    from dobandit.evidence import read_log

    tables = list(dict.fromkeys(t for tally in tallies if tally.reads_logs for t in tally.layout.tables))
    layout = Layout(problem, tables)
    logged = read_log(problem, source, layout)
    evidence = {
        "rows": array_to_plain(logged.rows),
        "rewards": array_to_plain(logged.rewards),
        **({"reference": logged.reference, "worst": logged.worst} if layout.has_moments else {}),
        "tables": [
            {**_written(table), "counts": array_to_plain(logged.counts[layout.slice(table)])} for table in tables
        ],
    }
    digest = hashlib.sha256(json.dumps(evidence, sort_keys=True).encode()).hexdigest()
    return facts.Observed(name, round(float(logged.rows.sum())), evidence, digest, by)


def is_whole_log(log: facts.Observed) -> bool:
    """Whether a log adds whole numbers, so that sums do not depend on the order in which outcomes are added to it."""
    parts = [*(table["counts"] for table in log.evidence["tables"]), log.evidence["rows"], log.evidence["rewards"]]
    arrays = map(array_from_plain, parts)
    return all(bool(((array == np.rint(array)) & (abs(array) <= LARGEST_WHOLE)).all()) for array in arrays)


def is_same_log(one: facts.Observed, other: facts.Observed) -> bool:
    """Whether these counts may come from the same rows. Sums of measurements depend on the order in which they are
    added up, and where many threads do it, that is chance."""
    tables, others = ({_key(t): t["counts"] for t in log.evidence["tables"]} for log in (one, other))
    if one.rows != other.rows or tables.keys() != others.keys():
        return False
    pairs = [(tables[key], others[key]) for key in tables]
    pairs += [(one.evidence[name], other.evidence[name]) for name in ("rows", "rewards")]
    arrays = [tuple(map(array_from_plain, pair)) for pair in pairs]
    ends = [(log.evidence.get("reference"), log.evidence.get("worst")) for log in (one, other)]
    same = ends[0] == ends[1] and all(a.shape == b.shape for a, b in arrays)
    return same and all(np.allclose(a, b, rtol=ROUNDED, atol=ROUNDED * one.rows) for a, b in arrays)


def _written(table: CountTable) -> dict[str, Any]:
    fields = {"variable": table.variable, "given": list(table.given), "arms": list(table.arms), "by_arm": table.by_arm}
    fields |= {"moments": True} if table.moments else {}
    return fields | ({"parts": list(table.parts)} if table.parts else {})


def _key(table: Mapping[str, Any]) -> tuple[object, ...]:
    """What tells a table from others, from its fields or as it is written in a log; the first logs had none by arm,
    none with moments and none with parts."""
    kinds = table.get("by_arm", False), table.get("moments", False), tuple(table.get("parts", ()))
    return table["variable"], tuple(table["given"]), tuple(table["arms"]), *kinds
