"""When a study may stop before its budget is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dobandit.problem.faults import Faults, is_number, is_positive

# With fewer outcomes of its own, an option could not contradict a wrong graph either (`PULLS` of the pooled estimator).
MIN_PULLS = 10


@dataclass(frozen=True)
class Stop:
    """A stopping rule: any part that holds is enough, if the answer has `min_pulls` outcomes."""

    probability: float | None = None  # of the answer to be the best option
    loss: float | None = None  # that is expected of the answer, in units of the reward
    gain_per_cost: bool = False  # the next pull is not expected to earn its cost back
    pulls_ahead: float | None = None  # uses of the answer over which it should
    min_pulls: int = MIN_PULLS

    @property
    def min_of_a_kind(self) -> int:
        """Good outcomes of the answer, and bad ones of any options, without which no probability is believed."""
        return (self.min_pulls + 1) // 2

    def to_plain(self) -> dict[str, Any]:
        return asdict(self)


KEYS = tuple(Stop.__dataclass_fields__)
StopLike = Stop | Mapping[str, Any]


def read_stop(stated: StopLike | None, objective: str, faults: Faults) -> Stop | None:
    """The rule that is stated; None: the whole budget may be spent."""
    if stated is None:
        return None
    table = {k: v for k, v in faults.mapping(_plain(stated), ("stop",), KEYS).items() if v is not None}
    chance, loss, ahead = (table.get(key) for key in ("probability", "loss", "pulls_ahead"))
    least, earns = table.get("min_pulls", MIN_PULLS), table.get("gain_per_cost", False)
    if chance is not None and not (is_number(chance) and 0.5 < chance < 1):
        faults.add(("stop", "probability"), f"expected a number between 0.5 and 1, such as 0.95, not {chance!r}")
    if loss is not None and not is_positive(loss):
        faults.add(("stop", "loss"), f"expected a positive number in units of the reward, not {loss!r}")
    if not isinstance(earns, bool):
        faults.add(("stop", "gain_per_cost"), f"expected true or false, not {earns!r}")
    elif earns and objective == "cumulative":
        faults.add(
            ("stop", "gain_per_cost"),
            "is for simple regret: where the objective is cumulative, every pull uses an option already; "
            "give a probability or a loss",
        )
    elif earns != (ahead is not None):
        faults.add(
            ("stop", "pulls_ahead"), "give gain_per_cost = true and pulls_ahead, the uses of the answer, together"
        )
    if ahead is not None and not is_positive(ahead):
        faults.add(("stop", "pulls_ahead"), f"expected a positive number of uses, not {ahead!r}")
    if not is_number(least) or least != int(least) or least < 1:
        faults.add(("stop", "min_pulls"), f"expected a whole number, at least 1, not {least!r}")
        least = MIN_PULLS
    if chance is None and loss is None and not earns:
        faults.add(("stop",), "say when to stop: give probability, loss, or gain_per_cost with pulls_ahead")
    return Stop(_float(chance), _float(loss), bool(earns), _float(ahead), int(least))


def _plain(stated: StopLike) -> object:
    return stated.to_plain() if isinstance(stated, Stop) else stated


def _float(number: object) -> float | None:
    return float(number) if is_number(number) else None
