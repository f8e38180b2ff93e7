"""Drawing from many worlds in lock step: all trials of a stretch of rounds, one variable at a time.

Every variable is the answer of its mechanism to one uniform number: the row of its table that its
inputs select, cumulated, tells which value the number falls on. Row numbers are built from the codes
of the inputs with precomputed strides, so a variable costs a few passes over flat arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Indices
from dobandit.worlds.tables import Node

Codes = NDArray[np.signedinteger]
CHUNK = 2**14  # draws of a variable made together: what the passes touch stays in the cache


class Mechanism(NamedTuple):
    """How to draw one variable."""

    inputs: tuple[tuple[int, int], ...]  # position of an input among the nodes, and its stride
    first_rows: Indices  # where each trial's rows start
    limits: tuple[Array, ...]  # for every value but the last: P(at most this value), by row


def mechanisms(nodes: Sequence[Node]) -> tuple[Mechanism, ...]:
    position = {node.name: i for i, node in enumerate(nodes)}
    return tuple(_mechanism(node, [position[v] for v in node.inputs]) for node in nodes)


def _mechanism(node: Node, inputs: Sequence[int]) -> Mechanism:
    trials, *cards = node.table.shape[:-1]
    strides = [math.prod(cards[i + 1 :]) for i in range(len(cards))]
    rows = node.table.reshape(-1, node.card)
    below = np.cumsum(rows, axis=1)
    above = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
    limits = np.where(above[:, 1:] == 0, 1.0, below[:, :-1])  # rounding must not reach an impossible value
    return Mechanism(
        tuple(zip(inputs, strides, strict=True)),
        np.arange(trials, dtype=np.intp) * (len(rows) // trials),
        tuple(np.ascontiguousarray(column) for column in limits.T),
    )


def draw(
    of: Sequence[Mechanism],
    clamped: NDArray[np.integer],
    uniforms: Array,
    trial: Indices | None = None,
) -> Codes:
    """Codes with axes (row, node) or (round, row, node) for uniforms with the same axes.

    `clamped`, with the node as the first axis, says which code a node is set to; -1 is none. `trial` says whose world
    each row lives in; without it, row i lives in that of trial i.
    """
    *rounds, rows, width = uniforms.shape
    codes = np.empty((width, *rounds, rows), dtype=_small(of))
    if not rounds:
        _fill(codes, of, clamped, uniforms, trial)
    together = max(1, CHUNK // max(rows, 1))
    for start in range(0, rounds[0] if rounds else 0, together):
        part = slice(start, start + together)
        _fill(codes[:, part], of, clamped[:, part], uniforms[part], trial)
    return np.moveaxis(codes, 0, -1)


def _small(of: Sequence[Mechanism]) -> np.dtype[np.signedinteger]:
    """The smallest type that holds every code."""
    most = max((len(mechanism.limits) for mechanism in of), default=1)
    return np.min_scalar_type(-most - 1)


def _fill(
    codes: Codes,
    of: Sequence[Mechanism],
    clamped: NDArray[np.integer],
    uniforms: Array,
    trial: Indices | None,
) -> None:
    drawn: list[Indices] = []  # codes as wide as indices, which need no conversion
    for node, mechanism in enumerate(of):
        row = mechanism.first_rows if trial is None else mechanism.first_rows.take(trial)
        for position, stride in mechanism.inputs:
            row = row + (drawn[position] if stride == 1 else drawn[position] * stride)
        first, *others = mechanism.limits or (np.ones(1),)
        code = (uniforms[..., node] >= first.take(row)).astype(np.intp)
        for limit in others:
            code += uniforms[..., node] >= limit.take(row)
        np.copyto(code, clamped[node], where=clamped[node] >= 0)
        drawn.append(code)
        codes[node] = code
