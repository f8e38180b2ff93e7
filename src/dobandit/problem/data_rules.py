"""What a problem says about data: the columns of its variables, the bins of numbers, and what to do if a value is
missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from dobandit.problem.domain import Domain
from dobandit.problem.faults import Faults, is_number
from dobandit.problem.kinds import Value
from dobandit.problem.labels import label
from dobandit.problem.missing import MISSING

Cuts = dict[str, tuple[float, ...]]
QUANTILES = "quantiles"


def read_bins(stated: object, variables: Collection[str], reward: str, faults: Faults) -> Cuts:
    """The cut points of every variable that is a number."""
    found: Cuts = {}
    for name, cuts, place in faults.by_variable(stated, "bins", variables):
        if name == reward:
            faults.add(place, "the reward is not put into bins: give its values or its range in [reward]")
        elif isinstance(cuts, Mapping) and QUANTILES in cuts:
            faults.add(
                place,
                "these quantiles have not been computed yet: give cut points, such as [30, 45], or let "
                "`dobandit init` put them into this file, with --data and your rows",
            )
        elif not isinstance(cuts, list | tuple) or not cuts or not all(map(is_number, cuts)):
            faults.add(place, f"expected a list of cut points, such as [30, 45], not {cuts!r}")
        elif any(float(a) >= float(b) for a, b in pairwise(cuts)):
            faults.add(place, f"the cut points must increase, and these are {', '.join(map(label, cuts))}")
        else:
            found[name] = tuple(map(float, cuts))
    return found


def with_bins(
    stated: Mapping[str, Iterable[Value]] | None, bins: Cuts, faults: Faults
) -> Mapping[str, Iterable[Value]] | None:
    """The stated domains, and those of the bins; where both are stated they must be the same."""
    labels = {v: tuple(Domain.binned(cuts)) for v, cuts in bins.items()}
    if stated is not None and not isinstance(stated, Mapping):
        return stated  # read_domains says what is wrong with it
    for v, values in labels.items():
        listed = (stated or {}).get(v, values)
        if not isinstance(listed, Iterable) or [x for x in map(label, listed) if x != MISSING] != list(values):
            faults.add(("domains", v), f"these are not the bins of {v}, {', '.join(values)}; remove this line")
    return {**(stated or {}), **labels} or stated


def with_missing(domains: Mapping[str, tuple[str, ...]], bins: Cuts, has_missing: Collection[str]) -> dict[str, Domain]:
    """The domains with their cut points, and with a value for what is missing where there is one."""
    found = {v: Domain(values, bins.get(v, ())) for v, values in domains.items()}
    return {v: domain.with_missing() if domain and v in has_missing else domain for v, domain in found.items()}


def read_columns(stated: object, variables: Collection[str], faults: Faults) -> dict[str, str]:
    """The columns of variables whose column has another name; no two variables have the same column."""
    found: dict[str, str] = {}
    for name, column, place in faults.by_variable(stated, "columns", variables):
        if not isinstance(column, str) or not column.strip():
            faults.add(place, f"expected the name of a column of your data, not {column!r}")
        else:
            found[name] = column.strip()
    of: dict[str, str] = {}
    for name in variables:
        column = found.get(name, name)
        if of.setdefault(column, name) != name:
            both = f"both {of[column]} and {name}; a column belongs to one variable"
            faults.add(("columns", name if name in found else of[column]), f"the column {column!r} would be {both}")
    return found
