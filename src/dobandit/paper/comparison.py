"""Our curves beside the published ones: how many points agree, and whether the claims hold on either side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.paper.claims import SIGNIFICANT, TIE, YES, Claim, Side, Verdict, average, of_points, of_trials
from dobandit.paper.reproduction import Reproduced
from dobandit.plots import Curve

READ = 5e-4  # how precisely a point can be read off a figure: some that must be zero are read as 0.0001 or 0.0002
AGREES = 0.8  # the share of points from which a curve counts as reproduced
EARLY = 0.1  # the first stretch of the grid, where a difference can hide in a good share


class Agreement(NamedTuple):
    """How many of the points lie within three joint standard errors of the published ones."""

    within: int
    points: int

    @property
    def share(self) -> float:
        return self.within / self.points if self.points else math.nan

    def __str__(self) -> str:
        return f"{self.within} of {self.points} ({self.share:.0%})" if self.points else ""


def agreement(ours: Curve, published: Curve, start: float = 0.0) -> Agreement:
    """Over the places of the grid from `start` on where both have a point."""
    mine = {x: (mean, se) for x, mean, se in zip(ours.x, ours.mean, ours.se, strict=True) if x >= start}
    within = [
        abs(mine[x][0] - mean) <= max(SIGNIFICANT * math.hypot(mine[x][1], se), READ)
        for x, mean, se in zip(published.x, published.mean, published.se, strict=True)
        if x in mine and not math.isnan(mine[x][1])  # a single trial has no standard error: nothing can be said
    ]
    return Agreement(sum(within), len(within))


def differs(found: Reproduced, policy: str) -> bool:
    """Whether the curve tells another story than the published one: on many points, or clearly in the beginning."""
    published = found.published[policy]
    early = average(len(published.x), 0, EARLY)
    theirs = of_points({policy: published}).number({policy: early})
    ours = of_trials({policy: found.regret[policy][:, np.isin(found.panel.grid, published.x)]}).number({policy: early})
    apart = abs(theirs.value - ours.value) > max(SIGNIFICANT * math.hypot(theirs.error, ours.error), READ)
    return agreement(found.curves[policy], published).share < AGREES or apart


def nearest(found: Reproduced, policy: str) -> str:
    """Of the forms of a policy that were run, the one with most points in agreement, or else the least distance."""

    def nearness(form: str) -> tuple[int, float]:
        ours, there = found.curves[form], found.published[form]
        apart = np.abs(np.interp(there.x, ours.x, ours.mean) - there.mean)  # their places are among ours
        return agreement(ours, there).within, -float(apart.mean())

    return max((form for form in found.panel.forms(policy) if form in found.published), key=nearness, default=policy)


def notes(found: Reproduced) -> dict[str, str]:
    """What is to be said about curves that differ from the published ones, and about their variants."""
    said = {}
    for policy in found.panel.experiment.policies:
        forms = [form for form in found.panel.forms(policy) if form in found.published]
        far = [form for form in forms if differs(found, form)]
        why = found.panel.notes.get(policy, "") if policy in far else ""
        variants = [_of_variant(found, policy, form, far) for form in forms if far and form != policy]
        if text := " ".join(filter(None, [why, *variants])):
            said[policy] = text
    return said


def _of_variant(found: Reproduced, policy: str, variant: str, far: Sequence[str]) -> str:
    """How near a variant comes to the published curve, beside the policy itself."""
    there = found.published[variant]
    shown = agreement(found.curves[variant], there)
    if variant not in far:
        return f"`{variant}` agrees with the published curve on {shown} of the points."
    if policy not in found.published:
        return f"`{variant}` is not the same as the published curve: it agrees on {shown} of the points."
    if nearest(found, policy) == variant:
        return (
            f"`{variant}` comes closer to the published curve but is not the same: it agrees on {shown} of the points."
        )
    own = agreement(found.curves[policy], there)
    return (
        f"Here `{policy}` itself is closer to the published curve than `{variant}`: they agree with it on {own} and "
        f"{shown} of the points."
    )


class Judgement(NamedTuple):
    """Whether a claim holds for the published points, for our run with the forms of the baselines that are nearest to
    them, and for our run with baselines as their papers define them; None where that cannot be said."""

    text: str
    published: Verdict | None
    nearest: Verdict | None
    as_defined: Verdict | None

    def remark(self) -> str | None:
        """What is to be said where the three do not agree that the claim holds."""
        if self.published is None or self.nearest is None or self.as_defined is None:
            return None
        if self.published.answer != YES:
            return f"{self.text} The paper's own points do not show it."
        if self.nearest.answer != YES:
            return f"{self.text} Our run does not show it: {_said(self.nearest)}."
        if self.as_defined.answer != YES:
            return (
                f"{self.text} Our run shows it with the forms of the baselines that are closest to the published "
                f"curves. With the baselines as their papers define them, it does not: {_said(self.as_defined)}."
            )
        return None


def judgements(found: Reproduced) -> list[Judgement]:
    """The claims of the paper about a panel, checked."""
    return [
        Judgement(claim.text, *(claim.check(side, *claim.of) if side else None for side in _sides(found, claim)))
        for claim in found.panel.claims
    ]


def _sides(found: Reproduced, claim: Claim) -> list[Side | None]:
    """The published points of the policies that a claim is about, and our runs with both forms of the baselines."""
    names = (*found.panel.experiment.policies, *claim.also)
    return [
        of_points({p: found.published[p] for p in names}) if set(names) <= set(found.published) else None,
        _run(found, {p: nearest(found, p) for p in names}),
        _run(found, {p: p for p in names}),
    ]


def _run(found: Reproduced, parts: Mapping[str, str]) -> Side | None:
    """Our policies in the parts of the paper's, or None if one is missing, or a single trial leaves all open."""
    if found.trials < 2 or not set(parts.values()) <= set(found.regret):
        return None
    return of_trials({part: found.regret[name] for part, name in parts.items()})


def _said(verdict: Verdict) -> str:
    return "the difference is within the noise" if verdict.answer == TIE else "the claim is false there"
