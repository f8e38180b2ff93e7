"""The graph of a problem as a picture: what can be set, what is only seen, what observations tell of the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dobandit.errors import counted
from dobandit.estimate.observational import Bounds
from dobandit.identification import is_identifiable
from dobandit.numerals import interval
from dobandit.plots import Kind
from dobandit.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASHED, DOTTED = (0.0, (5.0, 2.0)), (0.0, (1.2, 1.2))
LEGEND = {
    "reward": Kind("the reward", "#E69F00", 2.4),
    "learnt": Kind("can be set; observations show its effect", "#56B4E9", 1.6),
    "bounded": Kind("can be set; observations bound its effect", "#CC79A7", 1.6, DASHED),
    "bought": Kind("can be set; only experiments show its effect", "#CC79A7", 1.6, DOTTED),
    "fixed": Kind("cannot be set", "#DDDDDD", 0.7),
}
MOST_NOTES = 8


def problem_figure(problem: Problem, bounds: Mapping[str, Bounds] | None = None) -> Figure:
    """The graph; with the `bounds` that observations set to options that they do not identify, these are told, too."""
    from dobandit.plots import graph_figure

    graph, bounds = problem.graph, bounds or {}
    alone = {arm.variables[0] for arm in problem.arms if len(arm.variables) == 1}
    bounded = {arm.variables[0] for arm in problem.arms if len(arm.variables) == 1 and str(arm) in bounds}
    kinds = dict.fromkeys(graph.variables, "fixed") | dict.fromkeys(problem.intervenable, "bought")
    kinds |= dict.fromkeys(bounded, "bounded")
    kinds |= {v: "learnt" for v in alone if is_identifiable(graph, v, problem.reward)}
    kinds[problem.reward] = "reward"
    edges = sorted(graph.directed), sorted(graph.bidirected)
    return graph_figure(graph.variables, *edges, kinds=kinds, legend=LEGEND, notes=_notes(problem, bounds))


def _notes(problem: Problem, bounds: Mapping[str, Bounds]) -> list[str]:
    """The bounds of every option, as far as there is room."""
    told = [f"{arm}: {interval(found.low, found.high)}" for arm, found in bounds.items()]
    if not told:
        return []
    more = [f"and of {counted(len(told) - MOST_NOTES, 'more option')}"] if len(told) > MOST_NOTES else []
    return [f"Means of {problem.reward} that agree with the observations:", *told[:MOST_NOTES], *more]
