"""Studies driven by a simulated world, whose chance is that of `simulate`: what pull number t would have shown."""

from __future__ import annotations

import sqlite3

import numpy as np

from dobandit import worlds
from dobandit.problem import Problem
from dobandit.simulation.nature import Nature
from dobandit.study import Pull, Status, Study
from dobandit.study.chain import identity, link
from dobandit.study.events import Row
from dobandit.worlds import World

SMALL = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=60, default_cost=1.7)


class Laboratory:
    """Carries out pulls: the outcome of pull t of an arm is that of trial 0 in round t - 1 of a simulation."""

    def __init__(self, problem: Problem, world: World, seed: int) -> None:
        row = np.array([0])
        self.problem = problem
        self._nature = Nature(problem, world.fit(problem), row, row, seed)

    def carry_out(self, pull: Pull, number: int | None = None) -> dict[str, str]:
        """The outcome of a pull, whose number is its id unless another is given."""
        arm, time = self.problem.arms.index(pull.arm), (number or pull.id) - 1
        codes, _ = self._nature.answer(np.array([0]), np.array([arm]), np.array([time]))
        domains = self.problem.domains
        places = zip(self.problem.graph.variables, self._nature.seen, strict=True)
        return {v: domains[v][codes[0, place]] for v, place in places}


def laboratory(problem: Problem = SMALL, seed: int = 0) -> Laboratory:
    return Laboratory(problem, worlds.random(problem.graph, 3, problem.domains), seed)


def drive(study: Study, lab: Laboratory, most: int = 10**6, n: int = 1, worker: str = "default") -> list[str]:
    """Ask, carry out and tell until there is nothing to ask; the arms that were pulled."""
    arms: list[str] = []
    while len(arms) < most and (pulls := study.ask(n, worker)):
        for pull in pulls:
            study.tell(pull.id, lab.carry_out(pull))
            arms.append(str(pull.arm))
    return arms


def arms_of(study: Study) -> list[str]:
    """The arms of all pulls that were handed out, in order."""
    arms = study.problem.arms
    return [str(arms[event.content["arm"]]) for event in study.log() if event.kind == "asked"]


def stand(study: Study) -> Status:
    """Where a study stands, without the hash of its history, which is its own."""
    return study.status()._replace(head="")


def forge(base: sqlite3.Connection) -> None:
    """Make the hashes fit what is written in a file, as someone would who wants to deceive."""
    rows = [Row._make(row) for row in base.execute("SELECT * FROM event ORDER BY number")]
    study, head = identity(rows[0]), ""
    for row in rows:
        head = link(study, head, row)
        base.execute("UPDATE event SET hash = ? WHERE number = ?", (head, row.number))
