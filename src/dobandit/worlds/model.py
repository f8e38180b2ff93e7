"""The world: every variable with its mechanism, hidden causes included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices
from dobandit.chance import generator
from dobandit.errors import UnknownVariable, WorldError, listing
from dobandit.graph import Graph
from dobandit.problem import Arm, Problem, is_number
from dobandit.worlds.exact import SharedEffects, ancestral, marginal
from dobandit.worlds.fitting import fitted, worth
from dobandit.worlds.sampling import Codes, Mechanism, draw, mechanisms
from dobandit.worlds.tables import Labels, Node, check_rows

Column = NDArray[np.int64] | NDArray[np.str_]
WORTH_SHARING = 64  # variables, from which on the means of all arms are computed together
_DRAWN_TOGETHER = 2**16  # rows of a sample whose uniform numbers are in memory at the same time


@dataclass(frozen=True, eq=False)
class World:
    """A discrete structural causal model, frozen; the first axis of every table is the trial.

    A single world is a batch of one trial. `graph` has the observed variables, `<->` standing for
    the hidden ones; `domains` has the labels of their values, which inside are codes 0, 1, ...
    `nodes` has everything, inputs before what reads them.
    """

    graph: Graph
    nodes: tuple[Node, ...]
    domains: Labels

    def __post_init__(self) -> None:
        _check(self)
        for node in self.nodes:
            node.table.flags.writeable = False

    @property
    def trials(self) -> int:
        return len(self.nodes[0].table) if self.nodes else 1

    @property
    def estimated(self) -> str | None:
        """A sentence about how well the means are known; None: they are exact."""
        return None

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Where each variable stands among the nodes, hidden ones included."""
        return {node.name: i for i, node in enumerate(self.nodes)}

    # -- batches -------------------------------------------------------------------------------

    @classmethod
    def stack(cls, worlds: Iterable[World]) -> World:
        """Worlds of the same structure as one batch, trial after trial.

        >>> from dobandit.worlds import xor
        >>> World.stack(xor("X -> Y", seed) for seed in range(3))
        <World: X and Y, 3 trials>
        """
        worlds = list(worlds)
        if not worlds:
            raise WorldError("a batch of worlds needs at least one world")
        if len(worlds) > 1 and any(world.estimated for world in worlds):
            raise WorldError("worlds that are drawn from a simulator make no batch: simulate one for all trials")
        first, *others = map(_structure, worlds)
        for i, other in enumerate(others, 1):
            if other != first:
                raise WorldError(f"world {i} differs from world 0 in its variables, values or inputs")
        tables = zip(*((node.table for node in world.nodes) for world in worlds), strict=True)
        nodes = zip(worlds[0].nodes, map(np.concatenate, tables), strict=True)
        return cls(worlds[0].graph, tuple(node._replace(table=table) for node, table in nodes), worlds[0].domains)

    def slice(self, trials: range) -> World:
        """Some consecutive trials of the batch."""
        nodes = tuple(node._replace(table=node.table[trials.start : trials.stop]) for node in self.nodes)
        return World(self.graph, nodes, self.domains)

    def trial(self, i: int) -> World:
        """The world of one trial of the batch."""
        return self.slice(range(i, i + 1))

    def fit(self, problem: Problem) -> World:
        """This world with the labels of `problem` in its order, so that codes mean the same in both."""
        return fitted(self, problem)

    # -- exact numbers -------------------------------------------------------------------------

    def means(self, problem: Problem) -> Array:
        """E[reward | arm] for the arms of the problem, in the user's units: (arm), or (trial, arm) for a batch.

        >>> from dobandit.worlds import parallel
        >>> world = parallel(n=3, p=[0.02, 0.02, 0.5], epsilon=0.3)
        >>> world.means(Problem(world.graph, "Y", budget=1)).round(4)
        array([0.5   , 0.4939, 0.8   , 0.5   , 0.5   , 0.5   , 0.5   ])
        """
        world = self.fit(problem)
        values, reward = worth(world, problem), problem.reward

        shared = SharedEffects(world.nodes, reward, values) if len(world.nodes) > WORTH_SHARING else None

        @cache
        def effects(acting: tuple[str, ...]) -> Array:
            """The means for all values of these variables: axes (trial, value, value, ...)."""
            if shared is not None:
                return shared.of(acting)
            return _expectation(marginal(world.nodes, (*acting, reward), free=acting), values)

        @cache
        def relevant(do: tuple[str, ...]) -> set[str]:
            return ancestral(world.nodes, [reward], free=do)

        by_arm = []
        for arm in problem.arms:
            codes = {v: code for v, code in world._codes(arm).items() if v in relevant(arm.variables)}
            at: tuple[slice | int, ...] = (slice(None), *codes.values())
            by_arm.append(effects(tuple(codes))[at])
        return self._squeezed(np.stack(np.broadcast_arrays(*by_arm), axis=1))

    def worth(self, problem: Problem) -> Array:
        """What each value of the reward is worth, by the codes of `fit(problem)`."""
        return worth(self.fit(problem), problem)

    def distribution(self, variables: Sequence[str], arm: Arm | str = "do()") -> Array:
        """The joint distribution of some observed variables under an arm, an axis for each.

        >>> from dobandit.worlds import xor
        >>> xor("X -> Y", seed=0).distribution(["X", "Y"], "do(X=1)")
        array([[0. , 0. ],
               [0.2, 0.8]])
        """
        names = tuple(map(self._observed, variables))
        if not names or len(set(names)) < len(names):
            raise WorldError(f"a distribution is of one or more different variables, not of {listing(names)}")
        nodes = list(self.nodes)
        for name, code in self._codes(arm).items():
            at = self.positions[name]
            point = np.zeros((self.trials, nodes[at].card))
            point[:, code] = 1.0
            nodes[at] = Node(name, (), point)
        return self._squeezed(marginal(nodes, names))

    # -- draws ---------------------------------------------------------------------------------

    def clamps(self, arms: Iterable[Arm | str]) -> NDArray[np.int32]:
        """For every arm and node the code that the arm sets it to, -1 where it leaves it alone: axes (node, arm)."""
        arms = list(arms)
        found = np.full((len(self.nodes), len(arms)), -1, dtype=np.int32)
        for k, arm in enumerate(arms):
            for name, code in self._codes(arm).items():
                found[self.positions[name], k] = code
        return found

    def step(self, clamped: NDArray[np.integer], uniforms: Array, trial: Indices | None = None) -> Codes:
        """What happens: the codes of all nodes, for uniforms of shape (row, node) or (round, row, node).

        `clamped` is what `clamps` says of each row's (and round's) arm: the node is its first axis. `trial` says in
        whose world each row lives; without it row i is trial i, and a single world serves any number of rows.

        >>> from dobandit.worlds import xor
        >>> world = World.stack(xor("X -> Y", seed) for seed in range(3))
        >>> clamps = world.clamps(["do()", "do(X=0)", "do(X=1)"])
        >>> world.step(clamps[:, [1, 2, 2]], np.full((3, 2), 0.5))
        array([[0, 0],
               [1, 1],
               [1, 1]], dtype=int8)
        """
        *_, trials, width = uniforms.shape
        if width != len(self.nodes) or (trial is None and self.trials not in (1, trials)):
            raise WorldError(
                f"uniforms of shape {uniforms.shape} do not fit a world of {self.trials} trials and "
                f"{len(self.nodes)} nodes"
            )
        return draw(self._mechanisms, np.broadcast_to(clamped, (width, *uniforms.shape[:-1])), uniforms, trial)

    def sample(self, arm: Arm | str, n: int, seed: int) -> dict[str, Column]:
        """n rows seen under an arm, as columns: whole numbers where all labels are, else texts."""
        if self.trials != 1:
            raise WorldError(f"a sample is drawn from one world, but this is a batch of {self.trials}: use trial(i)")
        if not is_number(n) or n < 0 or n != int(n):
            raise WorldError(f"a sample has a whole number of rows, not {n!r}")
        clamped = self.clamps([arm])[..., np.newaxis]
        n, chance = int(n), generator(seed, "sample")
        parts = [
            self.step(clamped, chance.random((min(_DRAWN_TOGETHER, n - start), 1, len(self.nodes))))
            for start in range(0, max(n, 1), _DRAWN_TOGETHER)
        ]
        codes = np.concatenate(parts)[:, 0]
        return {v: _column(self.domains[v])[codes[:, self.positions[v]]] for v in self.graph.variables}

    @cached_property
    def _mechanisms(self) -> tuple[Mechanism, ...]:
        return mechanisms(self.nodes)

    # ------------------------------------------------------------------------------------------

    def _codes(self, arm: Arm | str) -> dict[str, int]:
        """The variables that an arm sets, and the codes of their values."""
        arm = arm if isinstance(arm, Arm) else Arm.parse(arm)
        for variable in arm.variables:
            self._observed(variable)
        return arm.codes(self.domains)

    def _observed(self, name: str) -> str:
        if name not in self.graph:
            raise UnknownVariable(name, self.graph.variables)
        return name

    def _squeezed(self, values: Array) -> Array:
        return values[0] if self.trials == 1 else values

    def __repr__(self) -> str:
        hidden = len(self.nodes) - len(self.graph.variables)
        return f"<World: {listing(self.graph.variables)}" + (
            (f", {hidden} hidden" if hidden else "") + (f", {self.trials} trials>" if self.trials > 1 else ">")
        )


def _expectation(distribution: Array, values: Array) -> Array:
    """The mean over the last axis, added up in a fixed order whatever the size of the batch."""
    terms = (distribution[..., code] * value for code, value in enumerate(values))
    return reduce(np.add, terms)


def _column(labels: tuple[str, ...]) -> Column:
    whole = all(text.lstrip("-").isdecimal() and len(text) < 18 and str(int(text)) == text for text in labels)
    return np.array(list(map(int, labels))) if whole else np.array(labels)


def _structure(world: World) -> tuple[Graph, list[tuple[Any, ...]], dict[str, tuple[str, ...]]]:
    shapes = [(node.name, node.inputs, node.table.shape[1:]) for node in world.nodes]
    return world.graph, shapes, dict(world.domains)


def _check(world: World) -> None:
    cards: dict[str, int] = {}
    for node in world.nodes:
        if node.name in cards:
            raise WorldError(f"{node.name} is listed twice among the variables of this world")
        for name in node.inputs:
            if name not in cards:
                raise WorldError(f"{node.name} reads {name}, which is not a variable that comes before it")
        expected = (world.trials, *(cards[name] for name in node.inputs))
        if node.table.shape[:-1] != expected or node.table.ndim != len(expected) + 1:
            shape = f"({', '.join(map(str, expected))}, number of values)"
            raise WorldError(f"the table of {node.name} has the shape {node.table.shape}, not {shape}")
        cards[node.name] = node.card
        check_rows(node.table, node.name, node.inputs, world.domains)
    if world.domains.keys() != set(world.graph.variables):
        raise WorldError("the variables with values are not those of the graph")
    for name, labels in world.domains.items():
        if cards.get(name) != len(labels):
            raise WorldError(f"{name} has {len(labels)} values, but its table has {cards.get(name, 0)}")
