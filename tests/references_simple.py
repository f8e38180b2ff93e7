"""The algorithms for simple regret once more, for one trial, with plain loops, straight from their pseudo-code.

An algorithm yields the arms that it pulls, one by one, and returns its recommendation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from fractions import Fraction
from itertools import product

from dobandit.problem import Problem
from tests.references import Row, Trial

Plays = Generator[int, None, int]
Algorithm = Callable[[Trial], Plays]


def follow(trial: Trial, algorithm: Algorithm) -> int:
    """Pull what the algorithm asks for, as far as it can be paid; what it recommends."""
    plays = algorithm(trial)
    try:
        while True:
            arm = next(plays)
            if arm in trial.affordable():
                trial.pull(arm)
    except StopIteration as end:
        return int(end.value)


def best(trial: Trial, means: dict[int, float]) -> int:
    """The largest mean; among equals do(), then the cheaper, then the first."""
    top = max(means.values(), default=0.0)
    return min((a for a in means if means[a] == top), key=lambda a: (a != 0, trial.costs[a], a), default=0)


def floor(number: float) -> int:
    return math.floor(number + 1e-9)


# -- what observations say -------------------------------------------------------------------------------


def arm_value(problem: Problem, arm: int) -> tuple[str, int]:
    what = problem.arms[arm]
    return str(what.variable), problem.domains[str(what.variable)].index(str(what.value))


def seen_mean(problem: Problem, rows: list[Row], arm: int) -> float | None:
    """E[Y | X=x]."""
    variable, x = arm_value(problem, arm)
    agreeing = [row[problem.reward] for row in rows if row[variable] == x]
    return sum(agreeing) / len(agreeing) if agreeing else None


def seen_share(problem: Problem, rows: list[Row], arm: int) -> float:
    variable, x = arm_value(problem, arm)
    return sum(row[variable] == x for row in rows) / max(len(rows), 1)


def projected_mean(problem: Problem, rows: list[Row], arm: int) -> float | None:
    """Algorithms 3-5 with t = 1: all values of all variables of H are listed."""
    variable, x = arm_value(problem, arm)
    graph = problem.graph.subgraph(problem.graph.ancestral(problem.reward))
    if variable not in graph:
        return sum(row[problem.reward] for row in rows) / max(len(rows), 1)
    component = graph.c_component(variable)
    if component & graph.children(variable):
        return None
    keep = component.union({problem.reward}, *(graph.parents(v) for v in component))
    reduced = graph.project(keep)
    total = 0.0
    for codes in product(*(range(len(problem.domains[v])) for v in reduced.variables)):
        values = dict(zip(reduced.variables, codes, strict=True))
        if values[problem.reward] != 1:
            continue
        term = 1.0
        for v in reduced.variables:
            z = {u: values[u] for u in reduced.effective_parents(v)}
            if v not in component and variable in z:
                z[variable] = x
            fitting = [row for row in rows if all(row[u] == code for u, code in z.items())]
            hits = sum(row[v] == values[v] for row in fitting)
            term *= (hits + 1) / (len(fitting) + len(problem.domains[v]))
        total += term
    return total


def rarest_cell(problem: Problem, rows: list[Row], arm: int) -> float:
    """min_z P(x, z) over the full domain of Pa~, to the power of the size of the c-component."""
    variable, x = arm_value(problem, arm)
    graph = problem.graph.subgraph(problem.graph.ancestral(problem.reward))
    if variable not in graph:
        return 1.0
    component = graph.c_component(variable)
    if component & graph.children(variable):
        return 0.0
    around = sorted(component.union(*(graph.parents(v) for v in component)) - {variable})
    cells = dict.fromkeys(product(*(range(len(problem.domains[v])) for v in around)), 0)
    for row in rows:
        if row[variable] == x:
            cells[tuple(row[v] for v in around)] += 1
    share: float = (min(cells.values()) / max(len(rows), 1)) ** len(component)
    return share


# -- thresholds ------------------------------------------------------------------------------------------


def n_of_q(rarity: dict[int, float], costs: list[float]) -> float:
    """Equation 10. The smallest tau is one over some rarity, or the cost of all arms up to some rarity."""
    by_rarity = sorted(rarity, key=lambda a: rarity[a])

    def rarer_cost(tau: float) -> float:
        return sum(costs[a] for a in by_rarity if _seldom(rarity[a]) > tau)

    steps = {_seldom(q) for q in rarity.values()}
    totals = {sum(costs[a] for a in by_rarity if _seldom(rarity[a]) >= step) for step in steps}
    return min(tau for tau in steps | totals if rarer_cost(tau) <= tau)


def _seldom(q: float) -> float:
    return 1 / q if q > 0 else math.inf


def m_of_q(rarest: list[float], largest: int) -> int:
    return next(m for m in range(2, max(largest, 2) + 1) if m == max(largest, 2) or sum(q < 1 / m for q in rarest) <= m)


def arms_of(problem: Problem, variable: str) -> list[int]:
    return [a for a in range(1, len(problem.arms)) if problem.arms[a].variable == variable]


# -- the algorithms --------------------------------------------------------------------------------------


def paper_simple(trial: Trial) -> Plays:
    problem, budget = trial.problem, trial.left
    interventions = range(1, len(problem.arms))
    no_backdoor = not any(problem.graph.has_backdoor(v, problem.reward) for v in problem.intervenable)
    mean, rarity = (seen_mean, seen_share) if no_backdoor else (projected_mean, rarest_cell)
    half = floor(budget / 2)
    yield from [0] * half  # lines 1-3
    q = {a: rarity(problem, trial.observed, a) for a in interventions}
    n = n_of_q(q, trial.costs)
    infrequent = [a for a in interventions if _seldom(q[a]) >= n]  # line 10
    if not infrequent:
        yield from [0] * half
    else:
        each = floor(budget / 2 / sum(trial.costs[a] for a in infrequent))
        for a in infrequent:
            yield from [a] * each
    return best(trial, _estimates(trial, mean))


def _estimates(trial: Trial, mean: Callable[[Problem, list[Row], int], float | None]) -> dict[int, float]:
    """An arm's own pulls where there are some, else what observations say; nothing where nothing is known."""
    found = {a: trial.mean(a) for a in trial.arms if trial.pulls[a]}
    for a in range(1, len(trial.problem.arms)):
        if a not in found and (value := mean(trial.problem, trial.observed, a)) is not None:
            found[a] = value
    return found


def srm(trial: Trial) -> Plays:
    problem, budget = trial.problem, trial.left
    half = floor(budget / 2)
    yield from [0] * half
    rarest = {
        v: min(rarest_cell(problem, trial.observed, a) for a in arms_of(problem, v)) for v in problem.intervenable
    }
    m = m_of_q(list(rarest.values()), 2 * len(rarest))
    explored = [a for v in rarest if _seldom(rarest[v]) > m for a in arms_of(problem, v)]
    if not explored:
        yield from [0] * half
    for a in explored:
        yield from [a] * floor(budget / 2 / sum(trial.costs[b] for b in explored))
    return best(trial, _estimates(trial, projected_mean))


def gamma_nb(trial: Trial) -> Plays:
    problem, budget = trial.problem, trial.left
    half, interventions = floor(budget / 2), range(1, len(problem.arms))
    gamma = sum(trial.costs[1:]) / len(interventions)
    yield from [0] * half
    p = {a: seen_share(problem, trial.observed, a) for a in interventions}
    m = m_of_q([min(p[a] for a in arms_of(problem, v)) for v in problem.intervenable], len(problem.intervenable))
    rare = [a for a in interventions if _seldom(p[a]) > m]
    if min(p.values()) * m * gamma >= 1:
        yield from [0] * half
    else:
        for a in rare:
            yield from [a] * floor(budget / 2 / sum(trial.costs[b] for b in rare))
    return best(trial, _estimates(trial, seen_mean))


def parallel_bandit(trial: Trial) -> Plays:
    problem, budget = trial.problem, trial.left
    interventions = range(1, len(problem.arms))
    rounds = budget / (1 + sum(trial.costs[1:]) / len(interventions))
    yield from [0] * floor(rounds)
    p = {a: seen_share(problem, trial.observed, a) for a in interventions}
    m = m_of_q([min(p[a] for a in arms_of(problem, v)) for v in problem.intervenable], len(problem.intervenable))
    rare = [a for a in interventions if _seldom(p[a]) >= m]
    if not rare:
        yield from [0] * floor(rounds)
    else:
        yield from in_turn(trial, rare, trial.left, floor(rounds / len(rare)))
    return best(trial, _estimates(trial, seen_mean))


def in_turn(trial: Trial, arms: list[int], money: float, most: int) -> Generator[int, None, None]:
    """The arms take turns until the next pull does not fit; then everybody's pulls are made in one go."""
    planned = dict.fromkeys(arms, 0)
    spent = Fraction(0)
    for turn, a in product(range(most), arms):
        if spent + Fraction(trial.costs[a]) > Fraction(money) + Fraction(1, 10**9):
            break
        spent += Fraction(trial.costs[a])
        planned[a] = turn + 1
    for a in arms:
        yield from [a] * planned[a]


def uniform(trial: Trial) -> Plays:
    yield from in_turn(trial, list(trial.arms), trial.left, 10**6)
    return best(trial, {a: trial.mean(a) for a in trial.arms if trial.pulls[a]})


def drop(trial: Trial, active: list[int], number: int, name: str, phase: int) -> list[int]:
    """Without the worst arms; those without pulls first, ties by a uniform number each."""
    u = trial.chance(f"policy:{name}:phase {phase}", number)
    left = list(active)
    for i in range(number):
        value = {a: trial.mean(a) if trial.pulls[a] else -math.inf for a in left}
        worst = [a for a in left if value[a] == min(value.values())]
        left.remove(worst[int(u[i] * len(worst))])
    return left


def successive_rejects(trial: Trial) -> Plays:
    arms, budget = len(trial.problem.arms), trial.left
    n = floor(budget / (sum(trial.costs) / arms))
    log_bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
    active, before = list(trial.arms), 0
    for k in range(1, arms):
        if k > 1:
            active = drop(trial, active, 1, "successive-rejects", k)
        pulls = math.ceil((n - arms) / log_bar / (arms + 1 - k) - 1e-9)
        yield from in_turn(trial, active, trial.left, pulls - before if n > arms else int(k == 1))
        if not trial.affordable():  # the money is gone
            return best(trial, {a: trial.mean(a) for a in active if trial.pulls[a]})
        before = pulls
    (winner,) = drop(trial, active, 1, "successive-rejects", arms)
    return winner if trial.pulls[winner] else 0


def sh_rr(trial: Trial) -> Plays:
    arms, budget = len(trial.problem.arms), trial.left
    phases = math.ceil(math.log2(arms))
    active, unspent = list(trial.arms), 0.0
    for phase in range(1, phases + 1):
        if phase > 1:
            active = drop(trial, active, len(active) // 2, "sh-rr", phase)
        ration, before = budget / phases + unspent, trial.left
        yield from in_turn(trial, active, ration, 10**6)
        if not trial.affordable():
            return best(trial, {a: trial.mean(a) for a in active if trial.pulls[a]})
        unspent = ration - (before - trial.left)
    (winner,) = drop(trial, active, len(active) // 2, "sh-rr", phases + 1)
    return winner if trial.pulls[winner] else 0
