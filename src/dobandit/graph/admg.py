"""The causal graph: what is known about which variable acts on which.

An acyclic directed mixed graph (ADMG) has two kinds of edges. `A -> B` says that A acts on B;
`A <-> B` says that some hidden cause acts on both. Both between the same two variables are legal
and called a bow: then observations alone cannot tell the effect from the hidden cause.

>>> g = Graph("X1 -> X2 -> Y; X1 -> Y; X2 <-> Y")
>>> g.variables
('X1', 'X2', 'Y')
>>> sorted(g.parents("Y")), [sorted(c) for c in g.c_components]
(['X1', 'X2'], [['X1'], ['X2', 'Y']])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dobandit.errors import GraphError
from dobandit.graph.bits import reached, union
from dobandit.graph.checking import Edge, Origin, Parts, checked
from dobandit.graph.edges import Nodes
from dobandit.graph.forms import Forms
from dobandit.graph.names import normal
from dobandit.graph.projection import project
from dobandit.graph.separation import reachable

if TYPE_CHECKING:
    from dobandit.graph.files import GraphLike


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Graph(Forms):
    """An ADMG, immutable and hashable. Equal graphs have the same edges and the same order of variables.

    Parameters
    ----------
    graph
        Statements such as ``X -> {M, Y}; X <-> Y``, separated by ``;`` or new lines; a text in DOT, dagitty or GML,
        known by its first word; a graph of networkx or pgmpy; a Graph, or a Problem.
    variables
        The variables in the order in which ties of the causal order are broken. Any other name is refused.
    """

    def __init__(self, graph: GraphLike = "", *, variables: Iterable[str] | None = None) -> None:
        from dobandit.graph.files import parts_of

        super().__init__(*parts_of(graph, variables))

    @classmethod
    def from_edges(
        cls,
        directed: Iterable[Edge] = (),
        bidirected: Iterable[Edge] = (),
        variables: Iterable[str] | None = None,
        *,
        origin: Origin | None = None,
    ) -> Graph:
        """The graph with these edges.

        Parameters
        ----------
        directed
            Pairs (cause, effect).
        bidirected
            Pairs of variables that share a hidden cause.
        variables
            All variables; any other name is refused. By default those that the edges name.
        origin
            What a file said besides the edges.

        Returns
        -------
        Graph
            The graph, with its variables in causal order; ties go to the variable that is named first.

        Examples
        --------
        >>> Graph.from_edges([("X", "Y")], [("X", "Y")]) == Graph("X -> Y; X <-> Y")
        True
        """
        return cls._of(checked(directed, bidirected, variables, origin))

    @classmethod
    def _of(cls, parts: Parts) -> Graph:
        graph = cls.__new__(cls)
        Forms.__init__(graph, *parts)
        return graph

    # -- hidden causes -------------------------------------------------------------------------

    @cached_property
    def c_components(self) -> tuple[frozenset[str], ...]:
        """The groups that hidden causes tie together, in the order of their first variables."""
        return tuple(dict.fromkeys(self._components.values()))

    @cached_property
    def _components(self) -> Mapping[str, frozenset[str]]:
        names = {component: self.bits.names(component) for component in self.bits.components}
        return {v: names[component] for v, component in zip(self.variables, self.bits.components, strict=True)}

    def c_component(self, node: str) -> frozenset[str]:
        return self._components[self._known(node)]

    def effective_parents(self, node: str) -> frozenset[str]:
        """The variables that P(node | predecessors) really depends on, for the order `variables`.

        With T the part of the graph up to `node` that bidirected edges tie to it, they are T and the
        parents of T, without `node` itself (Bhattacharyya et al. 2020, Lemma 3.5). Printed without the restriction to
        predecessors (eq. 3 of the paper), the product of P(V_j | Z_j) is not a distribution.

        >>> Graph("X -> Y; X <-> W").effective_parents("Y")
        frozenset({'X'})
        """
        return frozenset(self.ordered_effective_parents(node))

    def ordered_effective_parents(self, node: str) -> tuple[str, ...]:
        """The effective parents in the order of the graph: the conditions of the factor P(node | ...).

        >>> Graph("B -> Y; A -> Y; A -> B").ordered_effective_parents("Y")
        ('A', 'B')
        """
        place = self.bits.place[self._known(node)]
        return self.bits.in_order(self.bits.with_parents(self.bits.tied[place]) & ~(1 << place))

    def has_confounded_child(self, x: str) -> bool:
        """Whether some child of x is in the c-component of x, so that the child condition of Tian and Pearl (2002)
        fails: then, and only then, observations cannot tell the effect of x on everything else.

        >>> g = Graph("X -> M -> Y; X <-> Y; M <-> W")
        >>> g.has_confounded_child("X"), Graph("X -> Y; X <-> W <-> Y").has_confounded_child("X")
        (False, True)
        """
        return bool(self.c_component(x) & self.children(x))

    def needed_factors(self, y: str, do: Nodes = ()) -> tuple[str, ...]:
        """The variables whose factors P(v | effective parents) remain in P(y), or in the effect of `do` on y.

        All others sum to one. A factor needs those of its conditions, except what is set: outside its c-component a
        variable is held at the value that it is set to.

        Parameters
        ----------
        y
            The variable whose distribution is wanted.
        do
            The variables that are set, if any; others than those of the graph do not matter.

        Returns
        -------
        tuple of str
            The variables, in the order of the graph.

        Examples
        --------
        >>> g = Graph("Z -> X -> M -> Y; M -> W")
        >>> g.needed_factors("Y"), g.needed_factors("Y", do="X")
        (('Z', 'X', 'M', 'Y'), ('M', 'Y'))
        """
        bits = self.bits
        is_set = bits.of(v for v in map(normal, [do] if isinstance(do, str) else do) if v in self)
        found = todo = 1 << bits.place[self._known(y)]
        while todo:
            place = todo.bit_length() - 1
            found |= bits.with_parents(bits.tied[place]) & ~(is_set & ~bits.components[place])
            todo = found & ((1 << place) - 1)  # conditions come before what they decide about
        return bits.in_order(found)

    def acting(self, y: str, do: Nodes) -> tuple[str, ...]:
        """Those of some variables that still matter to y when all of them are set, in the order of the graph.

        >>> Graph("Z -> X -> Y; Z -> W").acting("Y", ["Z", "X", "W"])
        ('X',)
        """
        bits, is_set = self.bits, self.bits.of(self._known_set(do))
        everything = bits.ancestral[bits.place[self._known(y)]]
        if not is_set & is_set - 1:  # a single one needs no search
            return bits.in_order(is_set & everything)
        return bits.in_order(is_set & bits.above(bits.of([self._known(y)]), cut=is_set))

    # -- other graphs --------------------------------------------------------------------------

    def ancestral_graph(self, nodes: Nodes) -> Graph:
        """The part of the graph that acts on these variables: they, their ancestors and the edges between them.

        >>> Graph("X -> Y -> W; Z -> W").ancestral_graph("Y")
        Graph('X -> Y')
        """
        return self.subgraph(self.ancestral(nodes))

    def subgraph(self, nodes: Nodes) -> Graph:
        """The variables named here and the edges between them."""
        keep = self._known_set(nodes)
        if len(keep) == len(self.variables):
            return self
        return self._with(
            self.in_order(keep),
            [(a, b) for b in keep for a in self._parents[b] & keep],
            [(a, b) for b in keep for a in self._siblings[b] & keep if a < b],
        )

    def project(self, keep: Nodes) -> Graph:
        """The graph of the kept variables when all others are hidden (latent projection).

        >>> Graph("U -> {X, Y}; X -> M -> Y").project({"X", "Y"})
        Graph('X -> Y; X <-> Y')
        """
        kept = self._known_set(keep)
        names, (directed, bidirected) = self.variables, project(self.bits, self.bits.of(kept))
        pairs = [(min(names[a], names[b]), max(names[a], names[b])) for a, b in bidirected]
        return self._with(self.in_order(kept), [(names[a], names[b]) for a, b in directed], pairs)

    def without_edges(self, into: Nodes = (), out_of: Nodes = ()) -> Graph:
        """The graph without some edges.

        Parameters
        ----------
        into
            Variables that lose every edge into them (`->` and `<->`), as when they are set.
        out_of
            Variables that lose every edge out of them (`->`).

        Returns
        -------
        Graph
            The same variables with the edges that are left.
        """
        into, out_of = self._known_set(into), self._known_set(out_of)
        return self._with(
            self.variables,
            [(a, b) for a, b in self.directed if b not in into and a not in out_of],
            [(a, b) for a, b in self.bidirected if a not in into and b not in into],
        )

    def _with(self, variables: Iterable[str], directed: Iterable[Edge], bidirected: Iterable[Edge]) -> Graph:
        """A graph made from this one, whose order stays causal: nothing has to be checked or sorted again."""
        return self._of((tuple(variables), frozenset(directed), frozenset(bidirected), Origin()))

    # -- separation ----------------------------------------------------------------------------

    def separated(self, a: Nodes, b: Nodes, given: Nodes = ()) -> bool:
        """Whether the graph implies that two sets of variables are independent given a third (m-separation).

        Parameters
        ----------
        a, b, given
            Names or sets of names; no variable may be in two of them.

        Returns
        -------
        bool
            True if every path between a and b is blocked.
        """
        a, b, given = self._known_set(a), self._known_set(b), self._known_set(given)
        if a & b or (a | b) & given:
            raise GraphError("separated: the three sets of variables must not overlap")
        bits = self.bits
        return not bits.of(b) & reachable(bits, bits.of(a), bits.of(given))[0]

    def has_backdoor(self, x: str, y: str) -> bool:
        """Whether some back-door path is open, so that seeing x tells something else about y than setting it.

        Parameters
        ----------
        x, y
            The treatment and the outcome.

        Returns
        -------
        bool
            True if some path from x to y starts with an arrow into x and is open (nothing conditioned on).
        """
        bits, x, y = self.bits, self._known(x), self._known(y)
        if x == y:
            raise GraphError("has_backdoor: the treatment and the outcome must be different variables")
        # Where nothing is conditioned on, a path is open if both ends lie below one variable or one hidden cause.
        of_x = bits.ancestral[bits.place[x]]
        of_y = reached(1 << bits.place[y], bits.parents, ~(1 << bits.place[x]))
        return bool(of_y & (of_x | union(bits.siblings, of_x)))

    def proper_backdoor(self, do: Nodes, on: str) -> tuple[Graph, frozenset[str]]:
        """The graph in which every path between what is set and the outcome is a back-door path, and the variables that
        one may adjust for (Perković et al., JMLR 2018).

        A causal path is proper if only its first variable is set. The graph lacks the first edges of these paths; not
        allowed are the variables on them, and everything that these act on.

        Parameters
        ----------
        do, on
            The variables that are set together, and the outcome.
        """
        do = self._known_set(do)
        after = {v for x in do for v in self.without_edges(into=do).descendants(x)}
        causal = (after & self.without_edges(out_of=do).ancestral(on)) - do
        directed = [(a, b) for a, b in self.directed if not (a in do and b in causal)]
        forbidden = do.union({on}, causal, *(self.descendants(v) for v in causal))
        return self._with(self.variables, directed, self.bidirected), frozenset(self.variables) - forbidden
