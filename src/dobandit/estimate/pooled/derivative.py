"""The derivatives of a circuit's outputs by its cells: backwards through the steps, by the chain rule.

Most nodes matter for few outputs. So the unit of work is a pair (node, output) that depends on each other; which
pairs there are, and which product passes on which pair's derivative, is settled once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.graph import members

CONSTANTS = 2  # nodes behind the cells: one and zero
MOST_NUMBERS = 2**22  # that are in memory at the same time
MOST_TOGETHER = 2**23  # nodes times outputs that are differentiated together; about half of these numbers are kept
MOST_PAIRS = 2**20  # of nodes and outputs, which are settled one by one
ALL = -1  # outputs, as bits


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
    """The derivatives of many outputs. Nodes that matter for many of them pass on the derivatives of all at once, in an
    array; the others, which were made for few outputs, pass on pair by pair."""

    def __init__(self, size: int, cells: int, steps: Sequence[Step], outputs: Indices) -> None:
        number = 1 + size * len(outputs) // MOST_TOGETHER
        together = 1 + (len(outputs) - 1) // number
        parts = [slice(first, first + together) for first in range(0, len(outputs), together)]
        self._parts = [(part, _Mixed(size, cells, steps, outputs[part])) for part in parts]
        self._shape = len(outputs), cells

    def of(self, values: Array) -> Array:
        """The derivatives at these values of all nodes, with axes (output, cell, row). They lie in memory by cell, as
        they are made: then what is computed from the cells of a condition takes less time."""
        outputs, cells = self._shape
        found = np.empty((cells, outputs, values.shape[1]))
        for row, of_row in enumerate(np.ascontiguousarray(values.T)):
            for part, derivatives in self._parts:
                found[:, part, row] = derivatives.of(of_row)
        return np.moveaxis(found, 0, 1)


class _Mixed:
    """The derivatives of some outputs. They are in one array: first those by all wide nodes, which begin with the
    cells, with axes (node, output), and then those of all pairs of narrow nodes and outputs."""

    def __init__(self, size: int, cells: int, steps: Sequence[Step], outputs: Indices) -> None:
        self._cells, self._number = cells, len(outputs)
        narrow = _narrow(size, cells, steps, outputs, len(outputs) // 8)
        keys = [node * self._number + k for node, found in enumerate(narrow) if found > 0 for k in members(found)]
        self._keys = np.array(keys, dtype=np.intp)
        self._is_wide = np.array([found == ALL for found in narrow])
        self._row = np.cumsum(self._is_wide) - 1
        self._rows = int(self._row[-1]) + 1
        self._size = self._rows * self._number + len(keys)
        self._start = self._place(outputs, np.arange(self._number))
        self._steps = [(step, self._slots(step, cells), self._passing(step, cells)) for step in reversed(steps)]

    def of(self, values: Array) -> Array:
        """The derivatives at these values of all nodes, with axes (cell, output)."""
        adjoint = np.zeros(self._size)
        adjoint[self._start] = 1.0
        wide = adjoint[: self._rows * self._number].reshape(self._rows, self._number)
        for step, slots, passing in self._steps:
            others = _products_of_others(values.take(step.inputs)).reshape(-1)
            for slot in slots:
                part = wide.take(slot.source, axis=0)
                part *= others.take(slot.others)[:, np.newaxis]
                for turn in slot.turns:
                    wide[slot.target[turn]] += part[turn]
            part = adjoint.take(passing.source) * others.take(passing.others)
            for turn in passing.turns:
                adjoint[passing.target[turn]] += part[turn]
        return wide[: self._cells]

    def _place(self, node: Indices, output: Indices) -> Indices:
        """Where the derivatives of these pairs are."""
        pair = self._rows * self._number + np.searchsorted(self._keys, node * self._number + output)
        return np.where(self._is_wide[node], self._row[node] * self._number + output, pair)

    def _slots(self, step: Step, cells: int) -> list[Passing]:
        """What wide nodes pass on, for every factor of every term."""
        found, inputs = [], step.inputs.reshape(-1, step.inputs.shape[2])
        made = np.flatnonzero(self._is_wide[step.made])
        source = self._row[step.made][made]
        for k, nodes in enumerate(inputs[:, made] if len(made) else ()):
            real = np.flatnonzero(_is_real(nodes, cells))
            order, turns = _turns(nodes[real])
            at = real[order]
            found.append(Passing(step, source[at], made[at] + k * inputs.shape[1], self._row[nodes[at]], turns))
        return found

    def _passing(self, step: Step, cells: int) -> Passing:
        """What narrow nodes pass on."""
        first, last = np.searchsorted(self._keys, np.array([step.made.start, step.made.stop]) * self._number)
        node, output = np.divmod(self._keys[first:last], self._number)
        source = self._rows * self._number + np.arange(first, last)
        return _passing(step, cells, source, node - step.made.start, lambda nodes: self._place(nodes, output))


def _narrow(size: int, cells: int, steps: Sequence[Step], outputs: Indices, most: int) -> list[int]:
    """For every node the outputs that it matters for, as bits; ALL for cells, and where these are more than `most`."""
    found = [*[ALL] * cells, *[0] * (size - cells)]

    def join(node: int, more: int) -> None:
        joined = found[node] | more
        found[node] = ALL if joined.bit_count() > most else joined

    for k, node in enumerate(outputs.tolist()):
        join(node, 1 << k)
    for step in reversed(steps):
        of_step = found[step.made]
        some = [k for k, matters in enumerate(of_step) if matters]
        inputs = step.inputs.reshape(-1, step.inputs.shape[2])[:, some].T.tolist()
        for k, sources in zip(some, inputs, strict=True):
            for source in sources:
                if found[source] != ALL:
                    join(source, of_step[k])
    found[cells : cells + CONSTANTS] = [0] * CONSTANTS
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
        self._passing = [self._passed(step, cells, matters, pair) for step in reversed(steps)]
        cell, output = np.nonzero(matters[:cells])
        self._places = output * cells + cell
        self._most = max([self._pairs, *(len(p.source) for p in self._passing)])

    def _passed(self, step: Step, cells: int, matters: Flags, pair: Indices) -> Passing:
        made, output = np.nonzero(matters[step.made])
        return _passing(step, cells, pair[step.made][made, output], made, lambda nodes: pair[nodes, output])

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


def _passing(step: Step, cells: int, source: Indices, made: Indices, places: Callable[[Indices], Indices]) -> Passing:
    """What pairs pass on: their places, which of the new nodes they are of, and the places of the same outputs with
    other nodes, axes (factor and term, pair)."""
    inputs = step.inputs.reshape(-1, step.inputs.shape[2])
    node = inputs[:, made]
    others = np.arange(inputs.size).reshape(inputs.shape)[:, made]
    real = _is_real(node, cells)
    target = places(node)[real]
    order, turns = _turns(target)
    return Passing(
        step, np.broadcast_to(source, node.shape)[real][order], others[real][order], target[order], turns
    )  # fmt: skip


def _is_real(node: Indices, cells: int) -> Flags:
    """Whether nodes are not the constants."""
    return (node < cells) | (node >= cells + CONSTANTS)


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
