"""Draws agree with the exact distributions, and with themselves whatever the company they are made in."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

from dobandit.chance import generator, uniforms
from dobandit.errors import ArmError, DobanditError, UnknownVariable
from dobandit.graph import Graph
from dobandit.problem import Arm, Problem, Value
from dobandit.worlds import World, from_tables, parallel, random, sampling, xor
from tests import named_graphs as named

LABELS: dict[str, list[Value]] = {"X": ["low", "mid", "high"], "M": [10, 20, 30, 40]}
FRONT_DOOR = random(named.FRONT_DOOR, seed=7, domains=LABELS)


def check_frequencies(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> None:
    """Pearson's chi-square stays within five standard deviations of its mean, and zeros stay zeros."""
    n, possible = counts.sum(), expected > 1e-15
    assert not counts[~possible].any()
    mean = n * expected[possible]
    chi2 = ((counts[possible] - mean) ** 2 / mean).sum()
    freedom = max(possible.sum() - 1, 1)
    assert chi2 < freedom + 5 * math.sqrt(2 * freedom)


def counted(rows: dict[str, NDArray[np.int64] | NDArray[np.str_]], world: World) -> NDArray[np.int64]:
    variables = world.graph.variables
    codes = [np.array([world.domains[v].index(str(x)) for x in rows[v]]) for v in variables]
    counts = np.zeros([len(world.domains[v]) for v in variables], dtype=np.int64)
    np.add.at(counts, tuple(codes), 1)
    return counts


@pytest.mark.parametrize(
    ("world", "arm"),
    [
        (FRONT_DOOR, "do()"),
        (FRONT_DOOR, "do(X=mid)"),
        (FRONT_DOOR, "do(M=40)"),
        (xor(named.FIG6, seed=2), "do()"),
        (xor(named.FIG7, seed=2), "do(X4=1)"),
        (parallel(n=4, p=[0, 0.3, 1, 0.5], epsilon=0.4), "do()"),
        (parallel(n=4, p=[0.1, 0.3, 1, 0.5], epsilon=0.4), "do(X3=0)"),
    ],
    ids=str,
)
def test_samples_have_the_exact_distribution(world: World, arm: str) -> None:
    rows = world.sample(arm, n=20_000, seed=5)
    assert list(rows) == list(world.graph.variables)
    check_frequencies(counted(rows, world), world.distribution(world.graph.variables, arm))


def test_a_sample_has_numbers_where_all_labels_are_numbers() -> None:
    rows = FRONT_DOOR.sample(Arm.of({"X": "low"}), n=50, seed=0)
    assert {v: column.dtype.kind for v, column in rows.items()} == {"X": "U", "M": "i", "Y": "i"}
    assert set(rows["X"].tolist()) == {"low"}
    assert set(rows["M"].tolist()) <= {10, 20, 30, 40}


def test_a_longer_sample_begins_with_the_shorter_one(monkeypatch: pytest.MonkeyPatch) -> None:
    short = FRONT_DOOR.sample("do()", n=100, seed=1)
    monkeypatch.setattr("dobandit.worlds.model._DRAWN_TOGETHER", 64)
    long = FRONT_DOOR.sample("do()", n=300, seed=1)
    assert all((long[v][:100] == short[v]).all() and len(long[v]) == 300 for v in long)
    assert [len(column) for column in FRONT_DOOR.sample("do()", n=0, seed=1).values()] == [0, 0, 0]


def test_other_seeds_give_other_samples() -> None:
    one, two = (FRONT_DOOR.sample("do()", n=50, seed=seed) for seed in (1, 2))
    assert any((one[v] != two[v]).any() for v in one)


def test_impossible_values_never_happen() -> None:
    """Not even at the last float below 1, which cumulated tenths do not exceed."""
    tenths = [0.1] * 10
    top = np.full((1, 1), np.nextafter(1, 0))
    assert np.cumsum(tenths)[-1] <= top.item()
    world = from_tables("X", {"X": ([], [*tenths, 0.0, 0.0])})
    assert world.step(np.array([[-1]]), top).item() == 9
    never_first = from_tables("X", {"X": ([], [0.0, 1.0])})
    assert never_first.step(np.array([[-1]]), np.zeros((1, 1))).item() == 1


# -- lock step ---------------------------------------------------------------------------------


def a_batch() -> tuple[World, Problem, NDArray[np.int64], NDArray[np.float64]]:
    """70 worlds, 12 rounds, an arm and uniforms for each."""
    domains = {"X4": ["a", "b", "c"]}
    world = World.stack(random(named.FIG7, seed, domains) for seed in range(70))
    problem = Problem(named.FIG7, "Y", budget=1, domains=domains)
    arms = generator(3, "test").integers(len(problem.arms), size=(12, 70))
    drawn = [uniforms(0, "outcome", block, range(12), len(world.nodes)) for block in range(2)]
    return world, problem, arms, np.concatenate(drawn, axis=1)[:, :70]


def one_at_a_time(world: World, do: dict[str, int], u: NDArray[np.float64]) -> list[int]:
    """The mechanism in plain Python: the first value whose cumulated probability exceeds the uniform."""
    values: dict[str, int] = {}
    for node, chance in zip(world.nodes, u, strict=True):
        row = node.table[(0, *(values[v] for v in node.inputs))]
        total, code = 0.0, 0
        for code, probability in enumerate(row):  # noqa: B007
            total += float(probability)
            if chance < total:
                break
        values[node.name] = do.get(node.name, code)
    return list(values.values())


def test_lock_step_is_every_trial_on_its_own() -> None:
    world, problem, arms, u = a_batch()
    clamps = world.clamps(problem.arms)
    drawn = world.step(clamps[:, arms], u)
    assert drawn.shape == (12, 70, len(world.nodes))
    assert drawn.dtype == np.int8
    for trial in range(0, 70, 7):
        alone = world.trial(trial)
        for r in range(12):
            arm = problem.arms[arms[r, trial]]
            do = arm.codes(world.domains)
            assert drawn[r, trial].tolist() == one_at_a_time(alone, do, u[r, trial])


def test_draws_do_not_depend_on_the_company(monkeypatch: pytest.MonkeyPatch) -> None:
    world, problem, arms, u = a_batch()
    clamps = world.clamps(problem.arms)
    drawn = world.step(clamps[:, arms], u)
    for r in range(12):  # round by round
        assert (world.step(clamps[:, arms[r]], u[r]) == drawn[r]).all()
    some = [3, 68, 11]  # other trials, in another order
    part = World.stack(world.trial(i) for i in some)
    assert (part.step(clamps[:, arms[:, some]], u[:, some]) == drawn[:, some]).all()
    monkeypatch.setattr(sampling, "CHUNK", 70 * 5)  # other stretches of rounds
    assert (world.step(clamps[:, arms], u) == drawn).all()


def test_one_world_serves_many_trials() -> None:
    world = xor(named.FIG7, seed=1)
    u = uniforms(0, "outcome", 0, range(3), len(world.nodes))
    same = World.stack([world] * 64)
    assert (world.step(np.array(-1), u) == same.step(np.array(-1), u)).all()


def test_an_arm_changes_only_what_comes_after_it() -> None:
    world = xor(named.FIG6, seed=1)
    u = uniforms(0, "outcome", 0, range(20), len(world.nodes))
    plain, acted = (world.step(world.clamps([arm])[..., np.newaxis], u) for arm in ("do()", "do(X4=1)"))
    changed = {v: bool((plain[..., i] != acted[..., i]).any()) for v, i in world.positions.items()}
    assert (acted[..., world.positions["X4"]] == 1).all()
    assert {v for v, differs in changed.items() if differs} == {"X4", *named.FIG6.descendants("X4")}


def test_clamps_name_nodes_and_codes() -> None:
    world = xor("A <-> B; A -> B", seed=0)
    clamps = world.clamps(["do()", "do(B=1)", Arm.of({"A": 0}), "do(A=1, B=0)"])
    assert clamps.T.tolist() == [[-1, -1, -1], [-1, -1, 1], [-1, 0, -1], [-1, 1, 0]]
    assert dict(world.positions) == {"A<->B": 0, "A": 1, "B": 2}


def test_a_variable_with_many_values() -> None:
    world = random("X -> Y", seed=0, domains={"X": range(300), "Y": range(2)})
    rows = world.sample("do()", n=2000, seed=0)
    assert rows["X"].max() > 200
    assert set(world.sample("do(X=299)", n=5, seed=0)["X"].tolist()) == {299}


def test_worlds_travel_between_processes() -> None:
    world = xor(named.FIG7, seed=3)
    before = world.sample("do()", 20, seed=0)
    after = pickle.loads(pickle.dumps(world)).sample("do()", 20, seed=0)
    assert all((before[v] == after[v]).all() for v in before)


@pytest.mark.parametrize(
    ("arm", "error", "message"),
    [
        ("do(X=7)", ArmError, r"do\(X=7\): X has no value 7; its values are low, mid and high"),
        ("do(Q=1)", UnknownVariable, r"there is no variable 'Q'"),
        ("do(X<->Y=1)", UnknownVariable, r"there is no variable 'X<->Y'"),
        ("X=1", ArmError, r"is not an arm"),
    ],
)
def test_arms_that_a_world_does_not_know(arm: str, error: type[DobanditError], message: str) -> None:
    with pytest.raises(error, match=message):
        FRONT_DOOR.sample(arm, n=1, seed=0)


def test_bad_calls_are_refused_in_sentences() -> None:
    batch = World.stack([xor("X -> Y", s) for s in range(3)])
    with pytest.raises(DobanditError, match=r"a batch of 3: use trial\(i\)"):
        batch.sample("do()", 5, seed=0)
    with pytest.raises(DobanditError, match="a whole number of rows, not -1"):
        batch.trial(0).sample("do()", -1, seed=0)
    with pytest.raises(DobanditError, match=r"uniforms of shape \(2, 2\) do not fit a world of 3 trials and 2 nodes"):
        batch.step(np.full((2, 2), -1), np.zeros((2, 2)))
    with pytest.raises(UnknownVariable):
        batch.distribution(["Z"])
    for names in ([], ["X", "X"]):
        with pytest.raises(DobanditError, match="a distribution is of one or more different variables"):
            batch.distribution(names)
    with pytest.raises(UnknownVariable):
        xor(Graph("X <-> Y"), 0).distribution(["X<->Y"])
