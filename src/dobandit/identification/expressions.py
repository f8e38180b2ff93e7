"""The grammar of a recipe: sums of products of conditional tables, and, rarely, ratios of such sums.

An expression is a table `P(v | z)`, a `Sum` over some variables of a product of factors, or a
`Ratio`: the conditional distribution of one variable inside a sum. Every expression knows the
variables it is a function of (`free`) and, if it is a distribution of one variable given the
others, which one that is (`variable`): summing it over that variable gives one, which is how
factors that do not matter drop out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from dobandit.graph import quoted


@dataclass(frozen=True)
class Table:
    """P(variable | given).

    >>> print(Table("Y", ("X", "Z")))
    P(Y | X, Z)
    """

    variable: str
    given: tuple[str, ...]

    @cached_property
    def free(self) -> frozenset[str]:
        return frozenset((*self.given, self.variable))

    def write(self, names: Names) -> str:
        variable, *given = (names.get(v) or quoted(v) for v in (self.variable, *self.given))
        return f"P({variable}{' | ' if given else ''}{', '.join(given)})"

    def __str__(self) -> str:
        return self.write({})


@dataclass(frozen=True)
class Sum:
    """The product of the factors, summed over the variables `over`."""

    over: frozenset[str]
    factors: tuple[Expression, ...]
    variable: str | None = None

    @cached_property
    def free(self) -> frozenset[str]:
        return frozenset[str]().union(*(f.free for f in self.factors)) - self.over

    def write(self, names: Names) -> str:
        names = {**names, **{v: fresh(names.get(v) or quoted(v), names) for v in self.over}}
        written = [f.write(names) for f in self.factors]
        if len(written) > 1:
            written = [t if isinstance(f, Table) else f"[{t}]" for f, t in zip(self.factors, written, strict=True)]
        product = " ".join(written) or "1"
        over = ",".join(sorted(names[v] for v in self.over))
        return f"Σ_{over} {product}" if over else product


@dataclass(frozen=True)
class Ratio:
    """numerator / denominator: the distribution of `variable` given the rest inside the numerator.

    Theory says that the ratio does not depend on the variables `average`; data say so only roughly,
    so both parts are averaged over them with `weights`, their own distribution.
    """

    variable: str | None
    numerator: Sum
    denominator: Sum
    average: frozenset[str] = frozenset()
    weights: tuple[Table, ...] = ()

    @cached_property
    def free(self) -> frozenset[str]:
        return (self.numerator.free | self.denominator.free) - self.average

    def write(self, names: Names) -> str:
        above, below = parts_of(self)
        if not self.denominator.factors:
            return above.write(names)
        return f"({above.write(names)}) / ({below.write(names)})"


def parts_of(ratio: Ratio) -> tuple[Sum, Sum]:
    """What stands above and below, averaged where it has to be."""
    above, below = ratio.numerator, ratio.denominator
    if not ratio.average:
        return above, below
    return product((*ratio.weights, above), ratio.average), product((*ratio.weights, below), ratio.average)


Expression = Table | Sum | Ratio
Names = dict[str, str]  # the name under which a variable is written, where it is not its own


def product(factors: Iterable[Expression], over: Iterable[str] = ()) -> Sum:
    """The sum over `over` of the product, without the factors that sum to one and with nested sums
    spread out where no variable would be caught."""
    todo, over = _without_ones(list(factors), set(over))
    flat: list[Expression] = []
    for factor in todo:
        others = over.union(*(f.free for f in todo if f is not factor))
        if isinstance(factor, Sum) and not factor.over & others:
            flat += factor.factors
            over |= factor.over
        else:
            flat.append(factor)
    return Sum(frozenset(over), tuple(flat))


def ratio(variable: str, numerator: Sum, denominator: Sum) -> Expression:
    """numerator / denominator, with factors that stand in both and touch no summed variable struck out."""
    above, below = list(numerator.factors), list(denominator.factors)
    for factor in denominator.factors:
        if factor in above and not factor.free & (numerator.over | denominator.over):
            above.remove(factor)
            below.remove(factor)
    if below:
        return Ratio(variable, product(above, numerator.over), product(below, denominator.over))
    rest = product(above, numerator.over)
    return rest.factors[0] if not rest.over and len(rest.factors) == 1 else replace(rest, variable=variable)


def tables(expression: Expression) -> Iterator[Table]:
    """Every table in an expression, in the order in which it is written."""
    match expression:
        case Table():
            yield expression
        case Sum():
            for factor in expression.factors:
                yield from tables(factor)
        case Ratio():
            yield from expression.weights
            yield from tables(expression.numerator)
            yield from tables(expression.denominator)


def _without_ones(factors: list[Expression], over: set[str]) -> tuple[list[Expression], set[str]]:
    """Leave out every distribution of a summed variable that no other factor looks at: it sums to one."""
    uses = Counter(v for f in factors for v in f.free)
    while spent := [f for f in factors if f.variable in over and uses[f.variable] == 1]:
        for f in spent:
            over.discard(str(f.variable))
            uses.subtract(f.free)
        factors = [f for f in factors if f not in spent]
    return factors, over


def fresh(name: str, taken: Names) -> str:
    while name in taken.values():
        name += "'"
    return name
