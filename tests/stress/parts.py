"""The attacks by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.stress import fairness, faults, flips, inputs, kills, large, proxy, service
from tests.stress.table import Extent, Line

PARTS: dict[str, Callable[[Extent], Iterable[Line]]] = {
    "kills": kills.run,
    "faults": faults.run,
    "proxy": proxy.run,
    "inputs": inputs.run,
    "flips": flips.run,
    "fairness": fairness.run,
    "large": large.run,
    "service": service.run,
}
