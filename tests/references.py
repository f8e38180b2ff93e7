"""The algorithms once more, for one trial, with plain loops, straight from their pseudo-code.

They share with the library the world's tables and the uniform numbers, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np

from dobandit.chance import BLOCK, STRETCH, uniforms
from dobandit.problem import Problem
from dobandit.worlds import World

Row = dict[str, int]  # codes of the observed variables


class Trial:
    """One trial of a problem: its costs, its chance, what was seen."""

    def __init__(
        self, problem: Problem, world: World, costs: list[float], budget: float, seed: int, number: int
    ) -> None:
        self.problem, self.world, self.costs, self.left = problem, world, costs, budget
        self.seed, self.number = seed, number
        self.arms = range(len(problem.arms))
        self.pulls = [0] * len(problem.arms)
        self.rewards = [0.0] * len(problem.arms)
        self.observed: list[Row] = []
        self.time = 0
        self.history: list[int] = []
        self._held: dict[str, tuple[int, np.ndarray]] = {}

    def chance(self, purpose: str, width: int) -> np.ndarray:
        """This round's numbers of this trial."""
        key = f"{purpose}:{width}"
        block, place = divmod(self.number, BLOCK)
        start = self.time - self.time % STRETCH
        if self._held.get(key, (-1, None))[0] != start:
            self._held[key] = (start, uniforms(self.seed, key, block, range(start, start + STRETCH), width))
        found: np.ndarray = self._held[key][1][self.time - start, place]
        return found

    def affordable(self) -> list[int]:
        return [a for a in self.arms if self.costs[a] <= self.left + 1e-9]

    def mean(self, arm: int) -> float:
        return self.rewards[arm] / self.pulls[arm]

    def argmax(self, scores: Mapping[int, float], policy: str) -> int:
        """The best affordable arm; one uniform number breaks ties."""
        allowed = self.affordable()
        best = max(scores[a] for a in allowed)
        ties = [a for a in allowed if scores[a] == best]
        return ties[int(self.chance(f"policy:{policy}", 1)[0] * len(ties))]

    def pull(self, arm: int) -> None:
        row = self.outcome(arm)
        if arm == 0:
            self.observed.append(row)
        self.pulls[arm] += 1
        self.rewards[arm] += row[self.problem.reward]
        self.left -= self.costs[arm]
        self.time += 1
        self.history.append(arm)

    def outcome(self, arm: int) -> Row:
        set_to = self.problem.arms[arm]
        u = self.chance("outcome", len(self.world.nodes))
        codes: Row = {}
        for i, node in enumerate(self.world.nodes):
            if node.name in set_to.variables:
                codes[node.name] = set_to.codes(self.problem.domains)[node.name]
                continue
            row = node.table[0][tuple(codes[v] for v in node.inputs)]
            codes[node.name], below = 0, row[0]
            while u[i] >= below:
                codes[node.name] += 1
                below = below + row[codes[node.name]]
        return codes


Step = Callable[[Trial], int]


def run(trial: Trial, step: Step) -> list[int]:
    """Every arm once while it is affordable, then the algorithm, until nothing is affordable."""
    while trial.affordable():
        untried = [a for a in trial.affordable() if trial.pulls[a] == 0]
        trial.pull(untried[0] if untried else step(trial))
    return trial.history


def f_kube(trial: Trial) -> int:
    t = trial.time + 1
    bonus = {a: np.sqrt(2 * np.log(t) / trial.pulls[a]) for a in trial.arms if trial.pulls[a]}
    return trial.argmax({a: (trial.mean(a) + b) / trial.costs[a] for a, b in bonus.items()}, "f-kube")


def ucb(trial: Trial, name: str = "ucb") -> int:
    t = trial.time + 1
    return trial.argmax(
        {a: trial.mean(a) + np.sqrt(2 * np.log(t) / trial.pulls[a]) for a in trial.arms if trial.pulls[a]}, name
    )


class Forced:
    """The loop that CRM, CRM-NB and Algorithm 1 share: observe while N_0 < beta^2 ln t, else the best index."""

    name: str
    bonus: float  # of the index: sqrt(bonus ln t / evidence)
    per_cost: bool

    def __init__(self) -> None:
        self.beta, self.looped = 1.0, False

    def __call__(self, trial: Trial) -> int:
        price = {a: trial.costs[a] if self.per_cost else 1.0 for a in trial.arms}
        estimates = {a: self.estimate(trial, a) for a in trial.arms}
        value = {a: mean / price[a] for a, (mean, _) in estimates.items()}
        if self.looped and value[0] < max(value.values()):
            self.beta = min(2 * np.sqrt(2) / (max(value.values()) - value[0]), np.sqrt(np.log(trial.time)))
        self.looped = True
        t = trial.time + 1
        if trial.pulls[0] < self.beta**2 * np.log(t) and 0 in trial.affordable():
            return 0
        upper = {a: mean + np.sqrt(self.bonus * np.log(t) / number) for a, (mean, number) in estimates.items()}
        return trial.argmax({a: upper[a] / price[a] for a in trial.arms}, self.name)

    def estimate(self, trial: Trial, arm: int) -> tuple[float, float]:
        """The mean of an arm, and how many pulls and samples are behind it."""
        raise NotImplementedError


class Crm(Forced):
    """CRM-ALG, averaged over its random partitions."""

    name, bonus, per_cost = "crm", 2, False

    def estimate(self, trial: Trial, arm: int) -> tuple[float, float]:
        what = trial.problem.arms[arm]
        if what.observes:
            return trial.mean(0), trial.pulls[0]
        graph, domains = trial.problem.graph, trial.problem.domains
        ((variable, x),) = what.codes(domains).items()
        parents = [v for v in graph.variables if v in graph.parents(variable)]
        if trial.problem.reward in parents:  # our choice: adjusting for the reward itself estimates nothing
            return trial.rewards[arm] / max(trial.pulls[arm], 1), max(trial.pulls[arm], 1)
        odd, even = trial.observed[0::2], trial.observed[1::2]
        cells = list(product(*(range(len(domains[v])) for v in parents)))
        agreeing = [[r for r in odd if r[variable] == x and tuple(r[v] for v in parents) == z] for z in cells]
        number = min(len(rows) for rows in agreeing)
        value = 0.0
        for z, rows in zip(cells, agreeing, strict=True):
            share = sum(tuple(r[v] for v in parents) == z for r in even) / max(len(even), 1) if parents else 1.0
            value += sum(r[trial.problem.reward] for r in rows) / max(len(rows), 1) * share
        evidence = trial.pulls[arm] + number
        return (trial.rewards[arm] + number * value) / max(evidence, 1), max(evidence, 1)


class CrmNb(Forced):
    """CRM-NB-ALG: an observation with X=x counts as a pull of do(X=x)."""

    name, bonus, per_cost = "crm-nb", 8, True

    def estimate(self, trial: Trial, arm: int) -> tuple[float, float]:
        what = trial.problem.arms[arm]
        if what.observes:
            return trial.mean(0), trial.pulls[0]
        ((variable, x),) = what.codes(trial.problem.domains).items()
        rewards = [row[trial.problem.reward] for row in trial.observed if row[variable] == x]
        number = trial.pulls[arm] + len(rewards)
        return (trial.rewards[arm] + sum(rewards)) / max(number, 1), max(number, 1)


class PaperCumulative(Forced):
    """Algorithm 1 with the estimator of equations 3-8, averaged over its random splits into S parts."""

    name, bonus, per_cost = "paper-cumulative", 2, True

    def estimate(self, trial: Trial, arm: int) -> tuple[float, float]:
        number, value = split_estimate(trial.problem, trial.observed, arm)
        evidence = trial.pulls[arm] + number
        return (trial.rewards[arm] + number * value) / max(evidence, 1), max(evidence, 1)


def split_estimate(problem: Problem, observed: list[Row], arm: int) -> tuple[int, float]:
    """S and Y of equations 3-8: observation k belongs to factor k modulo the number of variables in An(Y)."""
    what = problem.arms[arm]
    if what.observes:
        return 0, 0.0
    graph = problem.graph.subgraph(problem.graph.ancestral(problem.reward))
    ((variable, x),) = what.codes(problem.domains).items()
    tied = graph.c_component(variable) if variable in graph else frozenset()
    if tied & (graph.children(variable) if variable in graph else frozenset()):
        return 0, 0.0
    parts = {v: observed[j :: len(graph.variables)] for j, v in enumerate(graph.variables)}
    given = {v: [u for u in graph.variables if u in graph.effective_parents(v)] for v in graph.variables}

    def at(assignment: Row, v: str, names: list[str]) -> tuple[int, ...]:
        """(x' o w) inside the component of X, (x o w) outside."""
        return tuple(x if u == variable and v not in tied else assignment[u] for u in names)

    smallest, total = len(observed), 0.0
    counts: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for v in graph.variables:
        for row in parts[v]:
            cell = counts.setdefault((v, tuple(row[u] for u in given[v])), [0] * len(problem.domains[v]))
            cell[row[v]] += 1
    for values in product(*(range(len(problem.domains[v])) for v in graph.variables)):
        assignment = dict(zip(graph.variables, values, strict=True))
        term = 1.0
        for v in graph.variables:
            cell = counts.get((v, at(assignment, v, given[v])), [0])
            smallest = min(smallest, sum(cell))
            term *= cell[assignment[v]] / sum(cell) if sum(cell) else 0.0
        total += term if assignment[problem.reward] == 1 else 0.0
    return smallest, total


def literal_split(problem: Problem, observed: list[Row], arm: int, rng: np.random.Generator) -> float:
    """The mean of Y^1..Y^S with the rows of every cell really split into S parts at random, as printed."""
    what = problem.arms[arm]
    graph = problem.graph.subgraph(problem.graph.ancestral(problem.reward))
    ((variable, x),) = what.codes(problem.domains).items()
    tied = graph.c_component(variable)
    parts = split_estimate(problem, observed, arm)[0]
    given = {v: [u for u in graph.variables if u in graph.effective_parents(v)] for v in graph.variables}
    cells: dict[tuple[str, tuple[int, ...]], list[list[int]]] = {}
    for j, v in enumerate(graph.variables):
        rows = observed[j :: len(graph.variables)]
        for z in {tuple(row[u] for u in given[v]) for row in rows}:
            values = rng.permutation([row[v] for row in rows if tuple(row[u] for u in given[v]) == z])
            cells[v, z] = [part.tolist() for part in np.array_split(values, parts)]
    total = 0.0
    for s in range(parts):
        for codes in product(*(range(len(problem.domains[v])) for v in graph.variables)):
            assignment = dict(zip(graph.variables, codes, strict=True))
            if assignment[problem.reward] != 1:
                continue
            term = 1.0
            for v in graph.variables:
                z = tuple(x if u == variable and v not in tied else assignment[u] for u in given[v])
                part = cells[v, z][s]
                term *= part.count(assignment[v]) / len(part)
            total += term
    return total / parts
