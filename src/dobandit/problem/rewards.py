"""The reward: which variable it is, and what its values are worth in the user's units."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dobandit.problem.faults import Faults, is_number
from dobandit.problem.kinds import RewardLike
from dobandit.problem.labels import label

Worth = dict[str, float]
BINARY = ("0", "1")


def read_reward(
    reward: RewardLike | None, variables: Collection[str], observed: Collection[str], faults: Faults
) -> tuple[str, Worth | None, bool]:
    """The variable, the worth of each of its values (None: 0/1), and whether numbers in between occur.

    `reward` is a name, or a table with `variable` and either `values` ({no = 0, yes = 1}) or `range`
    ([0, 10], for a number between these ends, which counts partly for the one and partly for the other).
    """
    table = reward if isinstance(reward, Mapping) else {"variable": reward}
    for key in table:
        if key not in ("variable", "values", "range"):
            faults.unknown(("reward", str(key)), "unknown key", str(key), ["variable", "values", "range"])
    name = table.get("variable")
    if name is None:
        faults.add(("reward",), "is missing: name the variable whose mean is to be made large (or small)")
    elif name not in variables:
        faults.unknown(("reward",), f"there is no variable {name}", str(name), variables)
    elif name not in observed:
        faults.add(("observed",), f"the reward {name} must be observed")
    if "values" in table and "range" in table:
        faults.add(("reward", "range"), "give either values or range, not both")
    if "range" in table:
        return str(name), _ends(table["range"], faults), True
    return str(name), _values(table["values"], faults) if "values" in table else None, False


def _ends(ends: object, faults: Faults) -> Worth | None:
    if isinstance(ends, list | tuple) and len(ends) == 2 and all(map(is_number, ends)) and ends[0] < ends[1]:
        return {label(end): float(end) for end in ends}
    faults.add(("reward", "range"), f"expected two numbers, the lower one first, not {ends!r}")
    return None


def _values(values: object, faults: Faults) -> Worth | None:
    place = ("reward", "values")
    worth: Worth = {}
    for value, number in faults.mapping(values, place).items():
        if not is_number(number):
            faults.add((*place, str(value)), f"the worth of a value is a number, not {number!r}")
        elif label(value) in worth:
            faults.add((*place, str(value)), "the worth of this value is given twice")
        else:
            worth[label(value)] = float(number)
    if len(set(worth.values())) < 2:
        faults.add(place, "at least two values with different worth are needed")
        return None
    return worth
