"""What observations say of tables that they do not identify: the mixture is exact, its prior has its moments, and pulls
tell how strongly hidden causes act."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dobandit.estimate.pooled import PooledEstimator
from dobandit.estimate.pooled.confounding import Learnt, drawn_shapes
from dobandit.estimate.pooled.consistency import RowPriors, Rows, Seen, alike, prior
from dobandit.estimate.pooled.informing import Informing, informed_tables
from dobandit.estimate.pooled.invariance import changed_by
from dobandit.evidence import Evidence
from dobandit.graph import Graph
from dobandit.identification import Table
from dobandit.problem import Problem
from dobandit.study import Study
from tests.models import Model, conditional, random_admg, random_model

Array = NDArray[np.float64]
STRONG, WEAK = (0.5, 2.0), (0.9, 30.0)  # how much those with another value are like the others, and what that weighs


def informing(problem: Problem) -> Informing:
    return PooledEstimator(problem).informing


def test_the_row_of_an_arm_is_the_mixture_that_observations_show_a_part_of() -> None:
    """On 150 random models: the part P(x, z) / P(z | do(x)) that observations show never exceeds the row. The table
    of w has the mean of these parts over the conditions that follow X, and the parts themselves where setting X gives
    those conditions the distribution that observations show."""
    rng, rows = np.random.default_rng(5), np.zeros(2)
    for i in range(150):
        graph = random_admg(rng, 3, 6)
        model = random_model(graph, rng, (2, 3) if i % 3 == 0 else (2,))
        rewards = [v for v in graph.variables if model.cards[v] == 2 and graph.parents(v)]
        if rewards:
            rows += check_mixture(model, rewards[-1])
    assert rows[0] > 100
    assert rows[1] > 20


def check_mixture(model: Model, reward: str) -> tuple[int, int]:
    """How many tables have exact parts, and how many have them on average."""
    graph, seen, found = model.graph, model.joint(), [0, 0]
    domains = {v: [str(code) for code in range(card)] for v, card in model.cards.items()}
    problem = Problem(graph, reward, 100, domains=domains, most_at_once=2)
    for one in informed_tables(PooledEstimator(problem).pool):
        given, before = one.private.given, one.settings.variables[: -len(one.do)]
        parts: dict[tuple[float, ...], list[tuple[float, float]]] = {}
        for z in np.ndindex(*(model.cards[v] for v in given)):
            values = dict(zip(given, z, strict=True))
            do, known = ({v: values[v] for v in some} for some in (one.do, before))
            done = model.joint(do)
            w = probability(seen, graph, {**do, **known}) / probability(seen, graph, known)
            exact = probability(seen, graph, values) / probability(done, graph, values)
            row, part = (conditional(j, graph, Table(one.private.variable, given))[(0, *z)] for j in (done, seen))
            assert (row >= exact * part - 1e-9).all()
            weight = probability(done, graph, values) / probability(done, graph, {**do, **known})
            parts.setdefault((*do.values(), *known.values(), w), []).append((weight, exact))
        for (*_, w), each in parts.items():
            assert w == pytest.approx(sum(weight * exact for weight, exact in each), abs=1e-9)
        is_confounded = any(abs(exact - w) > 1e-9 for (*_, w), each in parts.items() for _, exact in each)
        assert is_confounded == follows_confounded(graph, one.do, given)
        found[is_confounded] += 1
    return found[0], found[1]


def follows_confounded(graph: Graph, do: tuple[str, ...], given: tuple[str, ...]) -> bool:
    """Whether setting these changes the distribution of conditions that follow them, given what comes before."""
    known = [v for v in given if v in do or not any(v in graph.descendants(x) for x in do)]
    for v in graph.in_order(set(given) - set(known)):
        if not changed_by(graph, v, tuple(known)).isdisjoint(do):
            return True
        known.append(v)
    return False


def probability(joint: Array, graph: Graph, values: dict[str, int]) -> float:
    place = tuple(values.get(v, slice(None)) for v in graph.variables)
    return float(joint[place].sum())


def one_row(counts: list[float], others: float, usual: float = 0.5) -> RowPriors:
    """The prior of a row with these observations, and so many with another value of what is set."""
    seen = Seen(np.array([counts]), np.array([[sum(counts)]]), np.array([[sum(counts) + others]]))
    card = len(counts)
    share = np.array([[1 - usual, usual]]) if card == 2 else np.full((1, card), 1 / card)
    none = np.zeros(1, dtype=np.intp)
    return prior(seen, Rows(none, np.array([card]), np.array([2]), none + 1, none, none), share, np.array([[card / 2]]))


@pytest.mark.parametrize(("degree", "like_seen", "guess"), [(0, *STRONG), (1, *WEAK)])
@pytest.mark.parametrize("counts", [[30.0, 90.0], [400.0, 100.0], [60.0, 30.0, 10.0]])
@pytest.mark.parametrize("others", [20.0, 300.0])
def test_the_prior_has_the_mean_and_the_variance_of_the_mixture(
    counts: list[float], others: float, degree: int, like_seen: float, guess: float
) -> None:
    """A million draws of what is seen, of how often, and of those who had another value. The error of the mean comes
    from their number; the variance takes w at its mean, which is an error of the order of one in the observations."""
    found, rng, draws = one_row(counts, others), np.random.default_rng(3), 10**6
    n, m, card = np.array(counts) + 0.5, sum(counts), len(counts)
    p = rng.dirichlet(n, draws)
    w = rng.beta(m + 0.5, others + 0.5, (draws, 1))
    usual = np.full(card, 1 / card)
    expected = usual + like_seen * (n / n.sum() - usual)
    r = rng.dirichlet(guess * expected, draws) + like_seen * (p - n / n.sum())
    mixed = w * p + (1 - w) * r
    means = found.means[degree, 0]
    assert means == pytest.approx(mixed.mean(axis=0), abs=5 * mixed.std() / draws**0.5)
    variance = (1 - (means**2).sum()) / (found.weights[degree, 0, 0] + 1)
    assert variance == pytest.approx(mixed.var(axis=0).sum(), rel=2 / sum(counts) + 0.01)


def test_the_more_often_the_value_was_seen_the_less_is_unknown() -> None:
    """In the limit the row is what observations show, or nothing but the guess; own outcomes overrule the guess."""
    for degree, (like_seen, guess) in enumerate((STRONG, WEAK)):
        often = one_row([2e6, 8e6], 0)
        assert often.means[degree, 0, 1] == pytest.approx(0.8, abs=1e-5)
        assert often.weights[degree, 0, 0] > 1e6
        rare = one_row([200.0, 800.0], 1e9)
        assert rare.means[degree, 0, 1] == pytest.approx(0.5 + like_seen * (800.5 / 1001 - 0.5), abs=1e-4)
        assert guess / 2 < rare.weights[degree, 0, 0] < guess * 1.5
        nothing = one_row([0.0, 0.0], 0)
        assert nothing.means[degree, 0].tolist() == [0.5, 0.5]
        assert 1 <= nothing.weights[degree, 0, 0] < 3
        assert one_row([0.0, 0.0], 0, usual=0.1).means[degree, 0, 1] == pytest.approx(0.1)


@pytest.mark.parametrize(("weight", "low", "high"), [(1.0, 1.0, 2.0), (4.0, 2.5, 6.0), (200.0, 13.0, 16.0)])
def test_how_alike_the_rows_of_observations_are_is_learnt(weight: float, low: float, high: float) -> None:
    """400 rows of 50 outcomes around 0.3: the learnt weight is the one they were drawn with, within 1 to 16."""
    rng, number = np.random.default_rng(4), 400
    won = rng.binomial(50, rng.beta(0.3 * weight, 0.7 * weight, number)).astype(float)
    counts = np.stack([50 - won, won], axis=1).reshape(1, -1)
    seen, two = Seen(counts, counts[:, ::2], counts[:, ::2]), np.full(number, 2)
    same = np.zeros(number, dtype=np.intp)
    rows = Rows(2 * np.arange(number), two, two, same + 1, same, same[:1])
    found = alike(seen, rows, np.tile([0.7, 0.3], (1, number)))
    assert low <= found.min() == found.max() <= high


LOG = [[0, 0]] * 400 + [[0, 1]] * 200 + [[1, 0]] * 50 + [[1, 1]] * 350


def after(outcomes: list[list[int]], log: list[list[int]] = LOG) -> tuple[PooledEstimator, Evidence]:
    """A bow with a log of observations, and these outcomes of do(X=1)."""
    problem = Problem("X -> Y; X <-> Y", "Y", 100)
    estimator = PooledEstimator(problem)
    evidence = Evidence.none(problem, estimator.tables, 1)
    if log:
        add(evidence, 0, log)
    if outcomes:
        add(evidence, 2, outcomes)
    return estimator, evidence


def priors_by_degree() -> Array:
    """Successes and failures of the beta priors of do(X=0) and do(X=1) after the log: axes (degree, arm, value)."""
    rows = [one_row([400.0, 200.0], 400), one_row([50.0, 350.0], 600)]
    return np.stack([row.means[:, 0] * row.weights[:, 0] for row in rows], axis=1)


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (2, 14), (5, 35), (30, 10)])
def test_pulls_of_a_value_tell_about_the_other_ones_how_strongly_hidden_causes_act(lost: int, won: int) -> None:
    """Means and variances of both options are those of the mixture over degrees, each as likely as it makes the
    outcomes: with lots of pulls that agree with the log, the option without pulls follows its log more closely."""
    estimator, evidence = after([[1, 0]] * lost + [[1, 1]] * won)
    priors = priors_by_degree()
    likelihoods = [beta_function(lost + one[1, 0], won + one[1, 1]) / beta_function(*one[1]) for one in priors]
    chances = np.array(likelihoods) / sum(likelihoods)
    tables = estimator.tables_after(evidence)
    known = estimator.known(tables)
    for arm, own in ((1, (0, 0)), (2, (lost, won))):
        shapes = priors[:, arm - 1] + own
        totals = shapes.sum(axis=1)
        means = shapes[:, 1] / totals
        mean = chances @ means
        variance = chances @ (means * (1 - means) / (totals + 1) + (means - mean) ** 2)
        assert known.means[arm, 0] == pytest.approx(mean)
        assert known.variances[arm, 0] == pytest.approx(variance)
    draws = estimator.stated_draws(evidence, known, 40_000, np.random.default_rng(1))[1]
    mean, spread = draws.mean(), draws.std()  # the usual reward of answers is that of the log, 0.55, in place of 0.5
    assert mean == pytest.approx(known.means[1, 0], abs=0.03)
    assert spread == pytest.approx(known.variances[1, 0] ** 0.5, rel=0.1)


def log_of_rows(rows: list[tuple[int, int]], weight: float) -> float:
    """The logarithm of how likely rows of failures and successes are, if they lie so close around the mean of all."""
    lost, won = (sum(row[k] for row in rows) + 0.5 for k in (0, 1))
    a, b = weight * lost / (lost + won), weight * won / (lost + won)
    return sum(log_beta(m + a, n + b) - log_beta(a, b) for m, n in rows)


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def beta_function(a: float, b: float) -> float:
    return math.exp(log_beta(a, b))


@pytest.mark.parametrize(
    ("shares", "low", "high"),
    [
        ((0.02, 0.97, 0.99, 0.01), 0.7, 0.751),  # the causes that are seen act strongly, so hidden ones may, too
        ((0.55, 0.5, 0.45, 0.5), 0.249, 0.3),
        ((0.22, 0.78, 0.22, 0.78), 0.5, 0.6),
    ],
)
def test_rows_that_differ_are_a_hint_at_strong_confounding(shares: tuple[float, ...], low: float, high: float) -> None:
    """The probability that hidden causes act strongly, before any pull: never below a quarter, nor above three."""
    assert low <= strongly(shares)[0] <= high


def test_values_of_what_is_set_are_no_hint() -> None:
    """Hidden causes may make rows with different values alike, as in LaLonde's data."""
    assert strongly((0.84, 0.76), same=1).tolist() == [0.5, 0.5]


def test_a_table_of_two_options_has_no_hint_beside_another_that_has_one() -> None:
    counts = np.array([[160.0, 840, 240, 760, *[500.0] * 8]])
    seen, two = Seen(counts, np.full((1, 6), 1000.0), np.full((1, 6), 2000.0)), np.full(6, 2)
    same, table = np.array([1, 1, 2, 2, 2, 2]), np.array([0, 0, 1, 1, 1, 1])
    rows = Rows(2 * np.arange(6), two, two, same, table, np.array([0, 2]))
    degrees = prior(seen, rows, np.array([[0.2, 0.8] * 2 + [0.5] * 8]), np.ones(6)).degrees[0, 0]
    assert degrees.tolist() == pytest.approx([0.5, 0.5, 0.25, 0.25, 0.25, 0.25])


def test_causes_that_do_nothing_hardly_hint_at_weak_confounding() -> None:
    """Each row eight times, as with three causes that do nothing: the hint is that of three rows, not of sixteen."""
    found, rows = strongly((0.2, 0.8) * 8), [(800, 200), (200, 800)] * 8
    ratio = math.exp(3 / 16 * (log_of_rows(rows, 8.0) - log_of_rows(rows, 1.0)))
    assert found == pytest.approx([1 / (1 + ratio)] * 16, rel=1e-3)


def strongly(shares: tuple[float, ...], same: int = 2) -> Array:
    """How likely strong confounding is where 1,000 observations of each row have these shares of successes, so many
    rows having the same value of what is set."""
    number, none = len(shares), np.zeros(len(shares), dtype=np.intp)
    counts = np.array([[1000 * part for share in shares for part in (1 - share, share)]])
    seen, two = Seen(counts, np.full((1, number), 1000.0), np.full((1, number), 2000.0)), np.full(number, 2)
    rows = Rows(2 * np.arange(number), two, two, none + same, none, none[:1])
    centre = np.tile([1 - np.mean(shares), np.mean(shares)], (1, number))
    found: Array = prior(seen, rows, centre, np.ones(number)).degrees[0, 0]
    return found


def test_pulls_that_agree_with_the_log_make_it_more_believed_and_others_less() -> None:
    def weight_of_the_log(outcomes: list[list[int]]) -> float:
        estimator, evidence = after(outcomes)
        known = estimator.stated(evidence)
        return float(estimator.from_log(evidence, known)[0, 1])  # of do(X=0), which has no pulls

    agree, start, disagree = map(weight_of_the_log, ([[1, 0]] * 12 + [[1, 1]] * 88, [], [[1, 0]] * 50 + [[1, 1]] * 50))
    assert disagree < start - 0.03 < start + 0.03 < agree


def test_a_draw_has_one_degree_for_a_table_as_often_as_it_is_likely() -> None:
    """Of two tables, the first with three rows: 20,000 draws, each of which takes the parameters of one degree."""
    table = np.array([0, 0, 0, 1])
    rows = Rows(2 * np.arange(4), np.full(4, 2), np.full(4, 2), np.full(4, 1), table, np.array([0, 3]))
    degrees = np.array([[0.2, 0.2, 0.2, 0.9], [0.8, 0.8, 0.8, 0.1]])[:, np.newaxis]
    by_degree = np.stack([np.full((1, 8), 1.0), np.full((1, 8), 2.0)])
    known = Learnt(none := np.zeros((1, 8)), none, none, none, by_degree, degrees)
    drawn = drawn_shapes(known, rows, 20_000, np.random.default_rng(0))
    assert (drawn[:, :6] == drawn[:, :1]).all()
    assert (drawn == 1).mean(axis=0)[[0, 6]] == pytest.approx([0.2, 0.9], abs=5 * 0.4 / 20_000**0.5)


@pytest.mark.parametrize(("observations", "pulls", "unknown"), [(0, 0, True), (200, 0, False), (0, 20, False)])
def test_nothing_is_known_of_a_confounded_option_without_observations_and_pulls(
    observations: int, pulls: int, unknown: bool
) -> None:
    estimator, evidence = after([[1, 1]] * pulls, [[0, 0], [1, 1]] * (observations // 2))
    assert estimator.rests_on_prior(evidence, estimator.stated(evidence))[0, 2] == unknown


def add(evidence: Evidence, arm: int, outcomes: list[list[int]]) -> None:
    number = len(outcomes)
    codes, rows = np.array(outcomes), np.zeros(number, dtype=np.intp)
    evidence.add(rows, np.full(number, arm), codes, codes[:, -1].astype(float), np.arange(number))


@pytest.mark.parametrize(
    ("graph", "number"),
    [
        ("X -> Y; X <-> Y", 2),  # by the values of X
        ("Z -> X -> Y; Z -> Y; X <-> Y", 4),
        ("X -> M -> Y; X <-> M", 2),
        ("Z -> X -> Y; Z -> Y", 0),  # observations identify everything
        ("X -> M -> Y; X <-> Y", 0),  # the private table stands beside Tian's formula
        ("X -> M -> Y; X -> Y; X <-> M; X <-> Y", 2 + 4),  # also P(Y | X, M): M follows X and is confounded with it
    ],
)
def test_which_tables_observations_inform(graph: str, number: int) -> None:
    assert len(informing(Problem(graph, "Y", 100, intervenable=["X"]))) == number


def test_a_batch_has_the_bits_of_its_rows() -> None:
    problem = Problem("Z -> X -> Y; Z -> Y; X <-> Y", "Y", 100, objective="simple")
    estimator, rng = PooledEstimator(problem), np.random.default_rng(2)
    evidence = Evidence.none(problem, estimator.tables, 5)
    evidence.counts += rng.integers(0, 9, evidence.counts.shape)
    together = estimator.shapes(evidence)
    alone = [estimator.shapes(evidence.take(np.array([i]))) for i in range(5)]
    np.testing.assert_array_equal(together, np.concatenate(alone))


@pytest.mark.parametrize("causes", [0, 2, 4])
def test_causes_that_do_nothing_do_not_make_a_confounded_option_sure(causes: int) -> None:
    """2,000 rows of a log in which X harms because it goes to those who lose anyway; the truth is 0.61. However many
    conditions the reward has, the log leaves do(X=1) open, and 400 experiments settle it."""
    rng, names = np.random.default_rng(1), [f"N{i}" for i in range(causes)]
    problem = Problem(
        f"X <-> Y; {{{', '.join([*names, 'X'])}}} -> Y",
        "Y",
        budget=500,
        objective="simple",
        intervenable=["X"],
        domains={name: [0, 1, 2, 3] for name in names},
    )

    def rows(number: int, is_set: bool) -> dict[str, list[object]]:
        hidden = rng.random(number) < 0.35
        x = np.ones(number, dtype=int) if is_set else (rng.random(number) < np.where(hidden, 0.6, 0.15)).astype(int)
        y = (rng.random(number) < 0.55 + 0.2 * x - 0.4 * hidden).astype(int)
        return {**{name: rng.integers(0, 4, number).tolist() for name in names}, "X": x.tolist(), "Y": y.tolist()}

    with Study.create(":memory:", problem) as study:
        study.observe(rows(2000, is_set=False), name="log")
        before = study.status().arms[-1]
        study.observe({**rows(400, is_set=True), "intervention": ["do(X=1)"] * 400}, name="experiment")
        after = study.status().arms[-1]
    assert before.low < 0.3 < 0.61 < before.high
    assert after.low < 0.61 < after.high
    assert (after.from_log or 0.0) < 0.5


def test_a_log_tells_as_much_about_options_that_set_two_variables() -> None:
    """People mostly choose A=1 by themselves, so the log leaves little open about do(A=1, B=b), and means stay within
    that, even if one pull goes against it."""
    rng = np.random.default_rng(3)
    hidden, b = rng.random(5000) < 0.5, rng.integers(0, 2, 5000)
    a = (rng.random(5000) < np.where(hidden, 0.95, 0.85)).astype(int)
    y = (rng.random(5000) < 0.2 + 0.3 * a * b + 0.2 * hidden).astype(int)
    problem = Problem("{A, B} -> Y; A <-> Y", "Y", budget=100, objective="simple", most_at_once=2)
    with Study.create(":memory:", problem) as study:
        study.observe({"A": a.tolist(), "B": b.tolist(), "Y": y.tolist()}, name="log")
        before = study.status().arms
        study.record("do(A=1, B=1)", {"A": 1, "B": 1, "Y": 0})
        after = study.status().arms
    for b_is, truth in enumerate((0.3, 0.6)):
        for arms in (before, after):
            (option,) = (one for one in arms if one.arm == f"do(A=1, B={b_is})")
            assert option.bounds is not None
            assert option.from_log is not None
            assert option.bounds.low <= option.mean <= option.bounds.high
            assert option.low < truth < option.high
            assert option.from_log > 0.5
