"""Words with a few possible values, and what may be handed in for a cost, a reward or a value, as types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    import numpy as np

Objective = Literal["cumulative", "simple"]
Goal = Literal["max", "min"]
Axis = Literal["budget", "cost"]  # what varies along a curve of regret
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
GOALS: tuple[Goal, ...] = get_args(Goal)

Value: TypeAlias = "str | float | np.generic"  # of a variable: values compare by their text
CostLike = float | Mapping[str, Sequence[float]]  # 2.5, {"choose": [2, 3]} or {"uniform": [1, 1.3]}
# "Y", or {"variable": "Y", "values": {"no": 0, "yes": 1}}, {"variable": "Y", "range": [0, 10]}, or "any" number
RewardLike = str | Mapping[str, str | Mapping[Any, float] | Sequence[float]]
