"""Where the next outcome of an arm is expected to be counted: on which conditions z of which tables, and how often.

Before an arm has outcomes of its own, its prediction comes from observations. Under do(X=x) everything that precedes X
keeps its distribution; everything that follows X is expected to be distributed as in the observations with X=x, whether
or not the table conditions on X. Where X is confounded that is a guess, so the arm's own outcomes correct it, and soon
replace it. The prediction decides what is pulled; it never enters an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.estimate.pooled.circuit import added_up
from dobandit.estimate.pooled.formulas import Do
from dobandit.estimate.pooled.pool import Pool
from dobandit.estimate.pooled.posterior import Conditions
from dobandit.evidence import CountTable, Layout
from dobandit.problem import Arm, Problem

Given = tuple[str, ...]  # the variables that a table conditions on

GUESS_WEIGHT = 5.0  # own outcomes that count as much as the prediction from observations
FEW = 2**14  # chances: with so few, it takes longer to find out which arms have outcomes
MOST_CELLS = 2**12  # of all tables that count what follows X by the values of X
MOST_OWN_CELLS = 2**15  # of all tables that count the outcomes of every arm, where variables are set together


class ExpectedCounts:
    """Predictions for the arms of a pool. `tables` are the counts that they need."""

    def __init__(self, pool: Pool, conditions: Conditions) -> None:
        sources = _Sources(pool)
        self.tables, self.layout = sources.tables, sources.layout
        self._starts, self._observed = sources.starts, sources.observed
        sizes = np.diff([*self._starts, self._observed])
        self._table = np.repeat(np.arange(len(sizes)), sizes)  # of every cell that observations fill
        self._guess = np.repeat(1.0 / np.maximum(sizes, 1), sizes)[:, np.newaxis]
        self._arm_of_own = sources.arm_of_own_cells()
        self._of_condition, self._first = conditions.table, conditions.start[:-1]
        self._share, self._own, groups = _places(pool, conditions, sources)
        self._grouped, self._group, self._before, self._both = groups.compiled()

    def per_pull(self, counts: Array) -> Array:
        """The chance that an outcome of an arm is counted on a condition of a table that it may enter, from the counts
        of `tables` with axes (row, cell): axes (arm, z, row)."""
        found = self._from_observations(counts)
        found *= GUESS_WEIGHT
        cells = np.concatenate([counts.T, np.zeros((1, len(counts)))])
        if found.size <= FEW:
            return self._with_own(found, cells, self._own)
        pulled = np.zeros(len(found), dtype=bool)  # of many arms most have no outcomes
        pulled[self._arm_of_own[counts[:, self._observed :].any(axis=0)]] = True
        of_pulled = self._with_own(found[pulled], cells, self._own[pulled])
        found /= GUESS_WEIGHT
        found[pulled] = of_pulled
        return found

    def _with_own(self, found: Array, cells: Array, places: Indices) -> Array:
        """The chances of some arms, from predictions times their weight and own outcomes at these places."""
        own = cells.take(places, axis=0)
        number = np.add.reduceat(own, self._first, axis=1) + GUESS_WEIGHT
        found += own
        found /= number.take(self._of_condition, axis=1)
        return found

    def _from_observations(self, counts: Array) -> Array:
        seen = counts[:, : self._observed].T
        number = np.add.reduceat(seen, self._starts, axis=0).take(self._table, axis=0) if len(seen) else seen
        one, zero = np.ones((1, len(counts))), np.zeros((1, len(counts)))
        shares = np.concatenate([(seen + self._guess) / (number + 1), one, zero])
        found = shares.take(self._share, axis=0)
        if len(self._group):
            before, both = (added_up(shares[members]) for members in (self._before, self._both))
            found.reshape(-1, len(counts))[self._grouped] *= (before / both).take(self._group, axis=0)
        return np.asarray(found)


class _Sources:
    """The tables that predictions are made from; those that observations fill come first.

    `of` has the context of a prediction for an arm that sets variables and a table with these conditions: the table
    that counts both, or where the limit leaves that out, or no condition follows what is set, the conditions alone.
    """

    def __init__(self, pool: Pool) -> None:
        distinct = tuple(dict.fromkeys(t.given for t in pool.tables if t.given))
        others = tuple(range(1, pool.arms))
        self.own = {
            z: CountTable(z[-1], z[:-1], arms=others, by_arm=True, needed=False) for z in _small(pool, distinct)
        }
        self._alone = {z: CountTable(z[-1], z[:-1]) for z in distinct}
        self._with_setting = dict(_with_setting(pool))
        self._arms = pool.arms
        self._setting: dict[str, list[int]] = {v: [] for v in pool.problem.graph.variables}  # arms, by what they set
        self._by_set: dict[Do, list[int]] = {}
        for k, arm in enumerate(pool.problem.arms):
            self._by_set.setdefault(arm.variables, []).append(k)
            for v in arm.variables:
                self._setting[v].append(k)
        self._sets_with: dict[Given, list[Do]] = {}
        for do, given in self._with_setting:
            self._sets_with.setdefault(given, []).append(do)
        observed = tuple(dict.fromkeys((*self._alone.values(), *self._with_setting.values())))
        self.tables = (*observed, *self.own.values())
        self.layout = Layout(pool.problem, self.tables)
        self.starts = self.layout.offsets[: len(observed)]
        self.observed = int(self.layout.offsets[len(observed)])

    def own_cells(self, arms: Indices, given: Given) -> Indices | int:
        """Where the own outcomes of arms are counted by these conditions, axes (arm, z); behind all cells if they are
        not."""
        if given not in self.own:
            return self.layout.size
        at = self.layout.slice(self.own[given])
        number = (at.stop - at.start) // self._arms
        return np.asarray(at.start + number * arms[:, np.newaxis] + np.arange(number))

    def arm_of_own_cells(self) -> Indices:
        """The arm of every cell behind those that observations fill."""
        ends = (self.layout.slice(table) for table in self.own.values())
        parts = (np.repeat(np.arange(self._arms), (at.stop - at.start) // self._arms) for at in ends)
        return np.concatenate([np.zeros(0, np.intp), *parts])

    def special(self, table: CountTable) -> list[int]:
        """The arms of a table that set something in the context of their predictions."""
        by_given = {k for v in table.given for k in self._setting[v]}
        by_source = {k for do in self._sets_with.get(table.given, ()) for k in self._by_set[do]}
        return sorted((by_given | by_source).intersection(table.arms))

    def alone(self, given: Given) -> CountTable:
        """The table of the conditions, without anything that is set."""
        return self._alone[given]

    def of(self, do: Do, given: Given) -> CountTable:
        return self._with_setting.get((do, given), self._alone[given])


def _small(pool: Pool, conditions: Iterable[Given]) -> list[Given]:
    """The conditions by which the own outcomes of every arm are counted. Where variables are set together, there are
    many arms, so only the smallest ones, up to the limit; elsewhere all of them."""
    if pool.problem.sets_single_variables:
        return list(conditions)
    domains, cells, found = pool.problem.domains, 0, list[Given]()
    for size, given in sorted((pool.arms * math.prod(len(domains[v]) for v in z), z) for z in conditions):
        if (cells := cells + size) > MOST_OWN_CELLS:
            break
        found.append(given)
    return found


def _with_setting(pool: Pool) -> Iterator[tuple[tuple[Do, Given], CountTable]]:
    """For all variables that an arm sets, and conditions that follow one of them without naming it: the table that
    counts both. Small tables come first, up to the limit."""
    problem, wanted = pool.problem, dict[tuple[Do, Given], Given]()
    bits, first = problem.graph.bits, {arm.variables: k for k, arm in reversed([*enumerate(problem.arms)])}
    sets = [(k, do, bits.of(do)) for do, k in sorted(first.items(), key=lambda item: item[1])]
    for t in pool.tables:
        given, enters = bits.of(t.given), set(t.arms)
        preceding = bits.above(given) & ~given
        for k, do, is_set in sets:
            if is_set & preceding and k in enters:
                wanted[do, t.given] = tuple(x for x in do if x not in t.given)
    card = {v: len(problem.domains[v]) for v in problem.graph.variables}.__getitem__
    sizes = {key: math.prod(map(card, (*extra, *key[1]))) for key, extra in wanted.items()}
    tables: set[CountTable] = set()
    cells = 0
    for key, size in sorted(sizes.items(), key=lambda item: item[1]):
        table = CountTable(key[1][-1], (*wanted[key], *key[1][:-1]), needed=False)
        if table not in tables and (cells := cells + size) > MOST_CELLS:
            return
        tables.add(table)
        yield key, table


class _Context(NamedTuple):
    """The cells of a table that names some of what an arm sets."""

    shape: tuple[int, ...]
    is_set: Flags  # the cells with the values that are set
    group: Indices  # of every cell; in a group the values of all that precedes what is set are the same

    def beside(self, number: int) -> int:
        """The place of the values that are set among those of the first so many variables, which are all set."""
        return int(np.flatnonzero(self.is_set)[0]) // math.prod(self.shape[number:])


class _Contexts:
    """The contexts of all arms; arms that mean the same to a table share one."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._follows: dict[Do, set[str]] = {}
        self._known: dict[Hashable, _Context] = {}

    def of(self, arm: Arm, table: CountTable) -> _Context:
        problem, names = self._problem, table.variables
        if arm.variables not in self._follows:
            after = set(arm.variables).union(*map(problem.graph.descendants, arm.variables))
            self._follows[arm.variables] = after
        codes = {v: code for v, code in arm.codes(problem.domains).items() if v in names}
        before = tuple(v for v in names if v not in self._follows[arm.variables])
        key = names, tuple(codes.items()), before
        if key not in self._known:
            shape = tuple(len(problem.domains[v]) for v in names)
            self._known[key] = _context(names, shape, codes, before)
        return self._known[key]


def _context(names: Given, shape: tuple[int, ...], is_set: Mapping[str, int], before: Given) -> _Context:
    codes = np.indices(shape).reshape(len(shape), -1)
    agrees, group = np.ones(codes.shape[1], dtype=bool), np.zeros(codes.shape[1], dtype=np.intp)
    for v, size, code in zip(names, shape, codes, strict=True):
        if v in before:
            group = group * size + code
        if v in is_set:
            agrees &= code == is_set[v]
    return _Context(shape, agrees, group)


class _Groups:
    """For every arm and condition: the group of cells whose share in observations is kept, and their part with X=x."""

    def __init__(self, shape: tuple[int, int], zero: int) -> None:
        self._group = np.full(shape, -1, dtype=np.intp)
        self._zero = zero  # the place of a share that is always zero
        self._before: list[Indices] = []
        self._both: list[Indices] = []
        self._first: dict[tuple[int, int], int] = {}  # of the groups of a context

    def add(self, arm: int, at: slice, cells: Indices, context: _Context, start: int) -> None:
        """The conditions `at` are these cells of the context, whose table begins at `start`."""
        key = id(context), start
        if key not in self._first:
            self._first[key] = len(self._before)
            for g in range(int(context.group.max()) + 1):
                members = np.flatnonzero(context.group == g)
                self._before.append(start + members)
                self._both.append(start + members[context.is_set[members]])
        self._group[arm, at] = self._first[key] + context.group[cells]

    def compiled(self) -> tuple[Indices, Indices, Indices, Indices]:
        """The flat places of the arms and conditions that have a group, which one, and the members of the groups."""
        grouped = np.flatnonzero(self._group >= 0)
        return grouped, self._group.take(grouped), self._padded(self._before), self._padded(self._both)

    def _padded(self, members: list[Indices]) -> Indices:
        lengths = np.array([*map(len, members)], dtype=np.intp)
        padded = np.full((len(members), lengths.max(initial=0)), self._zero)
        padded[np.arange(padded.shape[1]) < lengths[:, np.newaxis]] = np.concatenate([*members, np.zeros(0, np.intp)])
        return padded.T


def _places(pool: Pool, conditions: Conditions, sources: _Sources) -> tuple[Indices, Indices, _Groups]:
    """For every arm and condition: the cell of observations, or the one that is sure, or the one that is never met
    where its outcomes cannot be counted; the cell of own outcomes, or the one behind them all; and the group."""
    shape, sure, never = (pool.arms, len(conditions)), sources.observed, sources.observed + 1
    share, own = np.full(shape, never, dtype=np.intp), np.full(shape, sources.layout.size, dtype=np.intp)
    groups, contexts = _Groups(shape, never), _Contexts(pool.problem)
    for t, table in enumerate(pool.tables):
        at, arms = slice(*conditions.start[t : t + 2].tolist()), np.array(table.arms, dtype=np.intp)
        if not table.given:
            share[arms, at] = sure
            continue
        every = np.arange(at.stop - at.start)
        share[arms, at] = sources.layout.slice(sources.alone(table.given)).start + every
        own[arms, at] = sources.own_cells(arms, table.given)
        for k in sources.special(table):
            arm = pool.problem.arms[k]
            source = sources.of(arm.variables, table.given)
            start, context = sources.layout.slice(source).start, contexts.of(arm, source)
            z = every + len(every) * context.beside(len(source.variables) - len(table.given))
            groups.add(k, at, z, context, start)
            share[k, at] = np.where(context.is_set[z], start + z, never)
    return share, own, groups
