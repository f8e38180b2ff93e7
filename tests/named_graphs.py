"""Graphs with names, and what is known of them."""

from __future__ import annotations

from dobandit.graph import Graph
from dobandit.worlds import graphs

BACK_DOOR = Graph("Z -> X -> Y; Z -> Y")
BOW = Graph("X -> Y; X <-> Y")
FRONT_DOOR = Graph("X -> M -> Y; X <-> Y")
NAPKIN = Graph("W1 -> W2 -> X -> Y; W1 <-> X; W1 <-> Y")
M_BIAS = Graph("A -> {X, M}; B -> {M, Y}; X -> Y")
INSTRUMENT = Graph("Z -> X -> Y; X <-> Y")

# The paper's six graphs, by the numbers of its figures.
FIG1 = Graph(
    "X2 -> {X4, X3}; X3 -> {X5, X1}; X4 -> {X5, X1}; X5 -> X1; X2 <-> X5; X3 <-> X1; X2 <-> X1",
    variables=["X2", "X3", "X4", "X5", "X1"],
)
FIG6, FIG7, FIG11, FIG12 = graphs.N6, graphs.N6_HIDDEN, graphs.N7, graphs.N5
PARALLEL = Graph("{" + ", ".join(f"X{i}" for i in range(1, 51)) + "} -> Y")
