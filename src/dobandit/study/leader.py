"""What leads a study: its policy, compiled for its problem, and the estimator that its arms are judged by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from dobandit.certainty import judging_graphs
from dobandit.errors import PolicyError
from dobandit.estimate.pooled import RepairedGraphs
from dobandit.policies import (
    RECOMMENDED,
    Compiled,
    Policy,
    PolicyLike,
    check_fits,
    is_importable,
    name_of,
    policy,
)
from dobandit.problem import Problem
from dobandit.study.plain import problem_from_plain

KEPT = 16  # studies of one process that need not be compiled again when their history is added up again


class Leader(NamedTuple):
    problem: Problem
    policy: Policy
    compiled: Compiled[Any]
    graphs: RepairedGraphs | None  # None: the tables would be too large, and every arm is judged by its own rewards


def leader_of(problem: Mapping[str, Any], spec: str) -> Leader:
    """What leads a study of this problem, as plain data, by the policy of this name."""
    return _compiled(json.dumps(problem), spec)


@lru_cache(maxsize=KEPT)
def _compiled(text: str, spec: str) -> Leader:
    problem, made = problem_from_plain(json.loads(text)), policy(spec)
    compiled = made.compile(problem)
    return Leader(problem, made, compiled, judging_graphs(compiled))


def policy_for(problem: Problem, wanted: PolicyLike | None, is_kept: bool) -> str:
    """The policy of a new study, by the name that makes it again when the study is reopened, if it is kept."""
    made = policy(RECOMMENDED[problem.objective] if wanted is None else wanted)
    if not made.serves(problem.objective):
        raise PolicyError(
            f"{made.name} is for {made.objective} regret, and the problem's objective is {problem.objective}"
        )
    check_fits(made, problem)
    name = name_of(made)
    if is_kept and not is_importable(name):
        raise PolicyError(
            f"{made.name} is defined inside a function, where it is not found when the study is opened again; "
            "move it to the top level of a module"
        )
    return name
