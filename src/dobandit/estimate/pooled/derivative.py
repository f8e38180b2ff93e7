"""The derivatives of a circuit's outputs by its cells: backwards through the steps, by the chain rule.

Most nodes matter for few outputs. So the unit of work is a pair (node, output) that depends on each other; which
pairs there are, and which product passes on which pair's derivative, is settled once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices

CONSTANTS = 2  # nodes behind the cells: one and zero
MOST_NUMBERS = 2**22  # that are in memory at the same time
MOST_PAIRS = 2**20  # of nodes and outputs, which are settled one by one


class Step(NamedTuple):
    """New nodes, each a sum over terms of a product over factors: inputs has axes (factor, term, node)."""

    inputs: Indices
    made: slice


class Passing(NamedTuple):
    """What one step passes on: the derivative of `source` times a product of `others` is a part of that of `target`."""

    step: Step
    source: Indices
    others: Indices  # places in the flat array (factor, term, node)
    target: Indices
    turns: list[slice]  # within a turn no target occurs twice


def derivative(size: int, cells: int, steps: Sequence[Step], outputs: Indices) -> Derivative | DenseDerivative:
    """The derivatives of some outputs, by pairs or, where these would be too many, by all nodes and outputs."""
    kind = DenseDerivative if size * len(outputs) > MOST_PAIRS else Derivative
    return kind(size, cells, steps, outputs)


class DenseDerivative:
    """The derivatives of many outputs: some outputs at a time, each with all nodes up to the last of them, because a
    node depends on earlier ones only. The bits are the same."""

    def __init__(self, size: int, cells: int, steps: Sequence[Step], outputs: Indices) -> None:
        self._size, self._cells, self._outputs = size, cells, outputs
        self._steps = [(step, _slots(step, cells)) for step in reversed(steps)]

    def of(self, values: Array) -> Array:
        """The derivatives at these values of all nodes, with axes (output, cell, row)."""
        found = np.empty((len(self._outputs), self._cells, values.shape[1]))
        together, order = max(1, MOST_NUMBERS // (self._size * values.shape[1])), np.argsort(self._outputs)
        for first in range(0, len(order), together):
            part = order[first : first + together]
            found[part] = np.moveaxis(self._adjoint(values, self._outputs[part])[: self._cells], 0, 1)
        return found

    def _adjoint(self, values: Array, outputs: Indices) -> Array:
        """Axes (node, output, row)."""
        steps = [(step, slots) for step, slots in self._steps if step.made.start <= outputs.max()]
        size = steps[0][0].made.stop if steps else self._cells + CONSTANTS
        adjoint = np.zeros((size, len(outputs), values.shape[1]))
        adjoint[outputs, np.arange(len(outputs))] = 1.0
        for step, slots in steps:
            others = _products_of_others(values.take(step.inputs, axis=0)).reshape(-1, *values[step.made].shape)
            for factors, (made, nodes, turns) in zip(others, slots, strict=True):
                part = adjoint[step.made].take(made, axis=0) * factors.take(made, axis=0)[:, np.newaxis]
                for turn in turns:
                    adjoint[nodes[turn]] += part[turn]
        return adjoint


def _slots(step: Step, cells: int) -> list[tuple[Indices, Indices, list[slice]]]:
    """For every factor of every term: the new nodes that it is a part of, its nodes, and turns without a node twice."""
    found = []
    for nodes in step.inputs.reshape(-1, step.inputs.shape[2]):
        real = np.flatnonzero((nodes < cells) | (nodes >= cells + CONSTANTS))
        order, turns = _turns(nodes[real])
        found.append((real[order], nodes[real][order], turns))
    return found


class Derivative:
    """The derivatives of some outputs."""

    def __init__(self, size: int, cells: int, steps: Sequence[Step], outputs: Indices) -> None:
        matters = _matters(size, cells, steps, outputs)
        pair = np.full(matters.shape, -1, dtype=np.intp)
        pair[matters] = np.arange(matters.sum())
        self._shape = (len(outputs), cells)
        self._pairs = int(matters.sum())
        self._start = pair[outputs, np.arange(len(outputs))]
        self._passing = [_passing(step, cells, matters, pair) for step in reversed(steps)]
        cell, output = np.nonzero(matters[:cells])
        self._places = output * cells + cell
        self._most = max([self._pairs, *(len(p.source) for p in self._passing)])

    def of(self, values: Array) -> Array:
        """The derivatives at these values of all nodes, with axes (output, cell, row)."""
        rows = values.shape[1]
        found = np.zeros((self._shape[0] * self._shape[1], rows))
        together = max(1, MOST_NUMBERS // self._most)
        for first in range(0, rows, together):
            part = slice(first, first + together)
            adjoint = self._adjoint(np.ascontiguousarray(values[:, part]))
            found[:, part][self._places] = adjoint[: len(self._places)]
        return found.reshape(*self._shape, rows)

    def _adjoint(self, values: Array) -> Array:
        adjoint = np.zeros((self._pairs, values.shape[1]))
        adjoint[self._start] = 1.0
        for passing in self._passing:
            others = _products_of_others(values.take(passing.step.inputs, axis=0))
            part = adjoint.take(passing.source, axis=0)
            part *= others.reshape(-1, values.shape[1]).take(passing.others, axis=0)
            for turn in passing.turns:
                adjoint[passing.target[turn]] += part[turn]
        return adjoint


def _matters(size: int, cells: int, steps: Sequence[Step], outputs: Indices) -> Flags:
    """Which node matters for which output."""
    found = np.zeros((size, len(outputs)), dtype=bool)
    found[outputs, np.arange(len(outputs))] = True
    for step in reversed(steps):
        for nodes in step.inputs.reshape(-1, step.inputs.shape[2]):
            np.logical_or.at(found, nodes, found[step.made])
    found[cells : cells + CONSTANTS] = False
    return found


def _passing(step: Step, cells: int, matters: Flags, pair: Indices) -> Passing:
    made, output = np.nonzero(matters[step.made])
    source = pair[step.made][made, output]
    inputs = step.inputs.reshape(-1, step.inputs.shape[2])
    node = inputs[:, made]
    others = np.arange(inputs.size).reshape(inputs.shape)[:, made]
    real = (node < cells) | (node >= cells + CONSTANTS)
    target = pair[node, output][real]
    order, turns = _turns(target)
    return Passing(
        step, np.broadcast_to(source, node.shape)[real][order], others[real][order], target[order], turns
    )  # fmt: skip


def _turns(target: Indices) -> tuple[Indices, list[slice]]:
    """An order in which every target comes once, then every one that has a second part, and so on.

    >>> order, turns = _turns(np.array([5, 7, 5, 5]))
    >>> order, turns
    (array([0, 1, 2, 3]), [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)])
    """
    by_target = np.argsort(target, kind="stable")
    sorted_targets = target[by_target]
    first = np.searchsorted(sorted_targets, sorted_targets)
    turn = np.empty(len(target), dtype=np.intp)
    turn[by_target] = np.arange(len(target)) - first
    ends = np.cumsum(np.bincount(turn)).tolist() if len(turn) else []
    return np.argsort(turn, kind="stable"), [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def _products_of_others(values: Array) -> Array:
    """For every factor the product of all the others; axes (factor, ...)."""
    if len(values) == 2:
        return values[::-1]
    found = np.ones(values.shape)
    for i in range(1, len(values)):
        np.multiply(found[i - 1], values[i - 1], out=found[i])
    after = np.ones(values.shape[1:])
    for i in range(len(values) - 2, -1, -1):
        after *= values[i + 1]
        found[i] *= after
    return found
