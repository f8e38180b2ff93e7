"""The graph of a problem as a picture: what can be set, what is only seen, and whose effect observations tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.identification import is_identifiable
from dobandit.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEGEND = {
    "reward": ("the reward", "#E69F00"),
    "learnt": ("can be set; observations tell its effect", "#56B4E9"),
    "bought": ("can be set; only experiments tell", "#CC79A7"),
    "fixed": ("cannot be set", "#DDDDDD"),
}


def problem_figure(problem: Problem) -> Figure:
    from dobandit.plots import graph_figure

    graph = problem.graph
    alone = {arm.variables[0] for arm in problem.arms if len(arm.variables) == 1}
    kinds = dict.fromkeys(graph.variables, "fixed") | dict.fromkeys(problem.intervenable, "bought")
    kinds |= {v: "learnt" for v in alone if is_identifiable(graph, v, problem.reward)}
    kinds[problem.reward] = "reward"
    return graph_figure(graph.variables, sorted(graph.directed), sorted(graph.bidirected), kinds=kinds, legend=LEGEND)
