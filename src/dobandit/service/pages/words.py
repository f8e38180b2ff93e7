"""Sentences of the pages that have no counterpart on the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dobandit.problem import Arm, Problem, Value, is_missing, label
from dobandit.report import interval, number
from dobandit.service.pages.rendering import percent


def option(arm: str) -> str:
    """An option as people say it.

    >>> option("do(Discount=1)"), option("do()")
    ('Discount = 1', 'no intervention')
    """
    settings = Arm.parse(arm).settings
    return ", ".join(f"{variable} = {value}" for variable, value in settings) or "no intervention"


def is_share(problem: Problem) -> bool:
    """Whether the mean of the reward is the share of its outcomes that are 1."""
    return not problem.reward_is_continuous and tuple(problem.reward_values) == (0.0, 1.0)


def mean(value: float, share: bool) -> str:
    if math.isnan(value):
        return "not known yet"
    return f"{100 * value:.1f}\u00a0%" if share else number(value)


def ends(low: float, high: float, share: bool) -> str:
    if math.isnan(low):
        return "not known yet"
    return f"{100 * low:.0f} to {100 * high:.0f}\u00a0%" if share else interval(low, high)


def value(given: Value | None) -> str:
    return "" if is_missing(given) else label(given)


def answer_in_words(summary: Mapping[str, Any]) -> str:
    """The answer of a study in a few words."""
    found = summary["best"]
    if not summary["told"] and not found["observational"]:
        return "nothing is known yet"
    return f"{option(found['arm'])}, {percent(found['probability_best'])} sure"
