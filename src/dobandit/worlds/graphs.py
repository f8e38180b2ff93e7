"""The graphs of the paper's experiments, by the numbers of its figures (Fig. 3, 9 and 10 use the parallel graph)."""

from __future__ import annotations

from dobandit.graph import Graph

N6 = Graph("X1 -> {X2, X3}; X2 -> {X3, X4}; X3 -> {X4, X5}; X4 -> {X5, X6}; X5 -> X6 -> Y")  # Fig. 6
# Fig. 7 and 11
N6_HIDDEN = Graph("X1 -> X3; X2 -> {X3, X4}; X3 -> {X4, X5, X6}; X4 -> X5 -> X6 -> Y; X1 <-> X2; X4 <-> X6")
N7 = Graph("X1 -> {X2, X3}; X2 -> {X3, X4}; X3 -> {X4, X5, X6}; X4 -> {X5, X6}; {X5, X6} -> X7 -> Y; X2 <-> {X5, X6}")
N5 = Graph("X1 -> {X2, X3, X4}; X2 -> {X3, X4}; {X3, X4} -> X5 -> Y; X3 <-> X4")  # Fig. 12
