"""What must hold for every policy, found by the registry itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit import worlds
from dobandit.chance import Chance
from dobandit.errors import PolicyError
from dobandit.policies import RECOMMENDED, Choice, Compiled, Reason, View, policies_for, policy, registered, spec_of
from dobandit.problem import Goal, Problem, RewardLike
from dobandit.simulation.engine import Setting, play
from dobandit.worlds import World
from tests.models import random_admg

VARIANTS = [
    *registered(),
    "f-kube[as_published=true]",
    "paper-cumulative[factors=relevant]",
    "paper-cumulative[split=random]",
    "paper-cumulative[index=printed]",
    "paper-simple[threshold=<]",
    "paper-simple[fewest_rows=5.0]",
    "srm[form=rounds]",
    "gamma-nb[explored=both-values]",
    "parallel-bandit[form=half]",
    "parallel-bandit[explored=both-values]",
    "parallel-bandit[pooled=true]",
    "successive-rejects[form=budget]",
    "successive-rejects[form=half]",
]
every_policy = pytest.mark.parametrize("name", VARIANTS)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Any graph, three-valued variables among them, real costs, budgets from nothing to a few dozen pulls."""
    graph = random_admg(np.random.default_rng(draw(st.integers(0, 10**6))), 2, 5)
    objective = draw(st.sampled_from(["cumulative", "simple"]))
    domains = {v: ["a", "b", "c"] for v in graph.variables[:-1] if draw(st.booleans())}
    unit = draw(st.sampled_from([0.01, 1.0]))
    cost = st.floats(0.4, 5).map(lambda c: c * unit)
    rules = ({"uniform": [0.5 * unit, 3 * unit]}, {"choose": [0.4 * unit, 0.9 * unit, 2 * unit]})
    return Problem(
        graph,
        graph.variables[-1],
        budget=draw(st.floats(0.005, 60)) * unit,
        objective=objective,
        domains=domains,
        default_cost=draw(st.one_of(cost, *map(st.just, rules))),
        costs={"do()": draw(cost)} if draw(st.booleans()) else None,
    )


@given(problems(), st.integers(0, 10**6))
@settings(derandomize=True, max_examples=40, deadline=None)
def test_no_policy_ever_overspends(problem: Problem, seed: int) -> None:
    """And none for cumulative regret stops while it can pay for an arm; a plan for simple regret may leave money."""
    names = [name for name in VARIANTS if policy(name).objective == problem.objective]
    budgets = [problem.budget / 3, problem.budget]
    r = db.simulate(
        problem, lambda s: worlds.random(problem.graph, s, problem.domains), names, 5, seed=seed, budgets=budgets
    )
    from dobandit.simulation import draw_costs

    cheapest = draw_costs([problem] * 5, seed).min(axis=1)
    for name in names:
        assert (r.spent[name] <= np.array(r.grid) + 1e-9).all(), name
        if problem.objective == "cumulative":
            assert (r.spent[name] + cheapest[:, np.newaxis] > np.array(r.grid) - 1e-9).all(), name
        assert (r.regret[name] >= -1e-9).all()


@every_policy
def test_bits_do_not_depend_on_batches_or_company(name: str) -> None:
    """130 trials (three blocks): alone or in company, all at once or block by block, the same numbers."""
    problem = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=60, objective=policy(name).objective,
                      default_cost={"uniform": [1, 2]})  # fmt: skip
    others = [other for other in policies_for(problem.objective) if other != name][:2]

    def run(policies: list[str], batch: int, trials: int) -> np.ndarray:
        found = db.simulate(
            problem, lambda s: worlds.random(problem.graph, s), policies, trials, seed=9, budgets=[20, 60], batch=batch
        )
        return found.pulls[name]

    alone = run([name], 1024, 130)
    np.testing.assert_array_equal(alone, run([*others, name], 64, 130))
    np.testing.assert_array_equal(alone[:70], run([name], 1024, 70))


@every_policy
def test_a_curve_is_made_of_single_runs(name: str) -> None:
    """Every budget of one run gives exactly what a run with that budget alone gives."""
    problem = Problem("Z -> X -> Y; Z -> Y", "Y", budget=80, objective=policy(name).objective, default_cost=2.5)
    world = worlds.random(problem.graph, seed=1)
    budgets = [0.5, 1, 3, 7.75, 20, 21, 40, 80]
    curve = db.simulate(problem, world, [name], 40, seed=2, budgets=budgets)
    for j, budget in enumerate(budgets):
        alone = db.simulate(problem, world, [name], 40, seed=2, budgets=[budget])
        np.testing.assert_array_equal(curve.pulls[name][:, j], alone.pulls[name][:, 0])
        np.testing.assert_array_equal(curve.recommended[name][:, j], alone.recommended[name][:, 0])


@every_policy
def test_it_learns(name: str) -> None:
    """Two arms that could not differ more: the good one is recommended."""
    problem = Problem("X -> Y", "Y", budget=400, objective=policy(name).objective, default_cost=1)
    world = worlds.from_tables("X -> Y", {"X": ([], [0.5, 0.5]), "Y": (["X"], [[0.9, 0.1], [0.1, 0.9]])})
    r = db.simulate(problem, world, [name], 64, seed=1)
    assert (r.recommended[name][:, 0] == 2).mean() >= 0.95


@pytest.mark.parametrize("name", [name for name in VARIANTS if "split=random" not in name])
@pytest.mark.parametrize("goal", ["max", "min"])
def test_rewards_in_any_units(name: str, goal: Goal) -> None:
    """A reward with three values worth -5, 0 and 20, or numbers in a range, to be made large or small. (The literal
    split needs two values, and says so: see below.)"""
    domains = {"Y": ["-5", "0", "20"]}
    world = worlds.random("X -> Y; X <-> Y", 3, domains)
    rewards: tuple[RewardLike, ...] = ("Y", {"variable": "Y", "range": [-10, 20]})
    for reward in rewards:
        stated = domains if reward == "Y" else None
        problem = Problem("X -> Y; X <-> Y", reward, 60, policy(name).objective, goal=goal, domains=stated)
        r = db.simulate(problem, world, [name], 8, seed=1)
        assert np.isfinite(r.regret[name]).all()
        assert (r.regret[name] >= -1e-9).all()


@every_policy
def test_nothing_to_do_but_observe(name: str) -> None:
    """A problem without interventions: do() is all there is."""
    problem = Problem("X -> Y", "Y", 20, policy(name).objective, intervenable=[])
    r = db.simulate(problem, worlds.xor("X -> Y", 0), [name], 3)
    assert (r.recommended[name] == 0).all()


@pytest.mark.parametrize("name", policies_for("simple"))
def test_who_knows_nothing_recommends_to_do_nothing(name: str) -> None:
    problem = Problem("X1 -> X2 -> Y; X1 -> Y", "Y", 0.5, "simple", default_cost=2)
    r = db.simulate(problem, worlds.random(problem.graph, 0), [name], 3)
    assert (r.spent[name] == 0).all()
    assert (r.recommended[name] == 0).all()


def test_the_literal_split_says_what_it_needs() -> None:
    problem = Problem("X -> Y", {"variable": "Y", "range": [0, 1]}, 20)
    with pytest.raises(PolicyError, match="needs a reward with two values"):
        db.simulate(problem, worlds.xor("X -> Y", 0), ["paper-cumulative[split=random]"], 2)


class Explained(Compiled[Any]):
    """A policy whose every choice is checked against the reason that it gives."""

    def __init__(self, inner: Compiled[Any]) -> None:
        super().__init__(inner.problem)
        self.inner, self.tables, self.independencies = inner, inner.tables, inner.independencies
        self.reasons: set[Reason] = set()

    def start(self, rows: int) -> Any:
        return self.inner.start(rows)

    def recommend(self, view: View, state: Any) -> Any:
        return self.inner.recommend(view, state)

    def choose(self, view: View, state: Any, chance: Chance) -> Choice[Any]:
        choice = self.inner.choose(view, state, chance)
        for r, arm in enumerate(choice.arm):
            reason, index = Reason(choice.info.reason[r]), choice.info.index
            self.reasons.add(reason)
            if index is None:
                assert reason is Reason.PLAN
                continue
            affordable = view.affordable[r]
            largest = np.flatnonzero(affordable & (index[r] == index[r][affordable].max()))
            assert {
                Reason.INDEX: largest.tolist() == [arm],
                Reason.TIE: arm in largest and len(largest) > 1,
                Reason.SWEEP: view.pulls[r, arm] == 0,
                Reason.OBSERVATION_DUE: arm == 0 and largest.tolist() != [0],
                Reason.OBSERVATION_TEACHES: arm == 0 and largest.tolist() != [0],
                Reason.NOTHING_TEACHES: arm in largest and view.costs[r, arm] == view.costs[r, affordable].min(),
            }[reason], (reason, arm, index[r])
        return choice


@every_policy
def test_every_choice_says_why(name: str) -> None:
    """The reason holds for the numbers beside it, and what a policy declares about itself is true."""
    made = policy(name)
    problem = Problem("Z -> X -> Y; Z -> Y", "Y", budget=60, objective=made.objective, default_cost=1.5)
    batch = World.stack(worlds.random(problem.graph, seed).fit(problem) for seed in range(16))
    rows = np.arange(16)
    costs = np.tile(np.array(problem.costs, dtype=float), (16, 1))
    compiled = Explained(made.compile(problem))
    play(made, Setting(problem, batch, rows, rows, costs, (60.0,), 3), compiled=compiled)
    assert made.has_phases == ("phase" in compiled.start(1)._fields) == (compiled.reasons == {Reason.PLAN})
    assert made.reads_logs == (compiled.inner.graphs is not None) == (made.guards_graph is True)


@every_policy
def test_names_round_trip(name: str) -> None:
    made = policy(name)
    assert spec_of(made) == name
    assert policy(name.upper().replace("-", "_")) == made if "=" not in name else True
    assert made.objective in ("cumulative", "simple")
    assert made.reference
    assert type(made).__doc__


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("f-cube", "there is no policy 'f-cube'; did you mean f-kube"),
        ("", "there is no policy"),
        ("f-kube[", "there is no policy"),
        ("f-kube[speed=3]", "unknown option 'speed'; f-kube has as_published"),
        ("f-kube[as_published=maybe]", "as_published is true or false, not 'maybe'"),
        ("paper-cumulative[split=sometimes]", "split is averaged or random"),
        ("paper-cumulative[split]", "unknown option 'split'"),
        ("paper-simple[fewest_rows=-3]", "fewest_rows is a number, at least 0, not '-3'"),
        ("paper-simple[fewest_rows=many]", "fewest_rows is a number, at least 0, not 'many'"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(spec: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        policy(spec)


def test_the_recommended_policies_are_of_their_objectives() -> None:
    assert {objective: policy(name).objective for objective, name in RECOMMENDED.items()} == {
        "cumulative": "cumulative",
        "simple": "simple",
    }
