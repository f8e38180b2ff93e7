"""How sure is sure? What studies say, compared with the truth of simulated worlds; writes docs/how-sure.md.

    python benchmarks/calibration.py [--worlds 40] [--trials 5] [--seed 2027] [--classes rand,bow] [--log 5000]

Our policies play the worlds of the benchmark, and at each budget the answers are those that a study gives: intervals,
the probability that the recommended option is the best, and whether a study may stop. A run over all classes, without a
log, writes the page. Evidence is kept in dobandit-out/calibration, so that an interrupted run goes on where it was, and
a change of what studies say is quick to measure; after a change of a policy delete that folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from _looks import GOAL_MIN, POLICIES, Asked, Driven, Look, studies
from _script import options
from dobandit.arrays import Array, Flags
from dobandit.certainty import standing
from dobandit.identification import is_identifiable
from dobandit.problem import Objective, Stop
from dobandit.report import Page, Points, Section, Table, to_markdown
from dobandit.report.page import Part, versions
from dobandit.suite import WORLDS

PAGE, KEPT = Path(__file__).parent.parent / "docs" / "how-sure.md", Path("dobandit-out") / "calibration"
CLASSES = (
    "rand", "strong", "bow", "bow-strong", "rare", "wide", "three-valued", "rare-reward", "revenue", GOAL_MIN
)  # fmt: skip
BUDGETS = (50.0, 100.0, 200.0, 400.0)
LEAST, MOST = 0.93, 0.98  # coverage that is wanted of 95 % intervals, give or take three standard errors
BINS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
OFF, FEWEST = 0.05, 50  # a stated probability may be off by so much and two standard errors, in bins of so many answers
LIMIT = 0.95  # a study stops at this probability, and should be right as often
STOP = Stop(probability=LIMIT)


class Answer(NamedTuple):
    """What one study says at one budget, and what is true."""

    study: tuple[int, int]  # number of the world and of the trial
    budget: float
    covered: float  # whether the interval of the recommended option contains the truth; NaN if none is stated yet
    known: float  # the share of covered options among those with own pulls or a formula
    others: float  # among the others; NaN if there are none
    excess: float  # of the recommended option's mean, as a share of the range of all options' means
    stated: float  # the probability that it is the best
    is_best: bool
    may_stop: bool


class Group(NamedTuple):
    """All answers in the worlds of a class by a policy."""

    name: str
    objective: Objective
    answers: list[Answer]

    def at(self, budget: float) -> list[Answer]:
        return [answer for answer in self.answers if answer.budget == budget]


class Share(NamedTuple):
    """A mean over answers; those of one world are not independent of each other, which its standard error respects."""

    mean: float
    se: float
    number: int

    @classmethod
    def of(cls, answers: Sequence[Answer], values: Sequence[float] | Sequence[bool]) -> Share:
        kept = [(answer.study[0], float(v)) for answer, v in zip(answers, values, strict=True) if not np.isnan(v)]
        if not kept:
            return cls(np.nan, np.nan, 0)
        worlds, numbers = (np.array(part) for part in zip(*kept, strict=True))
        mean, (_, place) = float(numbers.mean()), np.unique(worlds, return_inverse=True)
        off = np.bincount(place, numbers - mean)
        return cls(mean, float(np.sqrt((off**2).sum())) / len(numbers), len(numbers))

    def is_off(self, limit: float, errors: int, is_hit: bool = True) -> bool:
        """Whether it is more than so many standard errors beyond a limit. A `hit` is one or zero; hits that are all
        alike seem to have no error, but so many of them vary at least as those with a share at the limit do."""
        least = np.sqrt(limit * (1 - limit) / max(self.number, 1)) if is_hit else 0.0
        return abs(self.mean - limit) > errors * max(self.se, float(least))


def answered(driven: Driven, number: int) -> list[Answer]:
    """What the studies of a world say."""
    problem = driven.problem
    has_formula = np.array([is_identifiable(problem.graph, arm.variables, problem.reward) for arm in problem.arms])
    return [
        _answer(driven, look, has_formula, (number, look.trial), np.random.default_rng([number, place]))
        for place, look in enumerate(driven.looks)
    ]


def _answer(driven: Driven, look: Look, has_formula: Flags, study: tuple[int, int], rng: np.random.Generator) -> Answer:
    (known, verdict), truth = driven.said(look, rng), driven.truth
    inside = (known.low - 1e-9 <= truth) & (truth <= known.high + 1e-9)
    covered, arm, told = np.where(np.isnan(known.low), np.nan, inside), verdict.arm, look.evidence.told[0]
    is_known = has_formula | (told > 0)
    excess = (known.means[arm] - truth[arm]) * (1 if driven.problem.goal == "max" else -1)
    return Answer(
        study=study,
        budget=look.budget,
        covered=float(covered[arm]),
        known=_mean(covered[is_known]),
        others=_mean(covered[~is_known]),
        excess=float(excess / max(np.ptp(truth), 1e-9)),
        stated=verdict.probability,
        is_best=bool(driven.best(look)[arm]),
        may_stop=bool(standing(driven.case(look, STOP), known, verdict).holds),
    )


def _mean(numbers: Array) -> float:
    return float(numbers.mean()) if len(numbers) else np.nan


# -- the page ------------------------------------------------------------------------------------------


def intervals(groups: Sequence[Group], budgets: Sequence[float]) -> Section:
    rows: list[list[str]] = []
    for group in groups:
        cells = []
        for answers in map(group.at, budgets):
            own = _checked(Share.of(answers, [a.covered for a in answers]), MOST, True)
            every = _checked(Share.of(answers, [a.known for a in answers]), MOST, False)
            others = Share.of(answers, [a.others for a in answers])
            cells.append(f"{own} / {every}" + (f" / {_checked(others, 1.0, False)}" if others.number else ""))
        rows.append([group.name, POLICIES[group.objective], *cells])
    text = (
        "The table shows how many of the 95 % intervals contain the truth, in percent. The first number is for the "
        "recommended option. The second is for all options that have pulls of their own or that observations "
        "identify. The third, if any, is for the other options, which depend on the prior alone. An asterisk marks a "
        "share that is more than three standard errors outside 93 to 98 % (for the third number: below 93 %)."
    )
    return Section("Intervals", [text, Table(["world", "policy", *(f"B = {b:,g}" for b in budgets)], rows, 2)])


def _checked(share: Share, most: float, is_hit: bool) -> str:
    limit = LEAST if share.mean < LEAST else most if share.mean > most else share.mean
    return f"{100 * share.mean:.0f}" + "*" * share.is_off(limit, 3, is_hit)


def probabilities(groups: Sequence[Group], budgets: Sequence[float]) -> Section:
    everything = [(place, answer) for place, group in enumerate(groups) for answer in group.answers]
    rows = []
    for low, high in pairwise(BINS):
        some = [(k, a) for k, a in everything if low <= a.stated < high or a.stated == high == 1]
        if some:
            apart = [a._replace(study=(k * 100_000 + a.study[0], 0)) for k, a in some]  # worlds of different classes
            actual, stated = Share.of(apart, [a.is_best for a in apart]), float(np.mean([a.stated for a in apart]))
            edge = float(np.clip(actual.mean, stated - OFF, stated + OFF))
            is_off = actual.number >= FEWEST and actual.is_off(min(edge, 1.0), 2)
            told = f"{actual.mean:.3f} ± {actual.se:.3f}" + "*" * is_off
            rows.append([f"{low:g} to {high:g}", f"{actual.number:,}", f"{stated:.3f}", told])
    text = (
        "The table compares the stated probability that the recommended option is the best one with how often it "
        "was. It takes all classes, policies and budgets together. An asterisk marks a difference of more than 0.05 "
        "plus two standard errors."
    )
    by_class = [
        [group.name, POLICIES[group.objective], *(_stated(group.at(budget)) for budget in budgets)] for group in groups
    ]
    head = ["world", "policy", *(f"B = {b:,g}" for b in budgets)]
    beside = (
        "The same by class. Each cell has two numbers: the mean stated probability, and the share of answers that were "
        "right."
    )
    table = Table(["stated between", "answers", "stated, mean", "right"], rows)
    return Section("The probability of being the best", [text, table, beside, Table(head, by_class, 2)])


def _stated(answers: Sequence[Answer]) -> str:
    return f"{np.mean([a.stated for a in answers]):.2f} / {np.mean([a.is_best for a in answers]):.2f}"


def means(groups: Sequence[Group], budgets: Sequence[float]) -> Section:
    rows = []
    for group in groups:
        found = [Share.of(answers, [a.excess for a in answers]) for answers in map(group.at, budgets)]
        rows.append(
            [group.name, POLICIES[group.objective], *(f"{100 * one.mean:+.0f} ± {100 * one.se:.0f}" for one in found)]
        )
    text = (
        "How much better the stated mean of the recommended option is than its true mean, in percent of the "
        "difference between the best and the worst option of the world. A negative number means that it is stated "
        "too low."
    )
    return Section("Optimism", [text, Table(["world", "policy", *(f"B = {b:,g}" for b in budgets)], rows, 2)])


def stops(groups: Sequence[Group]) -> Section:
    rows = []
    for group in groups:
        ended = dict[tuple[int, int], Answer]()
        for answer in sorted(group.answers, key=lambda a: a.budget):
            if answer.may_stop:
                ended.setdefault(answer.study, answer)
        stopped, number = list(ended.values()), len({answer.study for answer in group.answers})
        right = Share.of(stopped, [a.is_best for a in stopped])
        is_off = right.mean < LIMIT and right.is_off(LIMIT, 2)
        told = f"{100 * right.mean:.0f} ± {100 * right.se:.0f}" + "*" * is_off if stopped else ""
        spent = f"{np.mean([a.budget for a in stopped]):,.0f}" if stopped else ""
        rows.append([group.name, POLICIES[group.objective], f"{100 * len(stopped) / number:.0f}", spent, told])
    text = (
        f"These studies stop as soon as the recommended option is the best with probability {LIMIT}. They check this "
        f"when each of the budgets above is spent. As [every study](stopping.md), they need {STOP.min_pulls} outcomes "
        f"of that option, {STOP.min_of_a_kind} good ones among them, and {STOP.min_of_a_kind} bad outcomes of any "
        "options. An asterisk marks classes in which the answer is right in less than 95 % of the stopped studies, by "
        "more than two standard errors."
    )
    head = ["world", "policy", "stopped, %", "spent", "right, %"]
    return Section("Stopping at 95 %", [text, Table(head, rows, 2)])


def page(groups: Sequence[Group], facts: dict[str, str], asked: Asked) -> Page:
    budgets = asked.budgets
    lead = (
        "A study says that an option is the best one with probability 0.9. Is that true in nine of ten such studies? "
        "This page compares what studies say with the truth in simulated worlds. It was generated by `python "
        f"benchmarks/calibration.py --worlds {asked.worlds} --trials {asked.trials} --seed {asked.seed}`; "
        "`make calibration` measures it again with 40 worlds."
    )
    about: list[Part] = [
        "In a simulation the truth is known exactly. `causal-explore` or `causal-thompson` spends the budget B. Then "
        "the study answers, just as `best` and `status` do. Several studies share a world, and the standard errors "
        "(±) allow for that. These are the classes of worlds, most of which are also in "
        "[the benchmark](benchmark.md):",
        Points([f"`{name}`: {_about(name)}" for name in dict.fromkeys(group.name for group in groups)]),
    ]
    found = [intervals(groups, budgets), probabilities(groups, budgets), means(groups, budgets), stops(groups)]
    return Page("How sure is sure?", lead, facts, [Section("The worlds", about), *found])


def _about(name: str) -> str:
    return "rand, but small rewards are wanted" if name == GOAL_MIN else WORLDS[name].about


def run(asked: Asked, classes: Sequence[str], kept: Path) -> Page:
    groups = []
    for name in classes:
        for objective in POLICIES:
            part = asked._replace(name=name, objective=objective)
            answers = [a for number, driven in enumerate(studies(part, kept)) for a in answered(driven, number)]
            groups.append(Group(name, objective, answers))
            print(f"{name}, {POLICIES[objective]}: {len(answers):,} answers", flush=True)
    facts = {"seed": str(asked.seed), "studies": f"{asked.worlds * asked.trials} for each class and policy"}
    facts |= {"worlds": f"{asked.worlds} for each class"} | ({"rows of log": f"{asked.log:,}"} if asked.log else {})
    return page(groups, {**facts, **versions()}, asked)


def main() -> None:
    given = options(__doc__, worlds=40, trials=5, seed=2027, classes=",".join(CLASSES), log=0)
    classes = tuple(given.classes.split(","))
    asked = Asked("", "simple", BUDGETS, given.worlds, given.trials, given.seed, given.log)
    if given.smoke:
        with tempfile.TemporaryDirectory() as folder:
            tiny = asked._replace(budgets=(20.0, 40.0), worlds=1, trials=2)
            print(to_markdown(run(tiny, ("rand", "revenue", GOAL_MIN), Path(folder))))
        return
    text = to_markdown(run(asked, classes, KEPT))
    print(text)
    if classes == CLASSES and not asked.log:
        PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
