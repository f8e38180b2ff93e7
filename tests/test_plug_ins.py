"""Policies, worlds and costs that users write themselves."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobandit as db
from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.errors import PolicyError, StudyError, WorldError
from dobandit.policies import Choice, Memoryless, View, pick, policy, recommended, spec_of, sweep_first
from dobandit.study import leader
from tests.conftest import Ran

PROBLEM = db.Problem("X -> Z -> Y", reward="Y", budget=60, default_cost=2)
WORLD = db.worlds.xor(PROBLEM.graph, seed=3)
TOML = """
budget = 40
reward = "Y"
[graph]
edges = "X -> Z -> Y"
[costs]
default = 2
[world]
model = "xor"
"""
MODULE = """
    from dataclasses import dataclass
    from dobandit import Policy
    from dobandit.policies import Memoryless, Choice, pick, recommended, sweep_first

    @dataclass(frozen=True)
    class Greedy(Policy):
        '''The best mean per cost so far.'''
        name, objective = "greedy", "cumulative"
        bonus: float = 0.0

        def compile(self, problem):
            return Compiled(problem, self.bonus)

    class Compiled(Memoryless):
        def __init__(self, problem, bonus):
            super().__init__(problem)
            self.bonus = bonus

        def choose(self, view, state, chance):
            arms, info = sweep_first(view, *pick((view.means + self.bonus) / view.costs, view, chance))
            return Choice(arms, None, state, info)

        def recommend(self, view, state):
            return recommended(view.means, view.costs)

    def frugal(counts, rewards, costs):
        '''The cheapest arm, always.'''
        return costs.argmin()
"""


@dataclass(frozen=True)
class Kube(db.Policy):
    """F-KUBE once more, as a plug-in."""

    name, objective = "kube", "cumulative"

    def compile(self, problem: db.Problem) -> _Kube:
        return _Kube(problem)


class _Kube(Memoryless):
    def choose(self, view: View, state: Any, chance: Chance) -> Choice[Any]:
        index = view.means + np.sqrt(2 * np.log(view.time + 1) / np.maximum(view.pulls, 1))
        return Choice(*sweep_first(view, *pick(index / view.costs, view, chance))[:1], None, state, _info(view))

    def recommend(self, view: View, state: Any) -> Indices:
        return recommended(view.means, view.costs)


def _info(view: View) -> Any:
    return pick(view.means, view, Chance(0, ""))[1]


def kube_of_one(counts: Array, rewards: Array, costs: Array) -> int:
    """The same for one trial; ties go to the first."""
    if (counts == 0).any():
        return int((counts == 0).argmax())
    return int(((rewards / counts + np.sqrt(2 * np.log(counts.sum() + 1) / counts)) / costs).argmax())


def at_random(counts: Array, rewards: Array, costs: Array, rng: np.random.Generator) -> int:
    return int(rng.integers(len(costs)))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of policies in the current folder."""
    name = f"plug_in_{tmp_path.name}".replace("-", "_").replace("[", "_").replace("]", "_")
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    (tmp_path / "problem.toml").write_text(TOML, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield name
    sys.modules.pop(name, None)


# -- objects and functions -----------------------------------------------------------------------------


def test_a_plug_in_with_the_rule_of_f_kube_pulls_the_same_arms() -> None:
    results = db.simulate(PROBLEM, WORLD, [Kube, kube_of_one, "f-kube"], trials=5)
    assert results.policies == ("kube", "kube-of-one", "f-kube")
    assert (results.pulls["kube"].sum(axis=2) > 0).all()
    assert np.abs(results.regret["kube-of-one"].mean() - results.regret["f-kube"].mean()) < 5  # ties differ


def test_random_choices_of_a_function_depend_on_trial_and_pull_alone() -> None:
    alone = db.simulate(PROBLEM, WORLD, [at_random], trials=70)
    among = db.simulate(PROBLEM, WORLD, ["ucb", at_random], trials=130, batch=64)
    assert (among.pulls["at-random"][:70] == alone.pulls["at-random"]).all()
    assert len({tuple(row) for row in alone.pulls["at-random"][:, 0].tolist()}) > 30


def test_a_function_sees_only_what_it_can_pay() -> None:
    seen: list[int] = []

    def watching(counts: Array, rewards: Array, costs: Array) -> int:
        seen.append(len(costs))
        return len(costs) - 1

    problem = db.Problem("X -> Y", reward="Y", budget=7, default_cost=2)
    results = db.simulate(problem, db.worlds.xor(problem.graph, seed=0), [watching], trials=1)
    assert seen == [3, 3, 3, 1]
    assert results.spent["watching"].tolist() == [[7.0]]


@pytest.mark.parametrize("wrong", [5, -1, 0.5, None, "do()"])
def test_a_function_that_returns_no_arm_is_told_so(wrong: Any) -> None:
    with pytest.raises(PolicyError, match=r"lost returned .*; it returns the place of an arm, 0 to 4"):
        db.simulate(PROBLEM, WORLD, [db.ScalarPolicy(lambda *_: wrong, name="lost")], trials=1)


def test_a_study_is_led_by_objects_and_functions(tmp_path: Path) -> None:
    for made in (Kube(), kube_of_one, db.ScalarPolicy(kube_of_one, name="other")):
        study = db.Study.create(tmp_path / f"{policy(made).name}.db", PROBLEM, policy=made)
        pull = study.ask()[0]
        study.tell(pull.id, {"X": 0, "Z": 0, "Y": 1})
        again = db.Study.open(tmp_path / f"{policy(made).name}.db")
        assert str(again.ask()[0].arm) == "do(X=0)"
        assert again.explain(pull.id).reason


def test_a_policy_inside_a_function_leads_only_studies_in_memory(tmp_path: Path) -> None:
    def inside(counts: Array, rewards: Array, costs: Array) -> int:
        return 0

    assert db.Study.create(":memory:", PROBLEM, policy=inside).ask()[0].id == 1
    with pytest.raises(PolicyError, match="move it to the top level of a module"):
        db.Study.create(tmp_path / "s.db", PROBLEM, policy=inside)


class Nameless(db.Policy):
    objective = "cumulative"

    def compile(self, problem: db.Problem) -> _Kube:
        return _Kube(problem)


class Impostor(Nameless):
    name = "f-kube"


class Abstract(db.Policy):
    name, objective = "abstract", "simple"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (Nameless, "has no name: give the class a line such as name"),
        (Impostor, "has the name of another policy, f-kube: give it a name of its own"),
        (Abstract, r"has no method compile\(problem\)"),
        (3, "is not a policy: derive a class from dobandit.Policy"),
        (dict, "is not a policy: derive a class from dobandit.Policy"),
    ],
)
def test_what_is_no_policy_is_told_why(wrong: Any, told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        db.simulate(PROBLEM, WORLD, [wrong], trials=1)


# -- by name -------------------------------------------------------------------------------------------


def test_module_and_class_on_the_command_line(module: str, dobandit: Callable[..., Ran]) -> None:
    ran = dobandit("run", "problem.toml", "--policy", f"{module}:Greedy[bonus=0.5]", "--policy", "f-kube", *_few())
    assert [row["policy"] for row in json.loads(ran.out)["results"]] == ["greedy[bonus=0.5]", "f-kube"]
    ran = dobandit(
        "suite", "n5", "--policy", f"{module}:frugal", "--trials", 2, "--budget", 50, "--json", "--workers", 1
    )
    assert [row["policy"] for row in json.loads(ran.out)["results"]] == ["frugal"]


def test_processes_find_a_module_of_the_current_folder(module: str, dobandit: Callable[..., Ran]) -> None:
    ran = dobandit("run", "problem.toml", "--policy", f"{module}:Greedy", *_few(), "--workers", 2)
    assert ran.code == 0, ran.err


def _few() -> tuple[Any, ...]:
    return "--trials", 2, "--budget", 40, "--json"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("no_such_module:Greedy", "there is no module no_such_module: install the package that has it, or run this"),
        ("{module}:Greedi", "has no Greedi; its policies are Policy and Greedy"),
        ("{module}:Memoryless", "is not a policy"),
        ("json:dumps[objective=best]", "objective is any or cumulative or simple, not 'best'"),
    ],
)
def test_a_wrong_place_is_told(module: str, name: str, told: str, dobandit: Callable[..., Ran]) -> None:
    ran = dobandit("run", "problem.toml", "--policy", name.format(module=module))
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_a_module_that_fails_is_told_in_a_sentence(module: str) -> None:
    Path(f"{module}.py").write_text("import no_such_thing", encoding="utf-8")
    with pytest.raises(PolicyError, match="cannot be imported: ModuleNotFoundError: No module named 'no_such_thing'"):
        policy(f"{module}:Greedy")


def test_an_error_in_a_plug_in_is_not_called_a_bug_of_ours(module: str, dobandit: Callable[..., Ran]) -> None:
    with Path(f"{module}.py").open("a", encoding="utf-8") as file:
        file.write("\n\ndef broken(counts, rewards, costs):\n    return 1 / 0\n")
    ran = dobandit("run", "problem.toml", "--policy", f"{module}:broken")
    line = len(Path(f"{module}.py").read_text(encoding="utf-8").splitlines())
    assert (ran.code, ran.out) == (2, "")
    told = (
        f"error: your own code failed (ZeroDivisionError: division by zero), in {Path.cwd() / module}.py, line {line}"
    )
    assert told in ran.err


def test_a_study_names_the_plug_in_that_is_missing(module: str, dobandit: Callable[..., Ran]) -> None:
    ran = dobandit("study", "init", "study.db", "problem.toml", "--policy", f"{module}:Greedy", "--json")
    assert json.loads(ran.out)["policy"] == "greedy"
    assert dobandit("study", "ask", "study.db").code == 0
    Path(f"{module}.py").unlink()
    program = Path(sys.executable).with_name("dobandit")  # which has imported nothing yet
    other = subprocess.run([program, "study", "status", "study.db"], capture_output=True, text=True, check=False)
    assert (other.returncode, other.stdout) == (4, "")
    assert f"study.db uses the policy {module}:Greedy, a plug-in that is not installed here" in other.stderr


# -- an installed package ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small package that offers a policy, installed by pip into a folder of its own."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    (source / "greedy_package.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    project = """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"
        [project]
        name = "dobandit-greedy"
        version = "1.0"
        [project.entry-points."dobandit.policies"]
        greedy = "greedy_package:Greedy"
        frugal = "greedy_package:frugal"
        broken = "greedy_package:NoSuchThing"
        [tool.hatch.build.targets.wheel]
        only-include = ["greedy_package.py"]
    """
    (source / "pyproject.toml").write_text(textwrap.dedent(project), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", target, source], check=True)
    return target


def test_an_installed_package_offers_policies(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dobandit: Callable[..., Ran]
) -> None:
    monkeypatch.syspath_prepend(site)
    monkeypatch.chdir(tmp_path)
    assert spec_of(policy("Greedy[bonus=1]")) == "greedy[bonus=1.0]"
    listed = dobandit("policies", "--json")
    rows = {row["name"]: row for row in json.loads(listed.out)["policies"]}
    assert rows["greedy"]["summary"] == "The best mean per cost so far. Options: bonus=0.0."
    assert rows["frugal"]["reference"].endswith("plug-in greedy_package:frugal")
    assert "warning: the plug-in broken (greedy_package:NoSuchThing) cannot be loaded" in listed.err
    study = db.Study.create("s.db", PROBLEM, policy="greedy[bonus=0.25]")
    assert (study.policy, str(study.ask()[0].arm)) == ("greedy[bonus=0.25]", "do()")
    monkeypatch.undo()
    leader._compiled.cache_clear()
    with pytest.raises(
        StudyError,
        match="uses the policy greedy, a plug-in that is not installed here: install the package that offers it",
    ):
        db.Study.open(tmp_path / "s.db").status()


# -- worlds and costs ----------------------------------------------------------------------------------


class Shop:
    """A simulator that knows nothing of dobandit."""

    def sample(self, arm: db.Arm, n: int, rng: np.random.Generator) -> Any:
        price = np.full(n, int(dict(arm.settings).get("Price", -1)))
        price = np.where(price < 0, rng.integers(0, 2, n), price)
        return [{"Price": int(p), "Revenue": r} for p, r in zip(price, rng.normal(3 + price, 1), strict=True)]


REVENUE = db.Problem("Price -> Revenue", reward={"variable": "Revenue", "range": [-9, 19]}, budget=100)


def test_a_simulator_is_a_world_whose_regret_is_estimated() -> None:
    results = db.simulate(REVENUE, Shop(), ["ucb", "causal-thompson"], trials=20)
    assert results.estimated is not None
    assert results.estimated in results.warnings()
    assert "10,000 draws of the simulator (standard error at most 0.01" in results.estimated
    # 100 pulls; the best arm earns 4, the worst 3: within 5 standard errors of the estimated means
    assert results.regret["ucb"].mean() < 100
    world = db.worlds.from_simulator(REVENUE, Shop().sample, draws=2500, seed=1)
    assert np.allclose(world.means(REVENUE), [3.5, 3, 4], atol=5 * 1.2 / 50)
    assert db.simulate(PROBLEM, WORLD, ["ucb"], trials=1).estimated is None


def test_a_sampled_world_draws_what_the_simulator_gave() -> None:
    world = db.worlds.from_simulator(REVENUE, Shop(), draws=1000, seed=1)
    drawn = world.sample("do(Price=1)", 4000, seed=2)
    assert set(drawn["Price"].tolist()) == {1}
    assert world.distribution(["Price"], "do(Price=0)").tolist() == [1, 0]
    mean = np.array(drawn["Revenue"], dtype=float).mean()
    assert abs(mean - world.means(REVENUE)[2]) < 5 / np.sqrt(4000)


@pytest.mark.parametrize(
    ("sample", "told"),
    [
        (lambda arm, n, rng: {"X": [1] * n, "Y": [1] * n}, r"rows under do\(X=0\) have other values of X"),
        (lambda arm, n, rng: {"X": [0] * n, "Y": [1] * (n - 1)}, "columns|rows|length"),
        (lambda arm, n, rng: [{"X": 0, "Y": 1}] * 5, r"asked for 10,000 rows under do\(\) and gave 5"),
        (lambda arm, n, rng: {"X": [0] * n, "Y": [2] * n}, r"the rows of the simulator under do\(\)"),
    ],
)
def test_a_simulator_that_answers_nonsense_is_told(sample: Any, told: str) -> None:
    with pytest.raises(WorldError, match=told):
        db.worlds.from_simulator(db.Problem("X -> Y", reward="Y", budget=9), sample)


def test_costs_by_a_function() -> None:
    problem = db.Problem("X -> Z -> Y", reward="Y", budget=9, costs=lambda arm: 0.5 + 2 * len(arm.settings))
    assert problem.costs == (0.5, 2.5, 2.5, 2.5, 2.5)
    with pytest.raises(db.DobanditError, match=r"costs.do\(X=0\): a cost is a positive number"):
        db.Problem("X -> Y", reward="Y", budget=9, costs=lambda arm: 1 - len(arm.settings))
