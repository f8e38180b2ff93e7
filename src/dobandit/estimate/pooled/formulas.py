"""How the mean of an arm is made from tables: a sum of products of P(v | z), each pooled or private.

With the variables in causal order, the distribution of the ancestors of Y is the product of P(v | z), z the effective
parents of v. Setting X changes the product in one of two ways:

- own: the table of X is left out, X is x everywhere, and those tables that the intervention changes are private ones,
  which hold the outcomes of those who set X, or do what has the same effect on the table. It holds for every arm,
  identifiable or not;
- Tian: where no child of X shares its hidden causes, the tables of X's c-component C stay as observations show them,
  summed over the value x' that X would have had; the others read x. Nothing is private, but there are more tables.

>>> from dobandit.graph import Graph
>>> for formula in formulas(Graph("X -> M -> Y; X <-> Y"), "Y", "X"):
...     print(formula)
Σ P(X) P(M | do(X)) P(Y | X, M)
Σ P(M | X) P*(Y | M)

The star marks the private table. Pulls of do(X=x) inform P*(Y | M) and P(M | x), observations all the others.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dobandit.estimate.pooled.invariance import changed_by, same_effect_as
from dobandit.graph import Graph


class Factor(NamedTuple):
    """P(variable | given) in the formula of an arm do(X=x)."""

    variable: str
    given: tuple[str, ...]
    setting: frozenset[str] = frozenset()  # arms that set one of these inform it; none if it is pooled
    reads_set: bool = False  # X stands for the value that is set, while other factors sum over the one it would have


class Formula(NamedTuple):
    """E[Y | do(X=x)] for all x, or E[Y]: the product of the factors, with Y=1, summed over everything else."""

    do: str | None
    factors: tuple[Factor, ...]

    @property
    def has_private(self) -> bool:
        return any(f.setting for f in self.factors)

    @property
    def kept(self) -> str | None:
        """The axis that is not summed over: the values that X is set to."""
        return self.set_axis if any(f.reads_set for f in self.factors) else self.do

    @property
    def set_axis(self) -> str:
        return f"do({self.do})"

    def axes(self, factor: Factor) -> tuple[str, ...]:
        """The names of a factor's arguments."""
        names = (*factor.given, factor.variable)
        return tuple(self.set_axis if factor.reads_set and v == self.do else v for v in names)

    def __str__(self) -> str:
        return "Σ " + " ".join(map(self._written, self.factors))

    def _written(self, factor: Factor) -> str:
        *given, variable = self.axes(factor)
        star = "*" if factor.setting else ""
        return f"P{star}({variable} | {', '.join(given)})" if given else f"P{star}({variable})"


def formulas(graph: Graph, reward: str, x: str, whole: Graph | None = None) -> tuple[Formula, ...]:
    """One formula for the effect of X, or two that use different data, the second with private tables.

    `graph` may be a projection of the `whole` graph, which says what an intervention leaves unchanged. Few tables are
    better than many: where the short own form needs nothing private, it has all data that there are.
    """
    whole = whole or graph
    ancestors = graph.ancestral(reward)
    if x not in ancestors:
        return (observed(graph, reward),)
    short = _own(graph, reward, x, graph.without_edges(into=x).ancestral(reward), whole)
    if not short.has_private:
        return (short,)
    long = _own(graph, reward, x, ancestors, whole)
    if not long.has_private:
        return _both(long, short, whole)
    # The long form's private tables are those that Tian's formula cannot learn from own pulls.
    tian = _tian(graph.subgraph(ancestors), reward, x)
    return (short,) if tian is None else _both(tian, long, whole)


@lru_cache(maxsize=256)
def observed(graph: Graph, reward: str) -> Formula:
    """E[Y] from the ordered factors of the ancestors of Y."""
    among = graph.ancestral_graph(reward)
    return Formula(None, tuple(Factor(v, among.ordered_effective_parents(v)) for v in among.variables))


def overlapping(a: Formula, b: Formula) -> bool:
    """Whether both learn the same pooled factor from the same data, but by different tables. Weighing such formulas
    as if they were independent would count those data twice."""
    tables = {f.variable: f.given for f in a.factors}
    return any(not f.setting and tables.get(f.variable, f.given) != f.given for f in b.factors)


def _own(graph: Graph, reward: str, x: str, among: frozenset[str], whole: Graph) -> Formula:
    """The product along the graph in which nothing points to X."""
    cut = graph.without_edges(into=x).subgraph(among)
    factors = []
    for v in cut.needed_factors(reward):
        given = cut.ordered_effective_parents(v)
        setting = same_effect_as(whole, x, v, given) if x in changed_by(whole, v, given) else frozenset[str]()
        factors.append(Factor(v, given, setting))
    return Formula(x, tuple(f for f in factors if f.variable != x))


def _both(pooled: Formula, private: Formula, whole: Graph) -> tuple[Formula, ...]:
    """A formula without private tables, and one whose private tables count only arms that do not inform the same
    factor of the former, so that no datum counts twice; the former alone if no such arm is left."""
    tables = {f.variable: f.given for f in pooled.factors}
    factors = []
    for f in private.factors:
        left = f.setting & changed_by(whole, f.variable, tables[f.variable]) if f.variable in tables else f.setting
        if f.setting and not left:
            return (pooled,)
        factors.append(f._replace(setting=left))
    return pooled, private._replace(factors=tuple(factors))


def _tian(graph: Graph, reward: str, x: str) -> Formula | None:
    """Tian and Pearl (2002), Theorem 2: defined if no child of X is in its c-component."""
    if graph.has_confounded_child(x):
        return None
    tied = graph.c_component(x)
    tables = ((v, graph.ordered_effective_parents(v)) for v in graph.needed_factors(reward, do=x))
    return Formula(x, tuple(Factor(v, z, reads_set=v not in tied and x in z) for v, z in tables))
