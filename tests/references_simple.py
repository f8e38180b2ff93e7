"""The algorithms for simple regret once more, for one trial, with plain loops, straight from their pseudo-code.

An algorithm yields the arms that it pulls, one by one, and returns its recommendation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from fractions import Fraction
from functools import partial
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
    means = {a: round(mean, 12) for a, mean in means.items()}
    top = max(means.values(), default=0.0)
    return min((a for a in means if means[a] == top), key=lambda a: (a != 0, trial.costs[a], a), default=0)


def floor(number: float) -> int:
    return math.floor(number + 1e-9)


# -- what observations say -------------------------------------------------------------------------------


def arm_value(problem: Problem, arm: int) -> tuple[str, int]:
    what = problem.arms[arm]
    ((variable, code),) = what.codes(problem.domains).items()
    return variable, code


def seen_mean(problem: Problem, rows: list[Row], arm: int) -> float | None:
    """E[Y | X=x]."""
    variable, x = arm_value(problem, arm)
    agreeing = [row[problem.reward] for row in rows if row[variable] == x]
    return sum(agreeing) / len(agreeing) if agreeing else None


def seen_share(problem: Problem, rows: list[Row], arm: int) -> Fraction:
    variable, x = arm_value(problem, arm)
    return Fraction(sum(row[variable] == x for row in rows), max(len(rows), 1))


def projected_mean(problem: Problem, rows: list[Row], arm: int, fewest_rows: int = 1) -> float | None:
    """Algorithms 3-5: all values of all variables of H are listed."""
    if not rows:
        return None
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
            enough = v in component or len(fitting) >= fewest_rows
            term *= (hits + 1) / (len(fitting) + len(problem.domains[v])) if enough else 1 / len(problem.domains[v])
        total += term
    return total


def rarest_cell(problem: Problem, rows: list[Row], arm: int) -> Fraction | None:
    """min_z P(x, z) over the full domain of Pa~, to the power of the size of the c-component."""
    variable, x = arm_value(problem, arm)
    graph = problem.graph.subgraph(problem.graph.ancestral(problem.reward))
    if variable not in graph:
        return None  # never rare
    component = graph.c_component(variable)
    if component & graph.children(variable):
        return Fraction(0)
    around = sorted(component.union(*(graph.parents(v) for v in component)) - {variable})
    cells = dict.fromkeys(product(*(range(len(problem.domains[v])) for v in around)), 0)
    for row in rows:
        if row[variable] == x:
            cells[tuple(row[v] for v in around)] += 1
    return Fraction(min(cells.values()), max(len(rows), 1)) ** len(component)


# -- thresholds ------------------------------------------------------------------------------------------


Rarity = dict[int, Fraction]
Exact = Fraction | float


def n_of_q(rarity: Rarity, costs: list[float]) -> Exact:
    """Equation 10. The smallest tau is one over some rarity, or the cost of all arms up to some rarity."""

    def cost_of(arms: list[int]) -> Fraction:
        return sum((Fraction(costs[a]) for a in arms), Fraction(0))

    steps = {_seldom(q) for q in rarity.values()}
    totals = {cost_of([a for a in rarity if _seldom(rarity[a]) >= step]) for step in steps}
    fitting = (t for t in steps | totals if cost_of([a for a in rarity if _seldom(rarity[a]) > t]) <= t)
    return min(fitting, default=Fraction(0))


def _seldom(q: Fraction) -> Exact:
    return 1 / q if q > 0 else math.inf


def m_of_q(rarest: list[Fraction], largest: int) -> int:
    return next(
        m for m in range(2, max(largest, 2) + 1) if m == max(largest, 2) or sum(_seldom(q) > m for q in rarest) <= m
    )


def first_variables(rarest: dict[str, Fraction]) -> list[str]:
    """The rule of the public code of Maiti et al."""
    order = sorted(rarest, key=lambda v: rarest[v])
    number = next((i for i, v in enumerate(order) if rarest[v] * (i + 1) > 1), len(order))
    return [v for v in rarest if v in order[:number]]


def arms_of(problem: Problem, variable: str) -> list[int]:
    return [a for a in range(1, len(problem.arms)) if problem.arms[a].variables == (variable,)]


# -- the algorithms --------------------------------------------------------------------------------------


def paper_simple(trial: Trial, threshold: str = "<=", fewest_rows: int = 1) -> Plays:
    problem, unit, budget = trial.problem, trial.costs[0], trial.left / trial.costs[0]
    costs = [c / unit for c in trial.costs]
    no_backdoor = not any(problem.graph.has_backdoor(v, problem.reward) for v in problem.intervenable)
    rarity = seen_share if no_backdoor else rarest_cell
    yield from [0] * floor(budget / 2)  # lines 1-3
    found = {a: rarity(problem, trial.observed, a) for a in range(1, len(problem.arms))}
    q = {a: share for a, share in found.items() if share is not None}
    n = n_of_q(q, costs)
    infrequent = [a for a in q if _seldom(q[a]) > n or (threshold == "<=" and _seldom(q[a]) == n)]  # line 10
    yield from halves(infrequent, budget, costs)
    if no_backdoor:
        return best(trial, _estimates(trial, seen_mean))
    return best(trial, _estimates(trial, partial(projected_mean, fewest_rows=fewest_rows)))


def halves(explored: list[int], budget: float, costs: list[float]) -> Generator[int, None, None]:
    """The second half of the money: the explored arms equally often, or observations."""
    if not explored:
        yield from [0] * floor(budget / 2)
    for a in explored:
        yield from [a] * floor(budget / 2 / sum(costs[b] for b in explored))


def _estimates(trial: Trial, mean: Callable[[Problem, list[Row], int], float | None]) -> dict[int, float]:
    """An arm's own pulls where there are some, else what observations say; nothing where nothing is known."""
    found = {a: trial.mean(a) for a in trial.arms if trial.pulls[a]}
    for a in range(1, len(trial.problem.arms)):
        if a not in found and (value := mean(trial.problem, trial.observed, a)) is not None:
            found[a] = value
    return found


def srm(trial: Trial, form: str = "half") -> Plays:
    problem, budget = trial.problem, trial.left / trial.costs[0]
    costs = [c / trial.costs[0] for c in trial.costs]
    first = budget / 2 if form == "half" else budget / (1 + sum(costs[1:]) / len(costs[1:]))
    yield from [0] * floor(first)
    rarest: dict[str, Fraction] = {}
    for v in problem.intervenable:
        shares = [rarest_cell(problem, trial.observed, a) for a in arms_of(problem, v)]
        rarest[v] = min((share for share in shares if share is not None), default=Fraction(2))
    m = m_of_q(list(rarest.values()), 2 * len(rarest))
    explored = [a for v in rarest if _seldom(rarest[v]) > m for a in arms_of(problem, v)]
    yield from halves(explored, budget, costs) if form == "half" else rounds(trial, explored, first)
    return best(trial, _estimates(trial, projected_mean))


def rounds(trial: Trial, explored: list[int], first: float) -> Generator[int, None, None]:
    """As many rounds as observations: the explored arms in turn while they can be paid, or observations."""
    if explored:
        yield from in_turn(trial, explored, trial.left, floor(first / len(explored)))
    else:
        yield from [0] * floor(first)


def _marginals(trial: Trial) -> tuple[Rarity, dict[str, Fraction], int]:
    problem = trial.problem
    p = {a: seen_share(problem, trial.observed, a) for a in range(1, len(problem.arms))}
    rarest = {v: min(p[a] for a in arms_of(problem, v)) for v in problem.intervenable}
    return p, rarest, m_of_q(list(rarest.values()), len(rarest))


def gamma_nb(trial: Trial, explored: str = "rare-values") -> Plays:
    budget, costs = trial.left / trial.costs[0], [c / trial.costs[0] for c in trial.costs]
    yield from [0] * floor(budget / 2)
    p, rarest, m = _marginals(trial)
    rare = [a for a in p if _seldom(p[a]) > m]
    if explored == "both-values":
        rare = [a for v in first_variables(rarest) for a in arms_of(trial.problem, v)]
    dear = float(min(p.values())) * m * (sum(costs[1:]) / len(p)) >= 1
    yield from halves([] if dear else rare, budget, costs)
    return best(trial, _estimates(trial, seen_mean))


def parallel_bandit(trial: Trial, form: str = "rounds", explored: str = "rare-values", pooled: bool = False) -> Plays:
    problem, budget = trial.problem, trial.left / trial.costs[0]
    costs = [c / trial.costs[0] for c in trial.costs]
    first = budget / 2 if form == "half" else budget / (1 + sum(costs[1:]) / len(costs[1:]))
    yield from [0] * floor(first)
    p, rarest, m = _marginals(trial)
    rare = [a for a in p if _seldom(p[a]) >= m]
    if explored == "both-values":
        rare = [a for v in first_variables(rarest) for a in arms_of(problem, v)]
    yield from halves(rare, budget, costs) if form == "half" else rounds(trial, rare, first)
    means = _estimates(trial, seen_mean)
    for a in p if pooled else ():
        variable, x = arm_value(problem, a)
        seen = [row[problem.reward] for row in trial.observed if row[variable] == x]
        if seen or trial.pulls[a]:
            means[a] = (trial.rewards[a] + sum(seen)) / (trial.pulls[a] + len(seen))
    return best(trial, means)


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
    u = trial.chance(f"policy:{name.partition('[')[0]}:phase {phase}", number)  # variants have the same luck
    left = list(active)
    for i in range(number):
        value = {a: trial.mean(a) if trial.pulls[a] else -math.inf for a in left}
        worst = [a for a in left if value[a] == min(value.values())]
        left.remove(worst[int(u[i] * len(worst))])
    return left


def successive_rejects(trial: Trial, form: str = "mean", name: str = "successive-rejects") -> Plays:
    arms, budget = len(trial.problem.arms), trial.left
    n = floor(budget / (sum(trial.costs) / arms) / (2 if form == "half" else 1))
    if form == "budget":
        n = max(m for m in range(arms, floor(budget / min(trial.costs)) + arms + 1) if _worst(m, trial.costs) <= budget)
    active, pulls = list(trial.arms), _schedule(n, arms)
    for k in range(1, arms):
        if k > 1:
            active = drop(trial, active, 1, name, k)
        most = pulls[k] - pulls[k - 1] if n > arms else int(k == 1)
        rest = form == "budget" and k == arms - 1 and n > arms
        yield from in_turn(trial, active, trial.left, 10**6 if rest else most)
        if not trial.affordable():  # the money is gone
            return best(trial, {a: trial.mean(a) for a in active if trial.pulls[a]})
    (winner,) = drop(trial, active, 1, name, arms)
    return winner if trial.pulls[winner] else 0


def _schedule(n: int, arms: int) -> list[int]:
    log_bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
    return [0, *(max(0, math.ceil((n - arms) / log_bar / (arms + 1 - k) - 1e-9)) for k in range(1, arms))]


def _worst(n: int, costs: list[float]) -> float:
    """What the schedule costs if the cheapest arms are dropped first."""
    pulls, dearest = _schedule(n, len(costs)), sorted(costs, reverse=True)
    return sum((pulls[k] - pulls[k - 1]) * sum(dearest[: len(costs) + 1 - k]) for k in range(1, len(costs))) - 1e-9


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
