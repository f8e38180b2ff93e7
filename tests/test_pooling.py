"""Pooling on exact distributions: what enters a table belongs there, what is kept out differs, every formula is exact.

Tables are computed by enumerating random models with hidden causes (`tests/models.py`), never by sampling.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from dobandit.elimination import Factor as Named
from dobandit.elimination import contract, widest
from dobandit.estimate.pooled import formula_choice as ways
from dobandit.estimate.pooled.arm_estimates import ArmEstimator
from dobandit.estimate.pooled.circuit import total
from dobandit.estimate.pooled.derivative import DenseDerivative
from dobandit.estimate.pooled.formulas import Formula, formulas, observed, overlapping
from dobandit.estimate.pooled.invariance import changed_by, same_effect_as
from dobandit.estimate.pooled.main_effects import EFFECT, MainEffects
from dobandit.estimate.pooled.pool import Pool, table_of
from dobandit.estimate.pooled.posterior import Conditions, shared_groups
from dobandit.estimate.pooled.stated import Stated
from dobandit.evidence.count_tables import CountTable
from dobandit.graph import Graph
from dobandit.identification import Table
from dobandit.problem import Problem
from dobandit.study import Study
from dobandit.worlds import parallel
from dobandit.worlds.graphs import N5, N6, N6_HIDDEN, N7
from tests.models import Model, conditional, marginal, random_admg, random_model

MODELS = 320


class Exact(NamedTuple):
    """A model, the problem of maximising one of its variables, and the distribution under every arm."""

    model: Model
    problem: Problem
    joints: list[np.ndarray]

    def table(self, table: CountTable, arm: int) -> np.ndarray:
        """P(variable | given) under an arm, NaN where the condition never occurs; in order, as one row."""
        found = conditional(self.joints[arm], self.model.graph, Table(table.variable, table.given))
        return found.reshape(-1, found.shape[-1])

    @property
    def means(self) -> list[float]:
        return [float(marginal(j, self.model.graph, self.problem.reward)[1]) for j in self.joints]


def exact(model: Model, reward: str) -> Exact:
    domains = {v: [str(code) for code in range(card)] for v, card in model.cards.items()}
    problem = Problem(model.graph, reward, 100, domains=domains)
    settings = [a.codes(domains) for a in problem.arms]
    return Exact(model, problem, [model.joint(s) for s in settings])


@cache
def exact_models() -> list[Exact]:
    """Random models; of every three one with values other than 0 and 1. The reward, 0/1, need not be the last."""
    rng = np.random.default_rng(20)
    found: list[Exact] = []
    while len(found) < MODELS:
        graph = random_admg(rng, 4, 6)
        model = random_model(graph, rng, (2, 3) if len(found) % 3 == 0 else (2,))
        rewards = [v for v in graph.variables if model.cards[v] == 2 and graph.parents(v)]
        if rewards:
            found.append(exact(model, rewards[-1]))
    return found


def cells(pool: Pool, exact: Exact) -> np.ndarray:
    """All tables of a pool, each computed from the last arm that may enter it. Where that arm does not show a
    condition, another one does."""
    found = np.full((pool.layout.size, 1), np.nan)
    for table in pool.tables:
        at = pool.layout.slice(table)
        for arm in table.arms:
            values = exact.table(table, arm).ravel()
            found[at, 0] = np.where(np.isnan(values), found[at, 0], values)
    return found


def test_the_models_are_of_every_kind() -> None:
    problems = [e.problem for e in exact_models()]
    bows = sum(bool(p.graph.directed & {e for a, b in p.graph.bidirected for e in ((a, b), (b, a))}) for p in problems)
    assert bows > 50
    assert sum(not p.graph.bidirected for p in problems) > 20
    assert sum(any(len(d) > 2 for d in p.domains.values()) for p in problems) > 80


@pytest.mark.parametrize("wide", [32, 0])
def test_what_is_pooled_is_the_same_and_what_is_not_differs(wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry of the mask, with the tables of projections too where everything counts as wide. Soundness is a
    theorem; that every other entry differs holds for almost all models."""
    monkeypatch.setattr(ways, "WIDE", wide)
    together = apart = 0
    for e in exact_models():
        for table in Pool(e.problem).tables:
            if table.arms[0] != 0:
                continue  # private
            seen = e.table(table, 0)
            for k, arm in enumerate(e.problem.arms):
                if table.variable in arm.variables:
                    assert k not in table.arms
                    continue
                difference = np.nanmax(np.abs(e.table(table, k) - seen))
                if k in table.arms:
                    assert difference < 1e-12
                    together += 1
                else:
                    assert difference > 1e-9
                    apart += 1
    assert min(together, apart) > 500


def test_kin_make_a_table_the_same_and_others_do_not() -> None:
    """Every table that setting X changes, in the graph in which nothing points to X, against all arms; the variables
    in causal order are all of them, or those that lead to the table's."""
    together = apart = 0
    for e in exact_models():
        graph, arms = e.problem.graph, e.problem.arms
        for x in e.problem.intervenable:
            cut = graph.without_edges(into=x)
            for v, whole in product(graph.variables, (True, False)):
                parents = (cut if whole else cut.subgraph(cut.ancestral(v))).effective_parents(v)
                given = tuple(u for u in graph.variables if u in parents)
                if v == x or x not in changed_by(graph, v, given):
                    continue
                table, same = CountTable(v, given), set().union(*same_effect_as(graph, {x}, v, given))
                by_x = np.fmax.reduce([e.table(table, k) for k, arm in enumerate(arms) if arm.variables == (x,)])
                for k, arm in enumerate(arms):
                    differences = np.abs(e.table(table, k) - by_x)
                    w = "".join(arm.variables)
                    if w != v and not np.isnan(differences).all():
                        assert (np.nanmax(differences) < 1e-12) == (w in same)
                        together, apart = together + (w in same - {x}), apart + (w not in same)
    assert min(together, apart) > 300


@pytest.mark.parametrize("wide", [32, 0])
def test_every_estimate_is_exact(wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the whole graph, and (where every table counts as wide) on the projection as well."""
    monkeypatch.setattr(ways, "WIDE", wide)
    kinds = {"two": 0, "private": 0, "borrowed": 0, "projected": 0, "alias": 0}
    for e in exact_models():
        pool, means = Pool(e.problem), e.means
        estimates = pool.circuit.outputs(pool.circuit.values(cells(pool, e)))[:, 0]
        assert not pool.has_none.any()
        for place, arm in enumerate(pool.arm_of):
            assert abs(estimates[place] - means[arm]) < 1e-12
        kinds["two"] += len(pool.pairs)
        kinds["private"] += sum(t.arms[0] != 0 for t in pool.tables)
        found = [formulas(e.problem.graph, e.problem.reward, (v,)) for v in e.problem.intervenable]
        kinds["borrowed"] += sum(
            any(f.setting and frozenset(w.do) not in f.setting for w in way for f in w.factors) for way in found
        )
        kinds["projected"] += sum(len(w) > 1 for w in pool.choices)
        kinds["alias"] += int(pool.is_alias.sum())
    assert kinds["borrowed"] >= 15
    assert all(n >= 40 for kind, n in kinds.items() if kind != "borrowed"), kinds


def test_gradients_are_differences() -> None:
    """Estimates are polynomials of low degree, so that central differences are almost exact."""
    rng = np.random.default_rng(3)
    for e in exact_models()[::10]:
        circuit = Pool(e.problem).circuit
        at, step = rng.uniform(0.1, 0.9, (circuit.cells, 4)), 1e-5 * rng.normal(size=(circuit.cells, 4))
        ahead, behind = (circuit.outputs(circuit.values(at + s)) for s in (step, -step))
        slope = (circuit.gradient(circuit.values(at)) * step).sum(axis=1)
        np.testing.assert_allclose((ahead - behind) / 2, slope, rtol=0, atol=1e-12)


def test_many_outputs_have_the_same_gradients() -> None:
    """A large circuit does not list pairs of nodes and outputs; the bits are those of one that does."""
    for e in exact_models()[::10]:
        circuit = Pool(e.problem).circuit
        values = circuit.values(np.random.default_rng(2).uniform(0.1, 0.9, (circuit.cells, 3)))
        dense = DenseDerivative(circuit.size, circuit.cells, circuit.steps, circuit._outputs)
        assert (dense.of(values) == circuit.gradient(values)).all()


def test_the_effects_of_a_wide_tree_are_those_of_elimination() -> None:
    """On trees with hidden causes, too large to enumerate: shared messages against one elimination per formula."""
    rng = np.random.default_rng(8)
    for _ in range(3):
        problem = Problem(_tree(rng, 30, hidden=4), "Y", 100)
        pool = Pool(problem)
        numbers = rng.uniform(0.2, 0.8, (pool.layout.size, 2))
        numbers = Conditions(pool.layout).normalised(numbers)
        estimates = pool.circuit.outputs(pool.circuit.values(numbers))
        for k in range(1, pool.arms):
            found = formulas(problem.graph, "Y", problem.arms[k].variables)
            for place, formula in zip(pool.choices[k][0], found, strict=True):
                np.testing.assert_allclose(estimates[place], _eliminated(pool, formula, numbers, k), rtol=1e-10)


def _eliminated(pool: Pool, formula: Formula, numbers: np.ndarray, k: int) -> np.ndarray:
    """The sum of a formula for one arm, without messages."""
    problem = pool.problem
    (code,) = problem.arms[k].codes(problem.domains).values()
    functions = []
    for f in formula.factors:
        values: np.ndarray = pool.layout.view(numbers.T, table_of(problem, f))
        axes = [*formula.axes(f)]
        for name, at in (("Y", 1), (formula.kept[0], code)):
            if name in axes:
                values = np.asarray(values.take(at, axis=1 + axes.index(str(name))))
                axes.remove(str(name))
        functions.append(Named(tuple(axes), values))
    return np.asarray(contract(functions, ()))


def _tree(rng: np.random.Generator, n: int, hidden: int = 0) -> Graph:
    """Everything leads to Y, by one way; no variable has more than three parents. Some siblings share hidden causes."""
    names, child = ["Y"], dict[str, str]()
    while len(names) < n:
        below = str(rng.choice(names))
        if sum(c == below for c in child.values()) < 3:
            child[f"X{len(names)}"] = below
            names.append(f"X{len(names)}")
    pairs = [(a, b) for a in child for b in child if a < b and child[a] == child[b]]
    chosen = rng.choice(len(pairs), hidden, replace=False)
    return Graph.from_edges(list(child.items()), [pairs[i] for i in chosen])


def test_the_work_on_trees_is_linear() -> None:
    """Products of the circuit per variable: no more for 120 variables than for 30, all arms together."""
    per_variable = []
    for n in (30, 60, 120):
        graph = _tree(np.random.default_rng(1), n)
        steps = Pool(Problem(graph, "Y", 100)).circuit.steps
        per_variable.append(sum(s.inputs[0].size for s in steps) / n)
    assert max(per_variable) < 1.3 * min(per_variable)


def test_the_widest_table_by_hand() -> None:
    """A chain never needs more than two variables at once; a ring joins the neighbours of the first that goes."""
    cards = {"A": 2, "B": 3, "C": 2, "D": 5}
    chain = [("A", "B"), ("B", "C"), ("C", "D")]
    assert widest(chain, (), cards) == 2 * 5
    assert widest([*chain, ("D", "A")], (), cards) == 2 * 2 * 5  # B goes first, with A and C; then D, with A and C
    assert widest([("A", "B", "D")], ("A", "B", "D"), cards) == 2 * 3 * 5


def test_arms_that_cannot_matter_are_aliases() -> None:
    pool = Pool(Problem("X -> Y -> Z; X -> W; W <-> Y", "Y", 100))
    named = {str(a): bool(is_alias) for a, is_alias in zip(pool.problem.arms, pool.is_alias, strict=True)}
    assert named == {"do()": 0, "do(X=0)": 0, "do(X=1)": 0, "do(Z=0)": 1, "do(Z=1)": 1, "do(W=0)": 1, "do(W=1)": 1}
    assert all(set(np.flatnonzero(pool.is_alias)) <= set(t.arms) for t in pool.tables if t.arms[0] == 0)


def test_tables_by_hand() -> None:
    """The front door: X -> M -> Y with a hidden cause of X and Y."""
    graph = Graph("X -> M -> Y; X <-> Y")
    assert changed_by(graph, "M", ("X",)) == {"M"}
    assert changed_by(graph, "M", ()) == {"M", "X"}
    assert changed_by(graph, "X", ()) == {"X"}
    assert changed_by(graph, "Y", ("X", "M")) == {"X", "Y"}
    assert [str(f) for f in formulas(graph, "Y", ("M",))] == ["Σ P(X) P(Y | X, M)", "Σ P*(Y | M)"]
    assert [f.factors[-1].setting for f in formulas(graph, "Y", ("M",))] == [None, {frozenset("X")}]
    assert str(observed(graph, "Y")) == "Σ P(X) P(M | X) P(Y | X, M)"
    bow = Graph("X -> Y; X <-> Y")
    assert [str(f) for f in formulas(bow, "Y", ("X",))] == ["Σ P*(Y | X)"]


@pytest.mark.parametrize("graph", [N5, N6, N6_HIDDEN, N7], ids=["n5", "n6", "n6h", "n7"])
def test_on_the_papers_graphs_nothing_is_counted_twice(graph: Graph) -> None:
    for v in graph.variables[:-1]:
        found = formulas(graph, "Y", (v,))
        assert len(found) == 1 or not overlapping(*found)


def test_variances_and_weights_against_draws() -> None:
    """The delta method on the front door with many data: variances, covariance and the best weight as in draws."""
    pool = Pool(Problem("X -> M -> Y; X <-> Y", "Y", 100))
    conditions = Conditions(pool.layout)
    weighing = ArmEstimator(pool, conditions)
    rng = np.random.default_rng(4)
    shapes = rng.uniform(300, 600, (pool.layout.size, 1))
    known = weighing.known(conditions.normalised(shapes), conditions.sums(shapes))
    draws = 40_000
    tables = conditions.normalised(rng.standard_gamma(np.broadcast_to(shapes, (len(shapes), draws))))
    values = pool.circuit.outputs(pool.circuit.values(tables))
    for pair in pool.pairs:
        a, b = values[pair.first], values[pair.second]
        covariance = np.cov(a, b)
        best = (covariance[1, 1] - covariance[0, 1]) / (a - b).var()
        share = known.weights[pair.first, 0]
        assert share == pytest.approx(best, abs=0.05)
        assert known.weights[pair.second, 0] == pytest.approx(1 - share)
        mixed = share * a + (1 - share) * b
        arm = pool.arm_of[pair.first]
        assert known.variances[arm, 0] == pytest.approx(mixed.var(), rel=4 * np.sqrt(2 / draws) + 0.01)
        assert known.means[arm, 0] == pytest.approx(mixed.mean(), abs=4 * mixed.std() / np.sqrt(draws) + 1e-4)


def test_the_weights_of_two_estimates_are_shares() -> None:
    """Also where their covariance is larger than one of the variances, so that the other weight would be negative;
    where they overlap, one of them has all the weight."""
    rng = np.random.default_rng(9)
    ends = {True: 0, False: 0}
    for e in exact_models()[::2]:
        pool = Pool(e.problem)
        conditions = Conditions(pool.layout)
        shapes = rng.gamma(0.3, 30, (pool.layout.size, 8)) + 0.5
        weights = ArmEstimator(pool, conditions).known(conditions.normalised(shapes), conditions.sums(shapes)).weights
        for pair in pool.pairs:
            first, second = weights[pair.first], weights[pair.second]
            assert ((first >= 0) & (first <= 1) & (first + second == 1)).all()
            assert not pair.overlap or set(first) <= {0, 1}
            ends[False] += int((first == 0).sum()) * (not pair.overlap)
            ends[True] += int((first == 1).sum()) * (not pair.overlap)
    assert min(ends.values()) > 1, ends


def test_the_prior_of_the_reward_is_the_mean_of_its_table() -> None:
    """In pooled tables with conditions, where only the answer counts; everywhere else Jeffreys'. And no row's bits
    depend on the other rows."""
    pool = Pool(Problem("X -> M -> Y; X <-> Y; W -> Y; W <-> Y", "Y", 100))
    conditions = Conditions(pool.layout, shared_groups(pool.layout, private=False))
    counts = np.random.default_rng(3).uniform(0, 9, (5, pool.layout.size))
    shapes = conditions.shapes(counts)
    np.testing.assert_array_equal(shapes, np.concatenate([conditions.shapes(row[np.newaxis]) for row in counts]))
    of_reward = [t for t in pool.tables if t.variable == "Y"]
    assert {0 in t.arms for t in of_reward} == {True, False}
    for table in pool.tables:
        seen, prior = (pool.layout.view(a, table).reshape(5, -1, 2) for a in (counts, shapes - counts))
        mean = (seen.sum(axis=1) + 0.5) / (seen.sum(axis=(1, 2)) + 1)[:, np.newaxis]
        is_centred = table.variable == "Y" and 0 in table.arms and table.given
        expected = mean[:, np.newaxis] if is_centred else 0.5
        np.testing.assert_allclose(prior, np.broadcast_to(expected, prior.shape), atol=1e-12)


def test_how_alike_rows_are_is_learnt() -> None:
    """The chances of the weights against the beta-binomial likelihood by plain loops; then their consequences."""
    problem = Problem("{A, B} -> Y", "Y", 100)
    pool = Pool(problem)
    stated = Stated(problem, pool.layout)
    (table,) = (t for t in pool.tables if t.given)

    def counted(won: list[float], lost: list[float]) -> NDArray[np.float64]:
        counts = np.zeros((1, pool.layout.size))
        pool.layout.view(counts, table)[0] = np.array([lost, won]).T.reshape(2, 2, 2)
        return counts

    rng = np.random.default_rng(7)
    for _ in range(20):
        won, lost = rng.integers(0, 30, (2, 4)).astype(float).tolist()
        means = stated.expected(counted(won, lost))
        logs = []
        for k in (1, 2, 4, 8, 16, 32, 64):  # of a row that is expected to be 1/2, more of others
            outcomes = k / (4 * means[0] * (1 - means[0])) / (0.5 + 2 * means[0] * (1 - means[0])) ** 2
            rows = zip(won, lost, outcomes * means[0], outcomes * (1 - means[0]), strict=True)
            logs.append(sum(_log_beta(a + w, b + v) - _log_beta(a, b) for w, v, a, b in rows))
        chances = np.exp(np.array(logs) - max(logs))
        found = stated.plausible(counted(won, lost), means)[0, 0]
        np.testing.assert_allclose(found, chances / chances.sum(), rtol=1e-6)

    alike, unlike = counted([5, 5, 5, 0], [45, 45, 45, 0]), counted([0, 50, 50, 0], [50, 0, 0, 50])
    assert stated.plausible(alike, stated.expected(alike))[0, 0, -1] > 0.3
    assert stated.plausible(unlike, stated.expected(unlike))[0, 0, 0] > 0.5
    number = 4000
    last_alike, last_unlike = (stated.drawn(c, number, rng)[stated.won[3]] for c in (alike, unlike))
    assert np.median(last_alike) == pytest.approx(15.5 / 151, abs=0.02 + 5 * last_alike.std() / np.sqrt(number))
    assert last_unlike.mean() < 0.05  # it has data, which no expectation overrules


@pytest.mark.parametrize("usual", [0.3, 0.03, 0.003])
def test_rows_are_alike_in_their_log_odds_however_rare_success_is(usual: float) -> None:
    """Rows are half as large and 1.5 times as large as usual, in turn; so is one that has no data, as a multiple."""
    problem = Problem("{A, B, C} -> Y", "Y", 100)
    pool = Pool(problem)
    stated = Stated(problem, pool.layout)
    (table,) = (t for t in pool.tables if t.given)
    chances = usual * (0.5 + np.indices((2, 2, 2)).sum(axis=0) % 2)
    counts = np.zeros((1, pool.layout.size))
    pool.layout.view(counts, table)[0] = 100_000 * np.stack([1 - chances, chances], axis=-1)
    pool.layout.view(counts, table)[0, 1, 1, 1] = 0.0
    drawn = stated.drawn(counts, 4000, np.random.default_rng(1))[stated.won[7]]
    odds = np.log(drawn / (1 - drawn))
    truth = np.log(chances / (1 - chances)).std()
    assert truth < odds.std() < 3 * truth


def test_what_is_expected_of_rows_is_a_penalised_logistic_regression() -> None:
    """Against scikit-learn, which is given Jeffreys' prior of the constant as outcomes."""
    codes = np.indices((4, 3)).reshape(2, -1)
    won, lost = np.random.default_rng(3).integers(0, 20, (2, 1, 12)).astype(float)
    conditions = np.stack([codes[0] == a for a in range(4)] + [codes[1] == b for b in range(3)], axis=1)
    share, usual = 0.5 / 12, (won.sum() + 0.5) / (won.sum() + lost.sum() + 1)
    regression = LogisticRegression(C=(EFFECT * (0.5 + 2 * usual * (1 - usual))) ** 2, tol=1e-10, max_iter=10_000)
    regression.fit(np.tile(conditions, (2, 1)), [1] * 12 + [0] * 12, np.concatenate([won[0], lost[0]]) + share)
    found = MainEffects(codes).fitted(won, lost).means[0]
    np.testing.assert_allclose(found, regression.predict_proba(conditions)[:, 1], atol=1e-5)


def test_arms_are_not_pulled_towards_each_other_by_many_rows() -> None:
    """Rewards are 0.7 and 0.3, whatever 64 rows of the table say besides; A and V have four values each."""
    rng, n = np.random.default_rng(11), 3000
    a, v, f = rng.integers(4, size=n), rng.integers(4, size=n), rng.integers(2, size=n)
    c = (rng.random(n) < 0.2 + 0.15 * v).astype(int)
    log = {"A": a, "V": v, "C": c, "F": f, "R": (rng.random(n) < 0.3 + 0.4 * c).astype(int)}
    four = ["0", "1", "2", "3"]
    graph = "A -> {V, R}; V -> {C, R}; {C, F} -> R"
    problem = Problem(graph, "R", 100, "simple", domains={"A": four, "V": four}, intervenable=["C"])
    with Study.create(":memory:", problem) as study:
        study.observe(log, name="log")
        arms = {arm.arm: arm for arm in study.status().arms}
    for arm, truth, rows in (("do(C=0)", 0.3, n - c.sum()), ("do(C=1)", 0.7, c.sum())):
        # Weights of the adjustment make an arm's rows count for about half.
        assert arms[arm].mean == pytest.approx(truth, abs=3 * np.sqrt(0.21 / (rows / 2)))
        assert arms[arm].low < truth < arms[arm].high


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def test_an_empty_wide_table_does_not_pass_for_knowledge() -> None:
    """With few data the means of the parallel bandit come from P(Y | X), not from a table with 256 cells."""
    pool = Pool(Problem(parallel(7).graph, "Y", 100))
    conditions = Conditions(pool.layout)
    shapes = np.full((pool.layout.size, 1), 0.5)
    small = next(t for t in pool.tables if t.given == ("X1",))
    shapes[pool.layout.slice(small), 0] += 3
    known = ArmEstimator(pool, conditions).known(conditions.normalised(shapes), conditions.sums(shapes))
    whole, projected = (way[0] for way in pool.choices[1])  # do(X1=0)
    assert (known.weights[whole, 0], known.weights[projected, 0]) == (0, 1)


def test_sums_do_not_depend_on_the_company() -> None:
    numbers = np.random.default_rng(2).uniform(size=(1001, 64))
    alone = np.concatenate([total(numbers[:, [i]]) for i in range(64)])
    np.testing.assert_array_equal(total(numbers), alone)
