"""Many simulated studies at low cost: what each of them knows at several budgets.

The trials of a world run in lock step through the engine, which keeps the evidence at every budget. What a study would
say then is worked out from that evidence by the functions that studies use; tests/test_calibration.py compares both.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.certainty import Beliefs, Case, Doubted, Verdict, believed, judged
from dobandit.chance import generator
from dobandit.estimate.pooled import RepairedGraphs
from dobandit.evidence import Evidence, open_source
from dobandit.evidence.logged import read_log
from dobandit.policies import policy, recommended
from dobandit.problem import Objective, Problem, RewardLike, Stop
from dobandit.simulation import draw_costs
from dobandit.simulation.engine import Setting, play
from dobandit.study.ranges import ranged
from dobandit.suite import COSTS, find
from dobandit.worlds import World

GOAL_MIN = "goal-min"  # the worlds of rand, where small rewards are wanted
POLICIES: Mapping[Objective, str] = {"simple": "causal-explore", "cumulative": "causal-thompson"}


class Asked(NamedTuple):
    """Which studies: so many of each of so many worlds of a class. They may start from a log of so many rows."""

    name: str
    objective: Objective
    budgets: tuple[float, ...]
    worlds: int
    trials: int
    seed: int
    log: int = 0


class Look(NamedTuple):
    """What one study knows when its budget is spent."""

    trial: int
    budget: float
    evidence: Evidence  # a batch of one row
    doubted: Doubted
    costs: Array
    recommended: int  # by the policy


class Driven(NamedTuple):
    """Some studies of one world."""

    problem: Problem
    graphs: RepairedGraphs
    truth: Array  # the exact means of all options
    looks: list[Look]

    def said(self, look: Look, rng: np.random.Generator) -> tuple[Beliefs, Verdict]:
        """What the study says, as in dobandit.study.assessment."""
        known = believed(self.problem, self.graphs, look.evidence, look.doubted, rng)
        arm = look.recommended if self.problem.objective == "simple" else self._best_per_cost(look, known)
        return known, judged(self.problem, known, look.costs, arm)

    def case(self, look: Look, rule: Stop) -> Case:
        """What a stopping rule looks at."""
        return Case(
            problem=self.problem,
            rule=rule,
            graphs=self.graphs,
            evidence=look.evidence,
            doubts=look.doubted,
            costs=look.costs,
            spent=look.budget,
            free=0.0,
        )

    def _best_per_cost(self, look: Look, known: Beliefs) -> int:
        costs = look.costs[np.newaxis]
        found = ranged(self.problem, self.graphs, look.evidence, look.doubted.added, costs)
        above = np.where([option.ruled_out is None for option in found], known.above, -np.inf)
        return int(recommended(above[np.newaxis] / costs, costs)[0])

    def best(self, look: Look) -> Array:
        """Which options are the best in truth, or equal to it."""
        above = np.abs(self.truth - (min if self.problem.goal == "max" else max)(self.problem.reward_values))
        scores = above / look.costs if self.problem.objective == "cumulative" else above
        return np.asarray(scores >= scores.max() - 1e-9)


def studies(asked: Asked, kept: Path) -> Iterator[Driven]:
    """The studies, world by world. Their evidence is kept in a folder, so that an interrupted run goes on where it was,
    and a change of what studies say is measured on the same evidence."""
    for number in range(asked.worlds):
        path = kept / f"{asked.name}-{asked.objective}-{asked.seed}-{asked.log}-{asked.trials}-{number}.pickle"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            driven = _driven(asked, number)
            path.with_suffix(".part").write_bytes(pickle.dumps((driven.problem, driven.truth, driven.looks)))
            path.with_suffix(".part").rename(path)
        problem, truth, looks = pickle.loads(path.read_bytes())
        yield Driven(problem, RepairedGraphs(problem), truth, looks)


def _driven(asked: Asked, number: int) -> Driven:
    source = find("rand" if asked.name == GOAL_MIN else asked.name)
    chance = generator(asked.seed, f"calibration:{asked.name}:{number}")
    world = source.draw(chance, number)
    is_measured = source.ends is not None
    reward: RewardLike = "Y" if source.ends is None else {"variable": "Y", "range": source.ends}
    problem = Problem(
        world.graph,
        reward=reward,
        budget=asked.budgets[-1],
        objective=asked.objective,
        goal="min" if asked.name == GOAL_MIN else "max",
        domains={v: values for v, values in world.domains.items() if v != "Y" or not is_measured},
        default_cost=COSTS[source.costs[asked.objective]],
    )
    return drive(problem, world, asked.trials, int(chance.integers(2**53)), asked.budgets, asked.log)


def drive(problem: Problem, world: World, trials: int, seed: int, budgets: tuple[float, ...], log: int = 0) -> Driven:
    """Studies of a world with our policy, of all these budgets; they may start from a log with so many rows."""
    leader, kept = policy(POLICIES[problem.objective]), list[tuple[Any, Any]]()
    compiled = leader.compile(problem)
    recommend = compiled.recommend

    def recording(view: Any, state: Any) -> Any:
        kept.append((view, state))
        return recommend(view, state)

    compiled.recommend = recording  # type: ignore[method-assign]
    costs = draw_costs([problem] * trials, seed)
    setting = Setting(problem, world, np.zeros(trials, dtype=np.intp), np.arange(trials), costs, budgets, seed)
    rows = open_source(world.sample("do()", log, seed)) if log else None
    layout = Evidence.none(problem, compiled.tables, 1).layout
    played = play(leader, setting, logged=None if rows is None else read_log(problem, rows, layout), compiled=compiled)
    looks = []
    for view, state in kept:
        for i, (trial, budget) in enumerate(zip(view.trials.tolist(), view.budget.tolist(), strict=True)):
            at = np.array([i])
            doubted = Doubted(state.refuted[at], state.added[at], True)
            arm = int(played.recommended[trial, budgets.index(budget)])
            looks.append(Look(trial, budget, view.evidence.take(at), doubted, costs[trial], arm))
    assert compiled.graphs is not None, "both policies pool"
    return Driven(problem, compiled.graphs, world.means(problem), looks)
