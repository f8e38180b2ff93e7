"""How honest a study is about options that observations do not identify: intervals, bias, and the chance to be best.

`causal-explore` plays worlds of the benchmark; at each budget its answers are those that a study gives. Printed are the
share of 95 % intervals of such options that contain the truth, how much too high the mean of the recommended option is,
and how often the recommended option is the best one, beside how often that was stated.

usage: python benchmarks/confounded_answers.py [--worlds bow,bow-strong] [--log 5000] [--trials 304] [--each 8]
                                               [--seed 7]
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from _bows import Group, groups, mean_and_error
from _script import options
from dobandit.certainty import Doubted, believed, judged
from dobandit.identification import is_identifiable
from dobandit.policies import policy

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


def answers(group: Group, budgets: tuple[float, ...]) -> list[list[Answer]]:
    """By world and budget."""
    problem, kept = group.problem, list[tuple[Any, Any]]()
    compiled = policy("causal-explore").compile(problem)
    recommend = compiled.recommend

    def recording(view: Any, state: Any) -> Any:
        kept.append((view, state))
        return recommend(view, state)

    compiled.recommend = recording  # type: ignore[method-assign]
    played = group.played("causal-explore", budgets, compiled)
    is_open = [not is_identifiable(problem.graph, arm.variables, "Y") for arm in problem.arms]
    found = dict[tuple[int, float], Answer]()
    for view, state in kept:
        for i, (trial, budget) in enumerate(zip(view.trials.tolist(), view.budget.tolist(), strict=True)):
            at, truth = np.array([i]), group.means[trial]
            doubted = Doubted(state.refuted[at], state.added[at], True)
            known = believed(
                problem, compiled.graphs, view.evidence.take(at), doubted, np.random.default_rng(group.luck)
            )
            arm = int(played.recommended[trial, budgets.index(budget)])
            verdict = judged(problem, known, group.costs[trial], arm)
            covered = (known.low <= truth) & (truth <= known.high)
            found[trial, budget] = Answer(
                covered[is_open].tolist(),
                float(known.means[arm] - truth[arm]),
                verdict.probability,
                bool(truth[arm] >= truth.max() - 1e-9),
            )
    return [[found[trial, budget] for budget in budgets] for trial in range(len(group.worlds))]


def main() -> None:
    asked = options(__doc__, worlds="bow,bow-strong", log=0, trials=304, each=8, seed=7)
    trials, each, budgets = (4, 2, (20.0, 40.0)) if asked.smoke else (asked.trials, asked.each, BUDGETS)
    log = 50 if asked.smoke else asked.log
    print(f"{trials} worlds, {each} on a graph, seed {asked.seed}, {log:,} rows of log, costs 57; ± se")
    print(f"{'world':12} {'budget':>6} {'intervals':>15} {'mean too high by':>18} {'stated best':>12} {'is best':>15}")
    for name in asked.worlds.split(",")[: 1 if asked.smoke else None]:
        found = [answers(one, budgets) for one in groups(name, "simple", log, trials, each, asked.seed, budgets[-1])]
        for k, budget in enumerate(budgets):
            show(name, budget, [[world[k] for world in graph] for graph in found])
        show_bins(name, [[one for world in graph for one in world] for graph in found])


def share(hits: list[Array]) -> str:
    mean, error = mean_and_error(hits)
    return f"{mean:.1%} ± {error:.1%}"


def show(name: str, budget: float, found: list[list[Answer]]) -> None:
    hits = share([np.array([np.mean(one.covered) for one in graph]) for graph in found if graph[0].covered])
    excess, error = mean_and_error([np.array([one.excess for one in graph]) for graph in found])
    stated, _ = mean_and_error([np.array([one.stated for one in graph]) for graph in found])
    best = share([np.array([float(one.is_best) for one in graph]) for graph in found])
    told = f"{excess:+.4f} ± {error:.4f}"
    print(f"{name:12} {budget:6,.0f} {hits:>15} {told:>18} {stated:12.1%} {best:>15}", flush=True)


def show_bins(name: str, found: list[list[Answer]]) -> None:
    """How often the recommended option is the best, by how sure that was said to be."""
    for low, high in pairwise(BINS):
        there = [[one for one in graph if low <= one.stated < high] for graph in found]
        number = sum(map(len, there))
        if number >= FEWEST:
            best = share([np.array([float(one.is_best) for one in graph]) for graph in there])
            stated = np.mean([one.stated for graph in there for one in graph])
            print(f"{name:12} stated {stated:.2f}, actual {best} of {number} answers", flush=True)


if __name__ == "__main__":
    main()
