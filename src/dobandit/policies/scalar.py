"""A policy written for one trial: a function that looks at three arrays and returns the place of an arm.

>>> import dobandit as db
>>> def greedy(counts, rewards, costs):
...     # Try everything once, then take the best mean per cost.
...     untried = counts == 0
...     return int(untried.argmax()) if untried.any() else int((rewards / counts / costs).argmax())
>>> problem = db.Problem("X -> Y", reward="Y", budget=50, default_cost=2)
>>> results = db.simulate(problem, db.worlds.xor(problem.graph, seed=0), [greedy, "f-kube"], trials=4)
>>> results.policies
('greedy', 'f-kube')
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, SupportsIndex

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.errors import PolicyError
from dobandit.policies.protocol import Choice, Info, Memoryless, Nothing, Policy, Reason, View
from dobandit.policies.ties import recommended
from dobandit.problem import OBJECTIVES, Objective, Problem

Chooses = Callable[..., SupportsIndex]  # choose(counts, rewards, costs), or with a fourth argument `rng`


@dataclass(frozen=True)
class ScalarPolicy(Policy):
    """A policy from a function `choose(counts, rewards, costs)` that decides for one trial.

    The arrays have one number for each arm that the remaining budget still pays for: how many outcomes are known, the
    sum of their rewards on the scale from 0 (worst) to 1 (best), and the cost of a pull. The function returns the place
    of an arm in them. If it has a fourth argument `rng`, it gets a NumPy generator that depends on the seed, the trial
    and the number of the pull alone. The arm with the highest mean is recommended.

    It is called once for each trial and pull, so it is slower than a policy that is written for whole batches.

    Parameters
    ----------
    function
        The function. It decides from its arguments alone and changes none of them.
    name
        What results call the policy; default: the name of the function.
    objective
        "cumulative" or "simple"; by default any.
    """

    function: Chooses = field(metadata={"option": False})
    name: str = ""
    objective: Objective | Literal["any"] = field(default="any", metadata={"choices": ("any", *OBJECTIVES)})
    reference = "a function of one trial"

    def __post_init__(self) -> None:
        if not self.name:
            called = getattr(self.function, "__name__", type(self.function).__name__)
            object.__setattr__(self, "name", called.replace("_", "-"))

    def compile(self, problem: Problem) -> _Compiled:
        return _Compiled(problem, self)


class _Compiled(Memoryless):
    """One call of the function for each row."""

    def __init__(self, problem: Problem, policy: ScalarPolicy) -> None:
        super().__init__(problem)
        self._policy = policy
        self._wants_rng = "rng" in inspect.signature(policy.function).parameters

    def choose(self, view: View, state: Nothing, chance: Chance) -> Choice[Nothing]:
        keys = chance.uniforms(view.trials, view.times, 1)[:, 0] if self._wants_rng else np.zeros(len(view.trials))
        arms = [self._chosen(view, row, float(key)) for row, key in enumerate(keys)]
        return Choice(np.array(arms, dtype=np.intp), None, state, Info(np.full(len(arms), Reason.OWN, dtype=np.intp)))

    def _chosen(self, view: View, row: int, key: float) -> int:
        places = np.flatnonzero(view.affordable[row])
        numbers: tuple[Array, ...] = tuple(of[row, places] for of in (view.told, view.rewards, view.costs))
        rng = {"rng": np.random.default_rng(int(key * 2**53))} if self._wants_rng else {}
        found: Any = self._policy.function(*numbers, **rng)
        try:
            return int(places[_place(found, len(places))])
        except (TypeError, ValueError, IndexError):
            raise PolicyError(
                f"{self._policy.name} returned {found!r}; it returns the place of an arm, 0 to {len(places) - 1}"
            ) from None

    def recommend(self, view: View, state: Nothing) -> Indices:
        return recommended(np.where(view.told > 0, view.means, np.nan), view.costs)


def _place(found: Any, arms: int) -> int:
    """A whole number from 0 on, however it is spelled."""
    place = int(found)
    if place != found or not 0 <= place < arms:
        raise ValueError
    return place
