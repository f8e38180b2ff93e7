"""How honest a study is about options that observations do not identify: intervals, bias, and the chance to be best.

`causal-explore` plays worlds of the benchmark; at each budget its answers are those that a study gives. Printed are the
share of 95 % intervals of such options that contain the truth, how much too high the mean of the recommended option is,
and how often the recommended option is the best one, beside how often that was stated.

usage: python benchmarks/confounded_answers.py [--worlds bow,bow-strong] [--log 5000] [--trials 300] [--seed 7]
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from _script import options
from dobandit.certainty import Doubted, believed, judged
from dobandit.chance import generator
from dobandit.evidence import Evidence, open_source
from dobandit.evidence.logged import read_log
from dobandit.identification import is_identifiable
from dobandit.policies import policy
from dobandit.problem import Problem
from dobandit.simulation import draw_costs
from dobandit.simulation.engine import Setting, play
from dobandit.suite import COSTS, find
from dobandit.worlds import World

BUDGETS = (50.0, 100.0, 400.0, 1600.0)
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
FEWEST = 50  # studies in a bin that is judged
Array = NDArray[np.float64]


class Answer(NamedTuple):
    """What is said at one budget of one world, and what is true."""

    covered: list[bool]  # for every option that observations do not identify
    excess: float  # of the mean of the recommended option
    stated: float  # the probability that it is the best
    is_best: bool


def answers(world: World, log: int, seed: int, budgets: tuple[float, ...]) -> list[Answer]:
    problem = Problem(world.graph, "Y", budgets[-1], "simple", default_cost=COSTS["57"], domains=world.domains)
    leader, kept = policy("causal-explore"), list[tuple[Any, Any]]()
    compiled = leader.compile(problem)
    recommend = compiled.recommend

    def recording(view: Any, state: Any) -> Any:
        kept.append((view, state))
        return recommend(view, state)

    compiled.recommend = recording  # type: ignore[method-assign]
    none = np.zeros(1, dtype=np.intp)
    costs = draw_costs([problem], seed)
    setting = Setting(problem, world, none, none, costs, budgets, seed)
    rows = open_source(world.sample("do()", log, seed)) if log else None
    layout = Evidence.none(problem, compiled.tables, 1).layout
    played = play(leader, setting, logged=None if rows is None else read_log(problem, rows, layout), compiled=compiled)
    truth = world.means(problem)
    is_open = [not is_identifiable(problem.graph, arm.variables, "Y") for arm in problem.arms]
    found = dict[float, Answer]()
    for view, state in kept:
        for i, budget in enumerate(view.budget.tolist()):
            at = np.array([i])
            doubted = Doubted(state.refuted[at], state.added[at], True)
            known = believed(problem, compiled.graphs, view.evidence.take(at), doubted, np.random.default_rng(seed))
            arm = int(played.recommended[0, budgets.index(budget)])
            verdict = judged(problem, known, costs[0], arm)
            covered = (known.low <= truth) & (truth <= known.high)
            found[budget] = Answer(
                covered[is_open].tolist(),
                float(known.means[arm] - truth[arm]),
                verdict.probability,
                bool(truth[arm] >= truth.max() - 1e-9),
            )
    return [found[budget] for budget in budgets]


def share(hits: Array) -> str:
    return f"{hits.mean():.1%} ± {hits.std() / len(hits) ** 0.5:.1%}"


def main() -> None:
    asked = options(__doc__, worlds="bow,bow-strong", log=0, trials=300, seed=7)
    trials, budgets = (3, (20.0, 40.0)) if asked.smoke else (asked.trials, BUDGETS)
    log = 50 if asked.smoke else asked.log
    print(f"{trials} worlds, seed {asked.seed}, {log:,} rows of log, costs 57; ± se")
    print(f"{'world':12} {'budget':>6} {'intervals':>15} {'mean too high by':>18} {'stated best':>12} {'is best':>15}")
    for name in asked.worlds.split(",")[: 1 if asked.smoke else None]:
        chances = [generator(asked.seed, f"answers:{name}:{i}") for i in range(trials)]
        worlds = [find(name).draw(chance, i) for i, chance in enumerate(chances)]
        found = [answers(w, log, int(c.integers(2**53)), budgets) for w, c in zip(worlds, chances, strict=True)]
        for k, budget in enumerate(budgets):
            show(name, budget, [of[k] for of in found])
        show_bins(name, [one for of in found for one in of])


def show(name: str, budget: float, found: list[Answer]) -> None:
    hits = np.array([np.mean(one.covered) for one in found if one.covered])
    excess = np.array([one.excess for one in found])
    told = f"{excess.mean():+.4f} ± {excess.std() / len(excess) ** 0.5:.4f}"
    stated, best = np.mean([one.stated for one in found]), np.array([float(one.is_best) for one in found])
    print(f"{name:12} {budget:6,.0f} {share(hits):>15} {told:>18} {stated:12.1%} {share(best):>15}", flush=True)


def show_bins(name: str, found: list[Answer]) -> None:
    """How often the recommended option is the best, by how sure that was said to be."""
    stated, best = (np.array([float(getattr(one, f)) for one in found]) for f in ("stated", "is_best"))
    for low, high in pairwise(BINS):
        at = (stated >= low) & (stated < high)
        if at.sum() >= FEWEST:
            told = f"stated {stated[at].mean():.2f}, actual {share(best[at])} of {at.sum()} answers"
            print(f"{name:12} {told}", flush=True)


if __name__ == "__main__":
    main()
