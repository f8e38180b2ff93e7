"""What a pull costs: a number, or a rule by which a simulation draws it for every trial."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dobandit.errors import ArmError, listing
from dobandit.numerals import amount
from dobandit.problem.arms import Arm, parse_do
from dobandit.problem.domain import value_in
from dobandit.problem.faults import Faults, Place, is_positive
from dobandit.problem.kinds import CostLike

ROUNDING = 1e-9  # of a budget: less than this is not money


@dataclass(frozen=True)
class Choose:
    """One of these costs, all equally likely."""

    values: tuple[float, ...]

    def draw(self, u: float) -> float:
        """The cost that a uniform number u in [0, 1) picks."""
        return self.values[int(u * len(self.values))]

    def __str__(self) -> str:
        return "one of " + ", ".join(amount(v) for v in self.values)


@dataclass(frozen=True)
class Uniform:
    """Any cost between two numbers, all equally likely."""

    low: float
    high: float

    def draw(self, u: float) -> float:
        return self.low + u * (self.high - self.low)

    def __str__(self) -> str:
        return f"{amount(self.low)} to {amount(self.high)}"


@dataclass(frozen=True)
class Total:
    """The sum of what the parts of an arm cost, some of which are drawn: its settings, each with its own cost."""

    parts: tuple[tuple[Arm, float | Choose | Uniform], ...]

    def __str__(self) -> str:
        return " + ".join(amount(cost) if isinstance(cost, float) else f"({cost})" for _, cost in self.parts)


SimpleCost = float | Choose | Uniform
Cost = SimpleCost | Total
Target = frozenset[tuple[str, str | None]]  # whose cost is stated: variables and their values; None stands for any
Domains = Mapping[str, tuple[str, ...]]


class Prices(NamedTuple):
    """What is said about costs."""

    stated: Mapping[str, CostLike] | Callable[[Arm], CostLike] | None
    default: CostLike
    is_unit: bool  # every pull costs 1


def costs_of_arms(arms: tuple[Arm, ...], prices: Prices, domains: Domains, faults: Faults) -> tuple[Cost, ...]:
    """The cost of every arm: what is stated for the arm, else for its variables; else the sum of those of its parts,
    which without a statement have the default."""
    otherwise = read_cost(prices.default, ("default_cost",), faults)
    if callable(price := prices.stated):
        return tuple(read_cost(price(arm), ("costs", str(arm)), faults) for arm in arms)
    found = _stated(arms, price, domains, faults)
    if prices.is_unit:
        return (1.0,) * len(arms)

    def stated(arm: Arm) -> SimpleCost | None:
        return found.get(frozenset(arm.settings), found.get(_of_set(arm)))

    def cost(arm: Arm) -> Cost:
        parts = [Arm((setting,)) for setting in arm.settings]
        costs = [stated(part) or otherwise for part in parts]
        if known := stated(arm):
            return known
        if len(parts) < 2:
            return otherwise if parts else 1.0
        numbers = [c for c in costs if isinstance(c, float)]
        return sum(numbers) if len(numbers) == len(costs) else Total(tuple(zip(parts, costs, strict=True)))

    return tuple(map(cost, arms))


def _stated(
    arms: tuple[Arm, ...], stated: Mapping[str, CostLike] | None, domains: Domains, faults: Faults
) -> dict[Target, SimpleCost]:
    """The costs that are stated, by what they are stated for."""
    found: dict[Target, SimpleCost] = {}
    settable = {variable for arm in arms for variable in arm.variables}
    together = {target for arm in arms if len(arm.settings) > 1 for target in (frozenset(arm.settings), _of_set(arm))}
    for key, value in faults.mapping(stated, ("costs",)).items():
        place = ("costs", str(key))
        cost = read_cost(value, place, faults)
        try:
            target: Target = frozenset((v, _known(domains, v, value)) for v, value in parse_do(key).items())
        except ArmError as error:
            faults.add(place, str(error))
            continue
        if _can_be_set(target, settable, domains, place, faults) and _is_offered(target, together, place, faults):
            if target in found:
                faults.add(place, "the cost of this arm is stated twice")
            found[target] = cost
    return found


def _known(domains: Domains, variable: str, value: str | None) -> str | None:
    """A value as the domain of its variable has it: `yes` may be written for 1."""
    return value if value is None or variable not in domains else value_in(domains[variable], value)


def _of_set(arm: Arm) -> Target:
    return frozenset((variable, None) for variable in arm.variables)


def read_cost(value: CostLike, place: Place, faults: Faults) -> SimpleCost:
    """A positive number, `{choose = [2, 3]}` or `{uniform = [1, 1.3]}`."""
    if is_positive(value):
        return float(value)
    if isinstance(value, Mapping) and len(value) == 1:
        (rule, numbers), *_ = value.items()
        if isinstance(numbers, list | tuple) and numbers and all(map(is_positive, numbers)):
            if rule == "choose":
                return Choose(tuple(map(float, numbers)))
            if rule == "uniform" and len(numbers) == 2 and numbers[0] <= numbers[1]:
                return Uniform(float(numbers[0]), float(numbers[1]))
    faults.add(place, f"a cost is a positive number, {{choose = [2, 3]}} or {{uniform = [1, 1.3]}}, not {value!r}")
    return 1.0


def _can_be_set(target: Target, settable: Collection[str], domains: Domains, place: Place, faults: Faults) -> bool:
    for variable, value in target:
        if variable not in domains:
            faults.unknown(place, f"there is no variable {variable}", variable, domains)
        elif variable not in settable:
            faults.add(place, f"{variable} cannot be set (it is not intervenable), so it has no cost; remove this line")
        elif value is not None and value not in domains[variable]:
            faults.add(place, f"{variable} has no value {value}; its values are {', '.join(domains[variable])}")
        else:
            continue
        return False
    return True


def _is_offered(target: Target, together: Collection[Target], place: Place, faults: Faults) -> bool:
    if len(target) < 2 or target in together:
        return True
    names = sorted(variable for variable, _ in target)
    faults.add(place, f"no arm sets {listing(names)} together: name them in together, or remove this line")
    return False
