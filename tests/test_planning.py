"""Worlds that agree with a log, logs that every trial draws, and plans: what to expect of a budget."""

from __future__ import annotations

import json
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import dobandit as db
from dobandit.cli import group
from dobandit.errors import DobanditError, SimulationError
from dobandit.evidence import GroupedRows, Layout, count_rows, open_source, read_log
from dobandit.planning import Outlook, Plan
from dobandit.policies import policy
from dobandit.problem import Problem
from dobandit.simulation import LogRows, above_worst
from dobandit.suite import find
from dobandit.worlds import from_log, from_tables, two_values

ROWS = 20_000
IV = "Z -> X -> Y; X <-> Y"
WORLD = from_tables(
    "Z -> X -> Y; X <-> Y; Z -> W; W <-> Y",
    {
        "Z": ([], [0.4, 0.6]),
        "X": (["Z", "U"], [[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]]]),
        "W": (["Z", "V"], [[[0.8, 0.2], [0.4, 0.6]], [[0.6, 0.4], [0.2, 0.8]]]),
        "Y": (["X", "U", "V"], two_values([[[0.1, 0.3], [0.7, 0.9]], [[0.4, 0.5], [0.6, 0.8]]])),
    },
    {"U": ([0.5, 0.5], ["X", "Y"]), "V": ([0.7, 0.3], ["W", "Y"])},
)  # fmt: skip
PROBLEM = Problem(WORLD.graph, "Y", budget=100, objective="simple", default_cost=4)
LOG = WORLD.sample("do()", ROWS, seed=3)


# -- worlds that agree with a log --------------------------------------------------------------


def test_what_is_observed_in_the_worlds_is_what_the_log_says() -> None:
    variables = PROBLEM.graph.variables
    drawn = from_log(PROBLEM, LOG, draws=64)
    cells, _ = np.histogramdd(np.stack([LOG[v] for v in variables], 1).astype(float), bins=[2] * len(variables))
    off = np.abs(drawn.distribution(variables) - cells / ROWS).reshape(64, -1).sum(axis=1) / 2
    # A world differs by sampling error: at most as if each of the 16 cells were free.
    by_chance = np.sqrt(cells / ROWS * (1 - cells / ROWS) / ROWS).sum() / 2
    assert off.mean() < 2 * by_chance
    assert not (drawn.nodes[-1].table[0] == drawn.nodes[-1].table[1]).all()


def test_effects_are_those_of_the_log_or_lie_within_its_bounds() -> None:
    means = from_log(PROBLEM, LOG, draws=64).means(PROBLEM)
    open_ones = 0
    for k, row in enumerate(db.effects(PROBLEM, LOG).to_dicts()):
        if row["method"] != "none":
            width = row["high"] - row["low"]
            assert abs(means[:, k].mean() - row["mean"]) < width / 2
            assert means[:, k].std() < width  # 4 standard deviations of the log's own uncertainty
            continue
        open_ones += 1
        assert row["bounds"]["low"] < means[:, k].min()
        assert means[:, k].max() < row["bounds"]["high"]
        assert np.ptp(means[:, k]) > 0.02  # the worlds differ where the log cannot tell
    assert open_ones == 2


def test_a_true_effect_has_any_rank_among_those_of_the_worlds() -> None:
    """On worlds of the benchmark, whose tables are drawn from nearly the same prior."""
    ranks = []
    for i in range(12):
        world = find("bow").draw(np.random.default_rng(i), i)
        problem = Problem(world.graph, "Y", budget=1, domains=world.domains)
        drawn = from_log(problem, world.sample("do()", 2000, i), draws=64).means(problem)
        ranks.append((drawn < world.means(problem)).mean(axis=0).mean())  # effects of one world depend on each other
    assert abs(np.mean(ranks) - 0.5) < 4 * np.std(ranks) / len(ranks) ** 0.5
    assert 0.1 < np.std(ranks) < 0.35


def test_a_c_component_that_is_too_large_is_drawn_at_random_and_named() -> None:
    names = [f"X{i}" for i in range(9)]
    edges = "; ".join(f"{a} <-> {b}" for a, b in pairwise([*names, "Y"]))
    problem = Problem(f"Z -> X0; {edges}; X8 -> Y", "Y", budget=1)
    rng = np.random.default_rng(0)
    log = {v: rng.integers(0, 2, 400) for v in problem.graph.variables}
    with pytest.warns(UserWarning, match=r"X0, X1, .* have too many combinations of values"):
        drawn = from_log(problem, {**log, "Z": np.zeros(400, int)}, draws=8)
    assert drawn.distribution(["Z"])[:, 0].min() > 0.98  # the others are fitted


def test_a_log_that_no_hidden_cause_explains_is_named() -> None:
    z = np.repeat([0, 1], 500)
    impossible = {"Z": z, "X": np.zeros(1000, int), "Y": z}  # Z acts on Y through X alone, and X is constant
    with pytest.warns(UserWarning, match="X and Y depend on each other in the log"):
        from_log(Problem(IV, "Y", budget=1), impossible, draws=8)


def test_a_measured_reward_keeps_its_mean_and_most_of_its_variance() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 4000)
    y = np.where(rng.random(4000) < 0.1, rng.lognormal(3, 0.8, 4000), 0.0)
    problem = Problem("X -> Y", {"variable": "Y"}, budget=9)
    drawn = from_log(problem, {"X": x, "Y": y}, draws=64)
    assert "0" in drawn.domains["Y"]
    assert abs(drawn.means(problem)[:, 0].mean() - y.mean()) < y.std() / 4000**0.5
    levels, chances = np.array([float(v) for v in drawn.domains["Y"]]), drawn.distribution(["Y"]).mean(axis=0)
    variance = chances @ levels**2 - (chances @ levels) ** 2
    assert 0.8 < variance / y.var() < 1.1


def test_a_log_without_observations_is_refused() -> None:
    done = {"X": [0, 1], "Y": [0, 1], "intervention": ["do(X=0)", "do(X=1)"]}
    with pytest.raises(DobanditError, match="no complete plain observations"):
        from_log(Problem("X -> Y", "Y", budget=1), done)


# -- a log for every trial ---------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["Y", {"variable": "Y", "range": [-1, 3]}])
def test_rows_that_are_known_count_like_those_of_a_file(reward: Any) -> None:
    problem = Problem(IV, reward, budget=9)
    layout = Layout(problem, policy("causal-thompson").compile(problem).tables)
    rng = np.random.default_rng(2)
    z, x, y, number = (rng.integers(0, 2, 30) for _ in range(4))
    arms = np.where(z == 1, problem.arms.index(db.Arm.parse("do(Z=1)")), 0)
    rows = [np.repeat(column, number) for column in (z, x, y)]
    columns: dict[str, Any] = dict(zip("ZXY", rows, strict=True))
    columns["intervention"] = ["do(Z=1)" if k else "" for k in np.repeat(arms, number)]
    counted = count_rows(problem, layout, GroupedRows(arms, {"Z": z, "X": x}, y.astype(float), number.astype(float)))
    for ours, theirs in zip(counted, read_log(problem, open_source(columns), layout), strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_every_trial_has_a_log_of_its_own_whatever_the_batch() -> None:
    problem, world = Problem(IV, "Y", budget=9), lambda seed: db.worlds.random(IV, seed)
    one, other = (db.simulate(problem, world, ["causal-thompson"], 130, 5, None, 300, batch=b) for b in (64, 1024))
    assert (one.regret["causal-thompson"] == other.regret["causal-thompson"]).all()
    without = db.simulate(problem, world, ["causal-thompson"], 130, 5)
    assert one.regret["causal-thompson"].mean() < without.regret["causal-thompson"].mean()


def test_a_drawn_log_is_the_same_kind_of_log_where_cells_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, log = Problem(WORLD.graph, "Y", budget=30, objective="simple"), LogRows((500, 3, *[0] * 5))
    few = db.simulate(problem, WORLD, ["causal-explore"], 64, 1, None, log)
    monkeypatch.setattr("dobandit.simulation.logs.MOST_CELLS", 1)
    many = db.simulate(problem, WORLD, ["causal-explore"], 64, 1, None, log)
    means = [r.regret["causal-explore"].mean() for r in (few, many)]
    assert abs(means[0] - means[1]) < 4 * np.hypot(*(r.regret["causal-explore"].std() / 8 for r in (few, many)))


def test_a_simulator_gives_every_trial_a_log() -> None:
    class Simulator:
        def sample(self, arm: db.Arm, n: int, rng: np.random.Generator) -> Any:
            x = np.full(n, int(dict(arm.settings)["X"])) if arm.settings else rng.integers(0, 2, n)
            return {"X": x, "Y": (rng.random(n) < 0.2 + 0.6 * x).astype(int)}

    problem = Problem("X -> Y", "Y", budget=1, objective="simple", costs={"do()": 1}, default_cost=9)
    told = db.simulate(problem, Simulator(), ["causal-explore"], 64, evidence=500)
    assert told.regret["causal-explore"].max() < 0.02  # the log says it all: the budget pays for one observation


def test_a_log_without_rows_is_refused() -> None:
    with pytest.raises(SimulationError, match="a log has a whole number of rows, at least 1, not 0"):
        db.simulate(PROBLEM, WORLD, ["causal-explore"], 2, evidence=0)
    assert db.simulate(PROBLEM, WORLD, ["causal-explore"], 2, evidence=1).trials == 2


# -- plans -------------------------------------------------------------------------------------


def test_a_plan_is_the_mean_over_simulated_worlds() -> None:
    made = db.plan(PROBLEM, LOG, budgets=[10, 100], within=0.05, trials=64, seed=4)
    worlds = from_log(PROBLEM, LOG, 64, 4)
    played = db.simulate(PROBLEM, worlds, ["causal-explore"], 64, 4, [10, 100], ROWS)
    means = above_worst(PROBLEM, worlds)
    loss = means.max(axis=1, keepdims=True) - np.take_along_axis(means, played.recommended["causal-explore"], axis=1)
    assert [row.regret for row in made.rows] == pytest.approx(loss.mean(axis=0))
    assert [row.chance_within for row in made.rows] == pytest.approx((loss <= 0.05).mean(axis=0))
    assert [row.chance_best for row in made.rows] == pytest.approx((loss <= 1e-12).mean(axis=0))
    assert [row.log_rows for row in made.other_logs] == [0, 10 * ROWS]
    assert made.other_logs[0].regret > made.rows[1].regret  # without a log


def test_cumulative_plans_count_what_is_lost_on_the_way() -> None:
    problem = Problem(IV, "Y", budget=60, default_cost={"choose": [2, 3]})
    made = db.plan(problem, budgets=[60, 600], within=0.03, trials=64)
    worlds = db.worlds.World.stack(db.worlds.random(IV, db.simulation.trial_seed(0, "world", i)) for i in range(64))
    regret = db.simulate(problem, worlds, ["causal-thompson"], 64, 0, [60, 600]).regret["causal-thompson"]
    assert [row.regret for row in made.rows] == pytest.approx(regret.mean(axis=0))
    assert [row.chance_within for row in made.rows] == pytest.approx((regret / [60, 600] <= 0.03).mean(axis=0))
    assert made.rows[0].chance_best < made.rows[1].chance_best
    assert "lose at most 0.03 per unit of budget" in made.told()[0]


def test_the_budget_that_is_needed() -> None:
    def row(budget: float, name: str, chance: float) -> Outlook:
        return Outlook(budget, name, 0.1, 0.01, chance, chance, 0)

    chances = {"a": (0.5, 0.8, 0.95), "b": (0.5, 0.9, 0.85)}
    rows = [row(b, name, c) for name, found in chances.items() for b, c in zip((1, 2, 4), found, strict=True)]
    made = Plan("simple", rows, [], 0, 0.02, 0.9, 64, [])
    assert (made.needed_by("a"), made.needed_by("b"), made.needed) == (4, 2, 2)
    assert made.told()[0] == "a: About 4 for a 90% chance to name an option within 0.02 of the best."
    never = Plan("simple", rows[:2], [], 0, 0.02, 0.9, 64, [])
    assert never.needed is None
    assert never.told() == [
        "More than 2 for a 90% chance to name an option within 0.02 of the best: with 2 the chance is 80%."
    ]


def test_the_usual_limit_is_explained() -> None:
    problem = Problem("X -> Y", "Y", budget=10, objective="simple")
    explained = "The limit of 0.02 is 2% of the range of Y; set your own with --within."
    assert explained in db.plan(problem, budgets=[10], trials=2).assumptions
    assert explained not in db.plan(problem, budgets=[10], trials=2, within=0.02).assumptions


def test_the_usual_budgets_go_from_a_few_pulls_beyond_the_problems() -> None:
    problem = Problem("X -> Y", "Y", budget=70, objective="simple", default_cost=5)
    budgets = [row.budget for row in db.plan(problem, trials=2).rows]
    assert budgets == [6.2, 8.8, 12, 18, 25, 35, 49, 70, 99, 140, 200, 280, 400, 560]


def test_options_that_set_several_variables() -> None:
    problem = Problem(WORLD.graph, "Y", budget=20, objective="simple", together=[["X", "W"]])
    made = db.plan(problem, LOG, budgets=[20], trials=16)
    assert 0 <= made.rows[0].chance_best <= made.rows[0].chance_within <= 1


def test_measured_rewards_need_a_log_or_a_range() -> None:
    any_number = Problem("X -> Y", {"variable": "Y"}, budget=20, objective="simple")
    with pytest.raises(DobanditError, match="Y may be any number: give a log"):
        db.plan(any_number)
    rng = np.random.default_rng(5)
    log = {"X": rng.integers(0, 2, 200), "Y": rng.normal(10, 3, 200).round(2)}
    made = db.plan(any_number, log, budgets=[20], trials=16)
    assert made.within == pytest.approx(0.02 * np.ptp(log["Y"]), rel=0.5)  # the groups of numbers have a smaller range
    assert any("grouped into 16 values" in sentence for sentence in made.assumptions)
    ranged = Problem("X -> Y", {"variable": "Y", "range": [0, 50]}, budget=20, objective="simple")
    assert db.plan(ranged, budgets=[20], trials=16).within == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"chance": 1.5}, "chance: expected a number between 0 and 1"),
        ({"within": -1}, "within: expected a positive number"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: Any, told: str) -> None:
    with pytest.raises(SimulationError, match=told):
        db.plan(PROBLEM, **wrong)


def test_the_command(tmp_path: Path) -> None:
    file, log, figure = (tmp_path / name for name in ("p.toml", "log.csv", "plan.png"))
    file.write_text('objective = "simple"\nbudget = 40\nreward = "Y"\n[graph]\nedges = "X -> Y; X <-> Y"\n')
    log.write_text("X,Y\n" + "0,0\n0,1\n1,1\n" * 30)
    usual = ["plan", str(file), "--evidence", str(log), "--trials", "16", "--budget", "10", "--budget", "40"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ran = CliRunner().invoke(group, [*usual, "--json", "--plot", str(figure), "--policy", "all"])
    assert ran.exit_code == 0, ran.output
    document = json.loads(ran.stdout)
    assert {"budgets", "needed"} <= document.keys()
    keys = {"budget", "policy", "regret", "se", "chance_best", "chance_within"}
    assert all(row.keys() == keys for row in document["budgets"])
    assert {row["budget"] for row in document["budgets"]} == {10, 40}
    assert document["needed"] in (None, 10, 40)
    assert figure.read_bytes().startswith(b"\x89PNG")
    shown = CliRunner().invoke(group, usual)
    assert "for a 90% chance to name an option within 0.02 of the best" in shown.stdout
    assert "worlds on your graph that agree with the log" in shown.stdout
