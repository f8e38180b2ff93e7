"""What the arguments of a problem say: its graph, reward, domains, intervenable variables and budget."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from dobandit.errors import GraphError, listing
from dobandit.graph import Graph, GraphLike, as_graph, normal
from dobandit.problem.faults import Faults, Place, is_number, is_positive
from dobandit.problem.kinds import RewardLike, Value
from dobandit.problem.labels import is_numeral, label

Worth = dict[str, float]  # what each value of the reward is worth, in the user's units
BINARY = ("0", "1")
MOST_VARIABLES, MOST_VALUES = 5000, 1000  # of a problem and of a variable: it may come from a stranger
ANY = "any"  # the range of a reward that may be any number
ANY_NUMBER: Mapping[str, float] = {"-inf": -math.inf, "inf": math.inf}
NUMBER = "number"  # the domain of a measurement that is not put into bins


def read_graph(given: GraphLike, observed: Iterable[str] | None, faults: Faults) -> tuple[Graph, tuple[str, ...]]:
    """The graph and its observed variables; without a graph, nothing else of the problem can be read."""
    try:
        graph = as_graph(given)
    except GraphError as error:
        faults.add(("graph",), str(error))
        faults.raise_any()
        raise AssertionError from None
    if len(graph.variables) > MOST_VARIABLES:
        faults.add(("graph",), f"{len(graph.variables):,} variables; at most {MOST_VARIABLES:,} are possible")
        faults.raise_any()
    faults.hidden = graph.origin.hidden
    kept = graph.variables if observed is None else faults.names(observed, ("observed",), graph.variables)
    return graph, kept


def read_reward(
    reward: RewardLike | None,
    variables: Collection[str],
    observed: Collection[str],
    with_values: Collection[str],
    faults: Faults,
) -> tuple[str, Worth | None, bool]:
    """The variable, the worth of each of its values (None: 0/1, or what its domain says), and whether it is a
    measurement.

    `reward` is a name, or a table with `variable` and either `values` ({no = 0, yes = 1}) or `range`, [0, 10] for a
    number between these ends or "any" for any number. A table with neither means any number, too, unless the values of
    the variable are stated elsewhere (`with_values`).
    """
    stated = reward if isinstance(reward, Mapping) else {"variable": reward}
    table = faults.mapping(stated, ("reward",), ("variable", "values", "range"))
    name = table.get("variable")
    name = normal(name) if isinstance(name, str) else name
    if name is None:
        faults.add(("reward",), "is missing: name the variable whose mean you want to be large (or small)")
    elif name not in variables:
        faults.unknown(("reward",), f"there is no variable {name}", str(name), variables)
    elif name not in observed:
        faults.add(("observed",), f"the reward {name} must be observed")
    if "values" in table and "range" in table:
        faults.add(("reward", "range"), "give either values or range, not both")
    if "range" in table:
        return str(name), _ends(table["range"], faults), True
    if isinstance(reward, Mapping) and "values" not in table and name not in with_values:
        return str(name), dict(ANY_NUMBER), True
    return str(name), _worth_of_values(table["values"], faults) if "values" in table else None, False


def _ends(ends: object, faults: Faults) -> Worth | None:
    if isinstance(ends, str) and ends == ANY:
        return dict(ANY_NUMBER)
    if isinstance(ends, list | tuple) and len(ends) == 2 and all(map(is_number, ends)) and ends[0] < ends[1]:
        return {label(end): float(end) for end in ends}
    faults.add(("reward", "range"), f'expected two numbers, the lower one first, or "{ANY}", not {ends!r}')
    return None


def _worth_of_values(values: object, faults: Faults) -> Worth | None:
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


def read_domains(
    stated: Mapping[str, Iterable[Value]] | None, graph: Graph, reward: str, worth: Worth | None, faults: Faults
) -> tuple[dict[str, tuple[str, ...]], Worth]:
    """The values of every variable, 0/1 where nothing is stated, and what those of the reward are worth. A variable
    that is a number has none."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(graph.variables, BINARY)
    for name, values, place in faults.by_variable(stated, "domains", graph.variables):
        if values == NUMBER and name != reward:
            found[name] = ()
        elif isinstance(values, str) or not isinstance(values, Iterable):
            faults.add(place, f"expected a list of values, or {NUMBER!r} for a measurement, not {values!r}")
        else:
            found[name] = _values(list(values), place, faults) or BINARY
    worth = _worth(found.get(reward, BINARY), reward, worth, isinstance(stated, Mapping) and reward in stated, faults)
    return {v: tuple(worth) if v == reward else values for v, values in found.items()}, worth


def _worth(values: tuple[str, ...], reward: str, worth: Worth | None, is_stated: bool, faults: Faults) -> Worth:
    """What the values of the reward are worth: what is said, else the numbers that they are."""
    place = ("domains", reward)
    if worth is None:
        if all(map(is_numeral, values)):
            return {value: float(value) for value in values}
        faults.add(place, f"nothing says what {listing(values)} are worth: give reward values")
    elif is_stated and set(values) != set(worth):
        faults.add(place, f"the values {listing(values)} are not those of the reward, {listing(worth)}")
    return worth or {"0": 0.0, "1": 1.0}


def _values(values: list[Value], place: Place, faults: Faults) -> tuple[str, ...]:
    labels = tuple(map(label, values))
    if len(labels) < 2:
        faults.add(place, "a variable needs at least two values")
    elif len(labels) > MOST_VALUES:
        faults.add(
            place, f"{len(labels):,} values; at most {MOST_VALUES:,} are possible: put numbers into [bins], group texts"
        )
    elif "" in labels:
        faults.add(place, "a value must not be empty")
    elif len(set(labels)) < len(labels):
        faults.add(place, f"a value is listed twice: {listing(labels)} (values compare by their text)")
    else:
        return labels
    return ()


def read_budget(budget: float | None, horizon: int | None, has_costs: bool, faults: Faults) -> float:
    """The budget, or the number of pulls where every pull costs 1."""
    if horizon is not None and has_costs:
        faults.add(("costs",), "with a horizon every pull costs 1: remove the costs, or give a budget instead")
    if budget is not None and horizon is not None:
        faults.add(("horizon",), "give either a budget or a horizon, not both")
    elif horizon is not None:
        if is_positive(horizon) and horizon == int(horizon):
            return float(horizon)
        faults.add(("horizon",), f"expected a whole number of pulls, at least 1, not {horizon!r}")
    elif budget is None:
        faults.add(("budget",), "is missing: say how much may be spent (or give a horizon, a number of pulls)")
    elif is_positive(budget):
        return float(budget)
    else:
        faults.add(("budget",), f"expected a positive number, not {budget!r}")
    return 1.0
