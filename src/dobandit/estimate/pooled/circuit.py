"""Sums of products as a circuit: compiled once, then evaluated and differentiated for all rows of a batch together.

A node is one number per row. The first nodes are the cells of tables; every other one is a sum of products of earlier
nodes. Nodes that need nothing of each other are made in one step, so that a step is a few NumPy calls however many
nodes it has. Values lie as (node, row), and rows meet only in element-wise operations: the bits of a row do not
depend on its company.

>>> circuit = Circuit(4, {"A": 2})  # two cells of P(A), two of E[Y | A]
>>> total = circuit.sum_out([Function(("A",), np.array([0, 1])), Function(("A",), np.array([2, 3]))], {"A"})
>>> compiled = circuit.compile([total.nodes.item()])
>>> values = compiled.values(np.array([[0.25], [0.75], [1.0], [0.0]]))
>>> compiled.outputs(values), compiled.gradient(values)[0, :, 0]
(array([[0.25]]), array([1.  , 0.  , 0.25, 0.75]))
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled.derivative import DenseDerivative, Derivative, Step, derivative


def total(values: Array) -> Array:
    """The sum along the first axis, in an order that no batch can change: one half is added to the other."""
    return added_up(np.array(values, order="C"))


def added_up(values: Array) -> Array:
    """The same, where the values are not needed any more: they are overwritten."""
    left = len(values)
    if not left:
        return np.zeros(values.shape[1:])
    while left > 1:
        half, odd = divmod(left, 2)
        values[:half] += values[half : 2 * half]
        if odd:
            values[half] = values[left - 1]
        left = half + odd
    return np.asarray(values[0])


WORTH_A_CALL = 1024  # products that take as long as a NumPy call in a small batch


class Function(NamedTuple):
    """A function of some variables: a node for every combination of their values."""

    axes: tuple[str, ...]
    nodes: Indices


class Operation(NamedTuple):
    """New nodes, each the sum over `terms` of the product over `factors`: inputs have axes (factor, term, node)."""

    level: int
    inputs: Indices
    first: int  # of the new nodes


class Circuit:
    """A circuit that is being built."""

    def __init__(self, cells: int, cards: Mapping[str, int]) -> None:
        self.cells, self._cards = cells, cards
        self.one, self.zero = cells, cells + 1  # nodes that are always one, or zero
        self._size = cells + 2
        self._operations: list[Operation] = []
        self._levels = [0] * self._size

    def constant(self) -> Function:
        """The function that is one."""
        return Function((), np.array(self.one))

    def sum_out(self, functions: Sequence[Function], over: Collection[str]) -> Function:
        """The product of the functions, summed over some variables."""
        axes = tuple(dict.fromkeys(a for f in functions for a in f.axes if a not in over))
        if len(functions) == 1 and not over:
            return functions[0]
        summed = tuple(dict.fromkeys(a for f in functions for a in f.axes if a in over))
        shape = tuple(self._cards[a] for a in axes)
        terms, number = math.prod(self._cards[a] for a in summed), math.prod(shape)
        spread = [self._spread(f, (*summed, *axes)).reshape(terms, number) for f in functions]
        level = 1 + max(self._levels[node] for f in functions for node in f.nodes.flat)
        self._operations.append(Operation(level, np.stack(spread), self._size))
        self._levels += [level] * number
        self._size += number
        return Function(axes, np.arange(self._size - number, self._size).reshape(shape))

    def _spread(self, function: Function, axes: tuple[str, ...]) -> Indices:
        """The nodes of a function for all values of these variables."""
        present = [a for a in axes if a in function.axes]
        nodes = function.nodes.transpose([function.axes.index(a) for a in present])
        nodes = nodes.reshape([self._cards[a] if a in function.axes else 1 for a in axes])
        return np.broadcast_to(nodes, [self._cards[a] for a in axes])

    def compile(self, outputs: Sequence[int]) -> Compiled:
        """Operations of the same level become few steps; nodes are numbered step by step."""
        levels: dict[int, list[Operation]] = {}
        for op in self._used(outputs):
            levels.setdefault(op.level, []).append(op)
        number = np.arange(self._size)
        steps, first = [], self.zero + 1
        for level in sorted(levels):
            for group in _grouped(levels[level]):
                factors, terms = _shape_for_all(group)
                inputs = np.concatenate([self._padded(op.inputs, factors, terms) for op in group], axis=2)
                for op in group:
                    number[op.first : op.first + op.inputs.shape[2]] = np.arange(first, first + op.inputs.shape[2])
                    first += op.inputs.shape[2]
                steps.append(Step(number[inputs], slice(first - inputs.shape[2], first)))
        return Compiled(self.cells, first, steps, number[np.asarray(outputs, dtype=np.intp)])

    def _used(self, outputs: Sequence[int]) -> list[Operation]:
        """The operations that some output needs."""
        needed = np.zeros(self._size, dtype=bool)
        needed[list(outputs)] = True
        used = []
        for op in reversed(self._operations):
            if needed[op.first : op.first + op.inputs.shape[2]].any():
                needed[op.inputs] = True
                used.append(op)
        return used[::-1]

    def _padded(self, inputs: Indices, factors: int, terms: int) -> Indices:
        """More factors, which are one, and more terms, which are zero."""
        wide = np.full((factors, *inputs.shape[1:]), self.one)
        wide[: len(inputs)] = inputs
        long = np.full((factors, terms, inputs.shape[2]), self.zero)
        long[:, : inputs.shape[1]] = wide
        return long


def _grouped(operations: Sequence[Operation]) -> list[list[Operation]]:
    """Operations of one shape are done together; small ones of different shapes too, because a NumPy call costs as
    much as a thousand products."""
    by_shape: dict[tuple[int, ...], list[Operation]] = {}
    for op in operations:
        by_shape.setdefault(op.inputs.shape[:2], []).append(op)
    groups = sorted(by_shape.values(), key=_size)
    while len(groups) > 1 and _size(groups[0] + groups[1]) <= WORTH_A_CALL:
        groups = sorted([groups[0] + groups[1], *groups[2:]], key=_size)
    return groups


def _size(group: Sequence[Operation]) -> int:
    """The number of inputs when all operations are padded to the same shape."""
    factors, terms = _shape_for_all(group)
    return factors * terms * sum(int(op.inputs.shape[2]) for op in group)


def _shape_for_all(group: Sequence[Operation]) -> tuple[int, int]:
    return max(op.inputs.shape[0] for op in group), max(op.inputs.shape[1] for op in group)


class Compiled:
    """A finished circuit."""

    def __init__(self, cells: int, size: int, steps: Sequence[Step], outputs: Indices) -> None:
        self.cells, self.size, self.steps, self._outputs = cells, size, steps, outputs

    def values(self, cells: Array) -> Array:
        """All nodes from the cells, with axes (node, row)."""
        values = np.empty((self.size, cells.shape[1]))
        values[: self.cells] = cells
        values[self.cells] = 1.0
        values[self.cells + 1] = 0.0
        for step in self.steps:
            product = np.multiply.reduce(values.take(step.inputs, axis=0))
            if len(product) == 1:
                values[step.made] = product[0]
                continue
            made = np.add(product[0], product[1], out=values[step.made])
            for term in product[2:]:
                made += term
        return values

    def outputs(self, values: Array) -> Array:
        """The outputs with axes (output, row)."""
        return values.take(self._outputs, axis=0)

    @cached_property
    def _derivative(self) -> Derivative | DenseDerivative:
        return derivative(self.size, self.cells, self.steps, self._outputs)

    def gradient(self, values: Array) -> Array:
        """The derivative of every output by every cell, with axes (output, cell, row)."""
        return self._derivative.of(values)
