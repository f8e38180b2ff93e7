"""causal-thompson: joint draws, what is observed instead of pulled, aliases, and the guard against a wrong graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import dobandit as db
from dobandit import worlds
from dobandit.chance import Chance
from dobandit.policies import View
from dobandit.policies.causal_thompson import CausalThompson
from dobandit.problem import Problem
from dobandit.worlds import World
from dobandit.worlds.graphs import N6
from tests.policies.views import evidence


def test_a_draw_of_the_tables_is_a_draw_of_every_arm() -> None:
    """On X -> Y: do(X=x) is a Beta variate, closer to its mean, and do() the mixture of the two by a draw of P(X), in
    every row; where the prior may be wrong, all move up or down together."""
    problem = Problem("X -> Y", "Y", budget=100)
    seen = [("do()", {"X": x, "Y": y}) for x, y in [(0, 0)] * 5 + [(0, 1)] * 3 + [(1, 1)] * 7 + [(1, 0)] * 2]
    rows, made = 20_000, CausalThompson().compile(problem)
    view = evidence(made, seen, rows)
    state = made.start(rows)._replace(narrow=np.full((rows, 3), 0.7))
    drawn, means = made._drawn_and_means(made.graphs.given, view, state, Chance(0, "policy"))
    exact = [0.5 * 0 + (8.5 / 18) * (3.5 / 9) + (9.5 / 18) * (7.5 / 10), 3.5 / 9, 7.5 / 10]
    np.testing.assert_allclose(means, np.tile(exact, (rows, 1)), rtol=1e-12)
    for arm, (a, b) in ((1, (3.5, 5.5)), (2, (7.5, 2.5))):
        variance = 0.7**2 * a * b / ((a + b) ** 2 * (a + b + 1))
        assert abs(drawn[:, arm].mean() - a / (a + b)) < 4 * np.sqrt(variance / rows)
        assert drawn[:, arm].var() == pytest.approx(variance, rel=0.05)
    full = means + (drawn - means) / 0.7
    low, high = full[:, 1:].min(axis=1), full[:, 1:].max(axis=1)
    assert ((low - 1e-12 <= full[:, 0]) & (full[:, 0] <= high + 1e-12)).all()
    by_prior = np.tile([0.0, 0.1, 0.2], (rows, 1))
    moved = made._drawn_and_means(made.graphs.given, view, state._replace(by_prior=by_prior), Chance(0, "policy"))[0]
    shift = (moved - drawn) / 0.25  # all draws move by a quarter, at most, of how far the prior may be off
    np.testing.assert_allclose(shift, np.outer(shift[:, 2] / 0.2, [0.0, 0.1, 0.2]), atol=1e-12)
    assert abs(shift[:, 2].mean()) < 4 * 0.2 / np.sqrt(3 * rows)
    assert 0.199 < np.abs(shift[:, 2]).max() <= 0.2


def test_draws_come_closer_to_the_mean_of_an_arm_that_is_known_well() -> None:
    """By hand for a root that was set sixteen times: Beta(8.5, 8.5), and half a prior's weight of seventeen. A thousand
    times as many pulls are taken to be still to come, and a decision is kept for a thousandth of the pulls."""
    made = CausalThompson().compile(Problem("X -> Y", "Y", budget=100, default_cost=2))
    view = evidence(made, [("do(X=1)", {"X": 1, "Y": i % 2}) for i in range(16)])
    narrow = made.choose(view, made.start(1), Chance(0, "policy")).state.narrow[0]
    own = (0.25 / 18 + (0.5 / 17) ** 2) / 0.25
    assert narrow[2] == pytest.approx(np.sqrt(np.log1p(16_000 * own) / np.log1p(16_000)))
    assert narrow[2] < narrow[0] <= narrow[1] == 1  # X=0 was never seen, and do() is half of both
    later = made.choose(replace(view, times=np.array([2000])), made.start(1), Chance(0, "policy"))
    assert later.repeats is not None
    assert later.repeats.tolist() == [3]  # so many pulls for one draw, which dares more
    assert later.state.due.tolist() == [2201]  # weights are computed again after a tenth more pulls
    dared = np.sqrt(np.log1p(16_000 * own) / np.log1p(16_000 / 3))
    assert later.state.narrow[0, 2] == pytest.approx(dared)
    assert dared > narrow[2]


def test_where_variables_are_set_together_draws_are_wide_until_an_arm_was_tried() -> None:
    """By hand, as above, for a pair that was set forty times; it is compared with an arm that has 25 pulls of its own.
    That is so however many pulls there were, up to ten thousand."""
    made = CausalThompson().compile(Problem("{X, Z} -> Y", "Y", budget=100, default_cost=2, most_at_once=2))
    pair = [str(arm) for arm in made.problem.arms].index("do(X=1, Z=1)")
    view = evidence(made, [("do(X=1, Z=1)", {"X": 1, "Z": 1, "Y": i % 2}) for i in range(40)])
    narrow = made.choose(view, made.start(1), Chance(0, "policy")).state.narrow[0]
    own = (0.25 / 42 + (0.5 / 41) ** 2) / 0.25
    assert narrow[pair] == pytest.approx(np.log1p(1e5 * own) / np.log1p(4000))
    assert np.all(np.delete(narrow, pair) == 1)
    few = evidence(made, [("do(X=1, Z=1)", {"X": 1, "Z": 1, "Y": i % 2}) for i in range(16)])
    assert made.choose(few, made.start(1), Chance(0, "policy")).state.narrow[0, pair] == 1


class Recorder(Chance):
    """Chance that remembers the numbers of the draws that were asked for."""

    def __init__(self) -> None:
        super().__init__(0, "policy")
        self.asked: list[list[int]] = []  # one number for all rows, or one for each

    def gammas(
        self, trials: NDArray[np.intp], round_: int | NDArray[np.intp], shapes: NDArray[np.float64], part: str = ""
    ) -> NDArray[np.float64]:
        self.asked.append(np.ravel(round_).tolist())
        return np.ones(shapes.shape)


def test_every_decision_has_draws_of_its_own() -> None:
    """Numbered without gaps while decisions are kept equally long, whether rows are in step or not."""
    made = CausalThompson().compile(Problem("X -> Y", "Y", budget=10_000))
    view, chance = evidence(made, [], rows=2), Recorder()
    times = [900]
    while times[-1] < 3100:
        choice = made.choose(replace(view, times=np.full(2, times[-1])), made.start(2), chance)
        assert choice.repeats is not None
        times.append(times[-1] + int(choice.repeats[0]))
    assert np.diff(times).tolist() == [1 + time // 1000 for time in times[:-1]]
    steps = np.diff([number for (number,) in chance.asked])
    assert (steps >= 1).all()
    assert (steps > 1).sum() <= 3  # at 1000, 2000 and 3000 decisions begin to be kept for longer
    for time, (number,) in zip(times[:-1:50], chance.asked[::50], strict=True):
        apart = Recorder()
        made.choose(replace(view, times=np.array([time, 0])), made.start(2), apart)
        assert apart.asked == [[number, 0]]


def test_the_choice_by_plain_loops() -> None:
    """Optimism, do() least of all drawn below its mean, idle arms, and what is observed instead of pulled: where twice
    what an observation teaches is worth its price, and a pull loses one hundredth at least."""
    problem, rows = Problem("Z -> X -> Y; W", "Y", budget=1000, default_cost=1.3), 2000
    made = CausalThompson().compile(problem)
    codes = np.random.default_rng(2).integers(0, 2, (8, 3))
    seen = [("do()", {"Z": z, "X": x, "Y": y, "W": 0}) for z, x, y in codes.tolist()]
    view = evidence(made, [*seen, *[("do(X=1)", {"Z": 0, "X": 1, "Y": i % 2, "W": 0}) for i in range(4)]], rows)
    view.costs[:, 1:5] = np.random.default_rng(3).uniform(0.9, 1.2, (rows, 4))  # about what an observation costs
    choice = made.choose(view, made.start(rows), Chance(3, "policy"))
    drawn, means = made._drawn_and_means(made.graphs.given, view, choice.state, Chance(3, "policy"))
    idle = [k for k, arm in enumerate(problem.arms) if arm.variables == ("W",)]
    differs = {"mirrored": 0, "optimism": 0, "instead": 0}
    for r in range(rows):
        costs, d, e, as_good = view.costs[r], drawn[r], means[r], choice.state.as_good[r]
        index = [max(d[k], e[k]) / costs[k] for k in range(len(costs))]
        one_sided = index[0]
        index[0] = (e[0] + abs(d[0] - e[0])) / costs[0]
        allowed = [k for k in range(len(costs)) if k not in idle]
        wanted = max(allowed, key=lambda k: index[k])
        differs["mirrored"] += wanted == 0 and one_sided < max(index[k] for k in allowed if k)
        differs["optimism"] += wanted != max(allowed, key=lambda k: d[k] / costs[k])
        greedy = max(range(len(costs)), key=lambda k: e[k] / costs[k])
        if wanted not in (0, greedy):
            price = e[greedy] / costs[greedy]
            loss, watching = (max(price * costs[k] - e[k], 0) + 0.01 for k in (wanted, 0))
            if 2 * as_good[wanted] * loss >= watching:
                wanted, differs["instead"] = 0, differs["instead"] + 1
        assert choice.arm[r] == wanted
    assert min(differs.values()) >= 5  # each rule has decided something


def test_pooling_beats_arms_that_learn_alone() -> None:
    problem = Problem(N6, "Y", budget=600, default_cost={"choose": [2, 3]})
    batch = World.stack(worlds.xor(N6, seed) for seed in range(64))
    r = db.simulate(problem, batch, ["causal-thompson", "thompson"], 64, seed=5)
    assert r.regret["causal-thompson"].mean() < 0.25 * r.regret["thompson"].mean()


def test_aliases_are_pulled_only_where_they_are_cheaper() -> None:
    """Z comes after Y: setting it changes nothing, and costs less than watching only in the second problem."""
    world = worlds.xor("X -> Y -> Z", 0)
    for cost, wanted in ((1.0, False), (0.5, True)):
        problem = Problem("X -> Y -> Z", "Y", budget=100, default_cost=3, costs={"do(Z=0)": cost})
        pulls = db.simulate(problem, world, ["causal-thompson"], 16).pulls["causal-thompson"]
        named = [str(a) for a in problem.arms]
        assert bool(pulls[..., named.index("do(Z=0)")].any()) == wanted
        assert not pulls[..., named.index("do(Z=1)")].any()


def test_what_observations_teach_is_not_bought() -> None:
    """At twenty times the price of watching, nothing is pulled to learn: with X=1 half of the time, watching tells."""
    problem = Problem("X -> Y", "Y", budget=60, default_cost=20)
    world = worlds.from_tables("X -> Y", {"X": ([], [0.5, 0.5]), "Y": (["X"], [[0.6, 0.4], [0.4, 0.6]])})
    pulls = db.simulate(problem, world, ["causal-thompson"], 32).pulls["causal-thompson"]
    assert (pulls[..., 0] == 60).all()


def test_an_arm_that_contradicts_the_graph_is_judged_by_its_own_rewards() -> None:
    """Watching says that X=1 goes with Y=1, setting it says the opposite: something hidden acts on both."""
    problem = Problem("X -> Y", "Y", budget=1000)
    watched = [("do()", {"X": x, "Y": x}) for x in (0, 1)] * 100
    tried = [("do(X=1)", {"X": 1, "Y": 0})] * 40
    made = CausalThompson().compile(problem)
    view = evidence(made, watched + tried, rows=2)
    choice = made.choose(view, made.start(2), Chance(0, "policy"))
    off = made.contradictions(view, choice.state)[1]
    assert [str(problem.arms[k]) for k in np.flatnonzero(off)] == ["do(X=1)"]
    assert off.max() > 4
    means = made._drawn_and_means(made.graphs.given, view, choice.state, Chance(0, "policy"))[1]
    assert means[0, 2] == pytest.approx(0.5 / 41)
    trusting = CausalThompson(guard=False).compile(problem)
    unmoved = trusting.choose(view, trusting.start(2), Chance(0, "policy")).state
    assert not trusting.contradictions(view, unmoved).any()


def test_pending_pulls_are_no_evidence() -> None:
    problem = Problem(N6, "Y", budget=1000, default_cost=2)
    made = CausalThompson().compile(problem)
    seen = [("do()", {v: i % 2 for i, v in enumerate(N6.variables)})] * 10
    view = evidence(made, seen, 3)
    waiting = View(**{**vars(view), "pulls": view.pulls + 2})
    choices = [made.choose(v, made.start(3), Chance(1, "policy")) for v in (view, waiting)]
    np.testing.assert_array_equal(choices[0].arm, choices[1].arm)
