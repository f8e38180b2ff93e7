"""How the mean of an arm is made from tables: a sum of products of P(v | z), each pooled or private.

With the variables in causal order, the distribution of the ancestors of Y is the product of P(v | z), z the effective
parents of v. Setting variables S changes the product in one of two ways:

- own: the tables of S are left out, S is s everywhere, and those tables that the intervention changes are private ones,
  which hold the outcomes of those who set S, or do what has the same effect on the table. It holds for every arm,
  identifiable or not;
- Tian: where no child of a set variable X shares its hidden causes, unless it is set as well, the tables of X's
  c-component C stay as observations show them, summed over the value x' that X would have had; the others read x.
  Nothing is private, but there are more tables.

>>> from dobandit.graph import Graph
>>> for formula in formulas(Graph("X -> M -> Y; X <-> Y"), "Y", ("X",)):
...     print(formula)
Σ P(X) P(M | do(X)) P(Y | X, M)
Σ P(M | X) P*(Y | M)

The star marks the private table. Pulls of do(X=x) inform P*(Y | M) and P(M | x), observations all the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from dobandit.estimate.pooled.invariance import Set, changed_by, same_effect_as
from dobandit.graph import Graph, members, reached

Do = tuple[str, ...]  # the variables that are set, in graph order


class Factor(NamedTuple):
    """P(variable | given) in the formula of an arm do(S=s)."""

    variable: str
    given: tuple[str, ...]
    setting: frozenset[Set] | None = None  # arms that set one of these inform it; None if it is pooled
    read: Set = frozenset()  # these stand for the values that are set, while other factors sum over natural ones


@dataclass(frozen=True, eq=False)
class Formula:
    """E[Y | do(S=s)] for all s, or E[Y]: the product of the factors, with Y=1, summed over everything else.

    Most factors are often those of another formula, `base`: then only the others are listed, and the variables whose
    factors in the base are not used."""

    do: Do
    changes: tuple[Factor, ...]
    base: Formula | None = None
    gone: Set = frozenset()

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """All factors, in the order of the graph."""
        if self.base is None:
            return self.changes
        changed = {f.variable: f for f in self.changes}
        found = (changed.get(f.variable, f) for f in self.base.factors if f.variable not in self.gone)
        return tuple(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and (self.do, self.factors) == (other.do, other.factors)

    def __hash__(self) -> int:
        return hash((self.do, self.factors))

    @property
    def has_private(self) -> bool:
        return any(f.setting is not None for f in self.changes)

    @property
    def sums_over_set(self) -> bool:
        """Whether it is Tian's form, in which the set variables also have the values that they would have had."""
        return any(f.read for f in self.changes)

    @property
    def kept(self) -> tuple[str, ...]:
        """The axes that are not summed over: the values that S is set to."""
        return tuple(map(set_axis, self.do)) if self.sums_over_set else self.do

    def axes(self, factor: Factor) -> tuple[str, ...]:
        """The names of a factor's arguments."""
        names = *factor.given, factor.variable
        return tuple(set_axis(v) if v in factor.read else v for v in names) if factor.read else names

    def __str__(self) -> str:
        return "Σ " + " ".join(map(self._written, self.factors))

    def _written(self, factor: Factor) -> str:
        *given, variable = self.axes(factor)
        star = "" if factor.setting is None else "*"
        return f"P{star}({variable} | {', '.join(given)})" if given else f"P{star}({variable})"


def set_axis(variable: str) -> str:
    """The name of the axis of the values that a variable is set to."""
    return f"do({variable})"


def formulas(
    graph: Graph, reward: str, do: Do, whole: Graph | None = None, sets: tuple[Set, ...] | None = None
) -> tuple[Formula, ...]:
    """One formula for the effect of setting variables, or two that use different data, the second with private tables.

    `graph` may be a projection of the `whole` graph, which says what an intervention leaves unchanged; `sets` are those
    that some arm sets, by default all single variables. Few tables are better than many: where the short own form
    needs nothing private, it has all data that there are.
    """
    whole = whole or graph
    do, ancestors = graph.acting(reward, do), graph.ancestral(reward)
    if not do:
        return (observed(graph, reward),)
    short = _short(graph, reward, do, whole, sets)
    if not short.has_private:
        return (short,)
    long = _own(graph, reward, do, ancestors, whole, sets)
    if not long.has_private:
        return _both(long, short, whole)
    # The long form's private tables are those that Tian's formula cannot learn from own pulls.
    tian = _tian(graph.subgraph(ancestors), reward, do)
    return (short,) if tian is None else _both(tian, long, whole)


@lru_cache(maxsize=256)
def observed(graph: Graph, reward: str) -> Formula:
    """E[Y] from the ordered factors of the ancestors of Y."""
    among = graph.ancestral_graph(reward)
    return Formula((), tuple(Factor(v, among.ordered_effective_parents(v)) for v in among.variables))


def overlapping(a: Formula, b: Formula) -> bool:
    """Whether both learn the same pooled factor from the same data, but by different tables. Weighing such formulas
    as if they were independent would count those data twice."""
    tables = {f.variable: f.given for f in a.factors}
    return any(f.setting is None and tables.get(f.variable, f.given) != f.given for f in b.factors)


def difference(formula: Formula, base: Formula) -> tuple[set[str], list[Factor]] | None:
    """The variables whose factors in the base are gone, and those that take their places; None if one of these reads
    what the base's does not.

    A factor that the formula does not mention sums to one; but the own tables of what is set are left out.
    """
    if formula.base is base:
        return {*formula.do, *(f.variable for f in formula.changes)}, list(formula.changes)
    new, given = {f.variable: f for f in formula.factors}, {f.variable: set(f.given) for f in base.factors}
    if not all(f.variable in given and set(f.given) <= given[f.variable] for f in formula.factors):
        return None
    left_out = set() if formula.sums_over_set else set(formula.do)
    gone = {f.variable for f in base.factors if new.get(f.variable, f) != f or f.variable in left_out}
    return gone, [f for f in formula.factors if f.variable in gone]


def _short(graph: Graph, reward: str, do: Do, whole: Graph, sets: tuple[Set, ...] | None) -> Formula:
    """The product along what still acts on the reward in the graph in which nothing points to what is set.

    In the whole graph most factors are those of E[Y]: all but those of variables that hidden causes tie to what is set,
    or to what acts on the reward no more.
    """
    if graph is not whole:
        return _own(graph, reward, do, graph.without_edges(into=do).ancestral(reward), whole, sets)
    bits, y = graph.bits, graph.bits.of([reward])
    is_set, everything = bits.of(do), bits.above(y)
    left = bits.above(y, cut=is_set) & ~is_set
    changed = left & _tied_to(graph, reward, everything & ~left)
    factors = []
    for place in members(changed):
        upto = left & (2 << place) - 1
        given = bits.with_parents(reached(1 << place, bits.siblings, upto)) & ~(1 << place)
        factors.append(_factor(whole, do, graph.variables[place], bits.in_order(given), sets))
    return Formula(do, tuple(factors), observed(graph, reward), bits.names(everything & ~left))


def _tied_to(graph: Graph, reward: str, some: int) -> int:
    """The variables whose factors in E[Y] depend on hidden causes of some variables."""
    bits = graph.bits
    confounded = some & bits.confounded
    found, everything = 0, bits.above(bits.of([reward]))
    for component in {bits.components[v] for v in members(confounded)}:
        for v in members(component & everything):
            if reached(1 << v, bits.siblings, everything & (2 << v) - 1) & confounded:
                found |= 1 << v
    return found


def _own(
    graph: Graph, reward: str, do: Do, among: frozenset[str], whole: Graph, sets: tuple[Set, ...] | None
) -> Formula:
    """The product along the graph in which nothing points to what is set."""
    cut = graph.without_edges(into=do).subgraph(among)
    needed = (v for v in cut.needed_factors(reward) if v not in do)
    factors = [_factor(whole, do, v, cut.ordered_effective_parents(v), sets) for v in needed]
    return Formula(do, tuple(factors))


def _factor(whole: Graph, do: Do, v: str, given: tuple[str, ...], sets: tuple[Set, ...] | None) -> Factor:
    """P(v | given) where variables are set, private if that changes it."""
    is_changed = not changed_by(whole, v, given).isdisjoint(do)
    return Factor(v, given, same_effect_as(whole, do, v, given, sets) if is_changed else None)


def _both(pooled: Formula, private: Formula, whole: Graph) -> tuple[Formula, ...]:
    """A formula without private tables, and one whose private tables count only arms that do not inform the same
    factor of the former, so that no datum counts twice; the former alone if no such arm is left."""
    tables = {f.variable: f.given for f in pooled.factors}
    factors = []
    for f in private.changes:
        if f.setting is not None and f.variable in tables:
            changing = changed_by(whole, f.variable, tables[f.variable])
            f = f._replace(setting=frozenset(s for s in f.setting if not changing.isdisjoint(s)))
        if f.setting is not None and not f.setting:
            return (pooled,)
        factors.append(f)
    return pooled, replace(private, changes=tuple(factors))


def _tian(graph: Graph, reward: str, do: Do) -> Formula | None:
    """Tian and Pearl (2002), Theorem 2, for sets: defined if every child of a variable that is set, in the variable's
    c-component, is set as well."""
    if any(graph.c_component(x) & graph.children(x).difference(do) for x in do):
        return None
    tables = ((v, graph.ordered_effective_parents(v)) for v in graph.needed_factors(reward, do=do))
    return Formula(
        do, tuple(Factor(v, z, read=frozenset(do).intersection(z) - graph.c_component(v)) for v, z in tables)
    )
