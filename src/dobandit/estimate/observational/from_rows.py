"""Effects of interventions from observations alone, in the user's units, with an interval.

>>> import dobandit as db
>>> log = {"Z": [0, 0, 0, 1, 1, 1], "X": [0, 0, 1, 0, 1, 1], "Y": [0, 1, 1, 0, 0, 1]}
>>> e = db.effect(db.Graph("Z -> X -> Y; Z -> Y"), log, do={"X": 1}, reward="Y")
>>> e.mean, e.n, e.method
(0.75, 6, 'adjustment')
>>> db.effect("Z -> X -> Y; Z -> Y", log, do={"X": 1}, versus={"X": 0}, reward="Y").mean  # the difference
0.5
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import DataError, MissingCell, NotIdentifiable
from dobandit.estimate.observational.gaps import Gaps, central_ends, gaps_of
from dobandit.estimate.observational.interval import interval
from dobandit.estimate.observational.plugin import Term, ends, plug_in
from dobandit.estimate.observational.question import Question, arm_of, checked_level, codes_of
from dobandit.estimate.observational.scale import Scale, infer_scale, is_distribution, problem_scale
from dobandit.estimate.observational.scores import Fit
from dobandit.estimate.observational.shared_rows import SharedRows
from dobandit.estimate.observational.spread import Spread, spread_of
from dobandit.estimate.observational.wide import covariates, fits_tables, wide_effect
from dobandit.evidence import (
    NONE_MISSING,
    Data,
    Fitted,
    MissingRows,
    Source,
    Weights,
    check_interventions,
    check_spelling,
    count,
    fit,
    moments,
    open_source,
    read_sample,
    read_together,
    rows_left_out,
)
from dobandit.graph import Graph, GraphLike, as_graph
from dobandit.identification import Estimand, Method, Sum, Table, identify
from dobandit.markup import html_table
from dobandit.numerals import amount, number
from dobandit.numerals import interval as in_words
from dobandit.problem import Arm, Problem, Value

METHODS: tuple[Method, ...] = get_args(Method)  # from the least to the most demanding


class SparseDataWarning(UserWarning):
    """The data have no row for some combination that the effect depends on, or only one value of the reward."""


@dataclass(frozen=True, repr=False)
class Effect:
    """E[reward | do(...)], or the difference of two: the estimate, its interval, the number of rows behind it, and how
    it was found. `left_out` is the number of rows that do not count, because something was done in them; `fits` says,
    for every arm that was estimated without tables, which models were chosen and how well the rows overlap;
    `missing` counts the rows in which values are missing: dropped ones, and those in which that is a value."""

    mean: float
    low: float
    high: float
    n: float
    method: Method | Literal["doubly-robust", "none"]
    left_out: float = 0
    fits: tuple[Fit, ...] = ()
    missing: MissingRows = NONE_MISSING

    def __repr__(self) -> str:
        """What people look for; the other fields are there as well."""
        interval = f"low={self.low:.4g}, high={self.high:.4g}"
        return f"Effect(mean={self.mean:.4g}, {interval}, n={self.n:,.10g}, method={self.method!r})"

    def _repr_html_(self) -> str:
        cells = [number(self.mean), in_words(self.low, self.high), f"{self.n:,.10g}", self.method]
        notes = [str(fit) for fit in self.fits] + [told for told in [self.missing.told()] if told]
        return html_table(["mean", "interval", "rows", "method"], [cells], notes)


def effect(
    graph: GraphLike,
    data: Data,
    do: Mapping[str, Value],
    reward: str | None = None,
    weights: Weights = None,
    level: float = 0.95,
    versus: Mapping[str, Value] | None = None,
) -> Effect:
    """E[reward | do(X=x)], or how it differs from that of another intervention, from observations and the graph.

    Parameters
    ----------
    graph
        A Graph, a text, or a Problem, which also says what the values of its reward are worth.
    data
        A mapping of columns, a list of rows, a data frame that narwhals reads, or the path of a CSV or Parquet file.
    do
        The variable that is set and its value, such as ``{"X": 1}``. An empty mapping asks for the plain mean.
    reward
        The variable whose mean is wanted; that of the Problem, if it is left out.
    weights
        How often each row counts: the name of a column, or one number for each row. Fractions that sum to one are
        probabilities: then the answer is exact, n is 0 and the interval a point.
    level
        The confidence level of the interval, between 0 and 1.
    versus
        Another intervention, such as ``{"X": 0}``: the answer is the mean under `do` minus the mean under `versus`.
        An empty mapping compares with doing nothing.

    Returns
    -------
    Effect
        The mean, the ends of its interval, the number of rows, and the method by which the effect is identified. Of a
        difference it is the more demanding method of the two.

    Raises
    ------
    NotIdentifiable
        No amount of observations reveals this effect.
    """
    source = open_source(data, weights)
    if isinstance(graph, Problem):
        source, reward = fit(source, graph), graph.reward if reward is None else reward
    if reward is None:
        raise DataError('a graph does not say which variable is the reward: name it, as in reward="Y"')
    problem = graph if isinstance(graph, Problem) and graph.reward == reward else None
    graph, question = as_graph(graph), Question(arm_of(do), None if versus is None else arm_of(versus))
    check_spelling(source, graph.variables)
    estimands = {arm: _estimand(graph, arm, reward) for arm in question.arms}
    scale = _scale(problem, source, estimands, reward)
    left_out = rows_left_out(source, graph.variables)
    return _Counted(source, estimands, scale, left_out).effect(question, checked_level(level))


def estimates(
    problem: Problem, source: Source, arms: Iterable[Arm], level: float = 0.95, versus: Arm | None = None
) -> list[Effect]:
    """The effects of these arms of a problem from logged rows, in the problem's values and units.

    All tables are counted together, so that a large log is read once. What observations cannot tell
    has the method "none" and no numbers.
    """
    source = fit(source, problem)
    check_interventions(source, problem.graph.variables, problem.domains)
    questions = [Question(arm, versus) for arm in arms]
    estimands: dict[Arm, Estimand] = {}
    if versus is not None:
        estimands[versus] = _estimand(problem.graph, versus, problem.reward)
    for question in questions:
        with suppress(NotIdentifiable):
            estimands[question.arm] = _estimand(problem.graph, question.arm, problem.reward)
    scale = _scale(problem, source, estimands, problem.reward)
    left_out = rows_left_out(source, problem.graph.variables)
    counted = _Counted(source, estimands, scale, left_out)
    level = checked_level(level)
    unknown = Effect(math.nan, math.nan, math.nan, 0, "none", _whole(left_out), (), source.affected)
    return [counted.effect(question, level) if question.arm in estimands else unknown for question in questions]


def _scale(problem: Problem | None, source: Source, estimands: Mapping[Arm, Estimand], reward: str) -> Scale:
    needed = sorted({v for arm, estimand in estimands.items() for v in estimand.variables.union(arm.variables)})
    if problem is None:
        return infer_scale(source, needed, reward, covariates(estimands))
    read_together(source, needed, problem.domains, reward if problem.reward_is_continuous else None)
    return problem_scale(problem, source)


def naive_means(problem: Problem, source: Source, arms: Sequence[Arm]) -> list[float]:
    """What seeing alone suggests: the mean reward of the rows in which the variable happened to have the value."""
    source = fit(source, problem)
    scale = problem_scale(problem, source)
    pairs = {arm: (*arm.variables, problem.reward) for arm in arms}
    counted = count(source, pairs.values(), scale.domains, scale.between)
    found = []
    for arm in arms:
        codes = codes_of(arm, scale.domains)
        rows = counted[pairs[arm]][tuple(codes[v] for v in arm.variables)]
        found.append(float(rows @ np.array(scale.worth) / rows.sum()) if rows.sum() else math.nan)
    return found


class _Counted:
    """The tables of the recipes of some arms, counted together."""

    def __init__(self, source: Source, estimands: Mapping[Arm, Estimand], scale: Scale, left_out: float) -> None:
        self.source, self.estimands, self.scale, self.left_out = source, estimands, scale, left_out
        self.missing = source.affected if isinstance(source, Fitted) else NONE_MISSING
        narrow = [estimand for estimand in estimands.values() if fits_tables(estimand, scale)]
        groups = [(*table.given, table.variable) for estimand in narrow for table in estimand.tables]
        self.counts = count(source, groups, scale.domains, scale.between)
        measured = dict.fromkeys(t for e in narrow for t in e.tables if t.variable in scale.between)
        self.spreads = {table: self._spread(table) for table in measured}

    def _spread(self, table: Table) -> Spread:
        """How a measurement varies in every row of a table, its ends being 0 and 1."""
        low, high = self.scale.between[table.variable]
        found = moments(self.source, table.given, self.scale.domains, table.variable)
        return spread_of(found, high - low)

    def effect(self, question: Question, level: float) -> Effect:
        """Run the recipes on their tables, and put an interval around the result."""
        if not all(fits_tables(self.estimands[arm], self.scale) for arm in question.arms):
            return self._wide(question, level)
        terms = self._terms(question)
        tables = dict.fromkeys(table for term in terms for table in term.estimand.tables)
        counts = {table: self.counts[(*table.given, table.variable)] for table in tables}
        total = float(next(iter(counts.values())).sum())
        if not total > 0:
            raise DataError(f"{self.source.name}: there are no rows to estimate from")
        gaps = self._gaps(terms, counts)
        found = plug_in(terms, counts, self.scale.worth, self._shared(terms, counts), self.spreads, gaps)
        exact = is_distribution(self.source, total)
        lowest, highest = ends(terms, self.scale.worth)
        if found.unseen:
            _warn(self._told(found.unseen, question, gaps))
        same = any(not spread.varies for table, spread in self.spreads.items() if table in counts)
        if (lowest == highest or same) and not exact:
            _warn(
                f"{terms[0].estimand.on[0]} is {amount(self.scale.worth[0])} in every row, so the interval is a point: "
                "nothing says how much it could vary"
            )
        low, high = interval(found, lowest, highest, 0.0 if exact else level)
        method = max((term.estimand.method for term in terms), key=METHODS.index)
        n = 0 if exact else _whole(total)
        return Effect(found.mean, low, high, n, method, _whole(self.left_out), (), self.missing)

    def _wide(self, question: Question, level: float) -> Effect:
        """The same where the tables do not fit."""
        terms = list(zip((1.0, -1.0), question.arms, strict=False))
        found = wide_effect(self.source, terms, self.estimands, self.scale, level)
        for text in found.warnings:
            _warn(text)
        method: Literal["doubly-robust", "adjustment"] = "doubly-robust" if found.fits else "adjustment"
        n = 0 if found.exact else _whole(found.n)
        return Effect(found.mean, found.low, found.high, n, method, _whole(self.left_out), found.fits, self.missing)

    def _terms(self, question: Question) -> list[Term]:
        """The mean of the arm, less that of the other one."""
        terms = []
        for sign, arm in zip((1.0, -1.0), question.arms, strict=False):
            recipe, codes = self.estimands[arm], codes_of(arm, self.scale.domains)
            terms.append(Term(sign, recipe, tuple(codes[v] for v in recipe.do)))
        return terms

    def _shared(self, terms: Sequence[Term], tables: Iterable[Table]) -> SharedRows | None:
        """Rows are needed where tables of different recipes come together."""
        if len({term.estimand for term in terms}) == 1:
            return None
        return SharedRows(self.source, tables, self.scale.domains, self.scale.between)

    def _gaps(self, terms: Sequence[Term], counts: Mapping[Table, Array]) -> dict[Table, Gaps]:
        """What counts where a measurement has no data."""
        found = {}
        for t in (t for t in counts if t in self.spreads and not counts[t].sum(axis=-1).all()):
            low, high = self.scale.between[t.variable]
            rows = read_sample(self.source, [t.variable], self.scale.domains, [t.variable])
            shares = (rows.numbers[t.variable] - low) / (high - low)
            set_ = {v for term in terms if t in term.estimand.tables for v in term.estimand.do}
            found[t] = gaps_of(counts[t], t.given, set_, central_ends(shares, rows.weights))
        return found

    def _told(self, unseen: Sequence[MissingCell], question: Question, gaps: Mapping[Table, Gaps]) -> str:
        """One sentence for all combinations without data that matter."""
        first, others = unseen[0], len(unseen) - 1
        named = ", ".join(f"{v}={self.scale.domains[v][i]}" for v, i in first.cell.items())
        more = f" (and {others:,} more such combinations)" if others else ""
        what = f"{question}: no rows with {named}{more}"
        counts = f"{first.table} counts as uniform"
        for t, gap in gaps.items():
            if str(t) == first.table:
                counts = f"{t.variable} counts as {gap.told([*first.cell.values()], self.scale.domains)}"
        return f"{what}, so {counts} there and the interval is wider"


def _warn(text: str) -> None:
    warnings.warn(text, SparseDataWarning, stacklevel=4)  # as said by the caller of effect


def _estimand(graph: Graph, arm: Arm, reward: str) -> Estimand:
    graph.parents(reward)  # an unknown variable is refused here
    if arm.observes:
        return Estimand((), (reward,), "observed", Sum(frozenset(), (Table(reward, ()),)))
    return identify(graph, arm.variables, reward)


def _whole(number: float) -> float:
    """A number of rows, as a whole number if it is one."""
    return round(number) if math.isclose(number, round(number), rel_tol=1e-9) else number
