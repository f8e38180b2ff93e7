"""`dobandit check`: is the problem sound, what can observations tell, and do the data fit the graph?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dobandit.cli.common import FILE, PROBLEM, ROWS, console, print_json, read_rows, say, with_common_options, world_of
from dobandit.cli.tables import cell, table
from dobandit.errors import NotIdentifiable, counted, listing
from dobandit.estimate.observational import LEVEL, Range, Verdict, arm_ranges, assumed, check_graph
from dobandit.estimate.pooled import MOST_CELLS, Standing, standings, sums_fit
from dobandit.evidence import fit
from dobandit.graph import in_quotes, independencies, number_of_independencies, quoted
from dobandit.identification import identify
from dobandit.numerals import amount, number
from dobandit.problem import Choose, Cost, Problem, Total, Uniform
from dobandit.report import interval, problem_figure

Set = tuple[str, ...]  # of variables that an arm sets

MOST_LISTED = 100  # independencies


@click.command()
@PROBLEM
@click.option("--data", type=FILE, help=f"Rows to test the graph against: {ROWS}.")
@click.option("--plot", type=FILE, help="Draw the graph into this file (PNG, SVG, PDF).")
@with_common_options
def command(problem: Path, data: Path | None, plot: Path | None, as_json: bool, quiet: bool) -> None:
    """Validate PROBLEM and show what each arm can learn from observations.

    With --data, test the independencies that the graph implies on your own rows, before money is spent
    on a wrong graph.
    """
    found = Problem.load(problem)
    for note in found.full_graph.origin.notes:
        say(f"note: {note}", quiet)
    if found.world is not None:
        world_of(found, problem)  # what is wrong with it is told now and not in the middle of a run
    source = None if data is None else fit(read_rows(data), found)
    verdicts = None if source is None else check_graph(found, source)
    learnt = {s: _learnt(found, s) for s in dict.fromkeys(arm.variables for arm in found.arms) if s}
    ranges = [Range()] * len(found.arms) if source is None else arm_ranges(found, source)
    if plot is not None:
        _draw(found, ranges, plot)
        say(f"wrote {plot}", quiet)
    if as_json:
        missing = {} if source is None else {"missing": source.affected._asdict()}
        print_json({**_document(found, learnt, verdicts, ranges if data else None), **missing})
    else:
        _show(found, learnt)
        _show_ranges(found, ranges)
        _show_independencies(found, verdicts)
        if source is not None and (sentence := source.affected.told()):
            console().print(f"\n{sentence}")


def _learnt(problem: Problem, variables: Set) -> tuple[str, str]:
    """The method by which observations tell the effect of setting variables, and its formula or the obstacle."""
    try:
        estimand = identify(problem.graph, variables, problem.reward)
    except NotIdentifiable as error:
        return "none", error.obstacle
    return estimand.method, str(estimand).split(" = ", 1)[1]


def _document(
    problem: Problem, learnt: dict[Set, tuple[str, str]], verdicts: list[Verdict] | None, ranges: list[Range] | None
) -> dict[str, Any]:
    untested = (Verdict(independence, None, False) for independence in independencies(problem.graph))
    methods = ["observed" if arm.observes else learnt[arm.variables][0] for arm in problem.arms]
    arms: list[dict[str, Any]] = [
        {
            "arm": str(arm),
            "cost": _plain_cost(cost),
            "identifiable": method != "none",
            "method": method,
            "backdoor": any(problem.graph.has_backdoor(v, problem.reward) for v in arm.variables),
            "alias_of": None if standing.alias_of is None else str(problem.arms[standing.alias_of]),
            "dominated_by": [list(others) for others in standing.dominated_by],
            "never_best": standing.never_best,
        }
        for arm, cost, method, standing in zip(problem.arms, problem.costs, methods, standings(problem), strict=True)
    ]
    for arm_document, known in zip(arms, ranges or (), strict=False):
        arm_document["bounds"] = None if known.bounds is None else vars(known.bounds)
        arm_document["ruled_out"] = None if known.ruled_out is None else known.ruled_out._asdict()
    return {
        "variables": list(problem.graph.variables),
        "c_components": [list(problem.graph.in_order(c)) for c in problem.graph.c_components],
        "objective": problem.objective,
        "budget": problem.budget,
        "arms": arms,
        "independencies": [
            {"a": i.a, "b": i.b, "given": list(i.given), "p_value": p, "rejected": rejected}
            for i, p, rejected in (untested if verdicts is None else verdicts)
        ],
    }


def _plain_cost(cost: Cost) -> Any:
    match cost:
        case Choose():
            return {"choose": list(cost.values)}
        case Uniform():
            return {"uniform": [cost.low, cost.high]}
        case Total():
            return {"sum": [_plain_cost(part) for _, part in cost.parts]}
    return cost


def _show(problem: Problem, learnt: dict[Set, tuple[str, str]]) -> None:
    screen = console()
    verb = {"max": "large", "min": "small"}[problem.goal]
    screen.print(
        f"[bold]Make {cell(problem.reward)} {verb}[/]: {problem.objective} regret, budget {amount(problem.budget)}\n"
    )
    screen.print(problem.graph.draw(screen.width), markup=False)
    if problem.graph.bidirected:
        screen.print("[dim]dashed: a hidden cause acts on both[/]")
    effect, costs = "observations show its effect", _cost_texts(problem)
    shown = table("arm", "values", "cost", effect, wrap=effect)
    shown.add_row("do()", "", costs[()], "yes: it is the plain mean")
    for variables, (method, how) in learnt.items():
        answer = f"[yellow]no[/], {cell(how)}" if method == "none" else f"yes, {method}: {cell(how)}"
        values = " × ".join(", ".join(map(_value, problem.domains[v].known)) for v in variables)
        shown.add_row(cell(_name(variables)), cell(values), costs[variables], answer)
    screen.print()
    screen.print(shown)
    for note in _notes(problem):
        screen.print(note, markup=False)


def _show_ranges(problem: Problem, ranges: list[Range]) -> None:
    """What the rows say of options that they do not identify."""
    pairs = list(zip(map(str, problem.arms), ranges, strict=True))
    if not any(known.bounds for _, known in pairs):
        return
    screen, head = console(), f"mean {problem.reward} that agrees with the rows"
    shown = table("arm", head, "method")
    for arm, known in pairs:
        if known.bounds is not None:
            shown.add_row(cell(arm), interval(known.bounds.low, known.bounds.high), f"{known.bounds.method} bounds")
    screen.print()
    screen.print(shown)
    for note in assumed(known.bounds for _, known in pairs):
        screen.print(note, markup=False)
    for arm, known in pairs:
        if known.ruled_out is not None:
            screen.print(f"{known.ruled_out.told(arm, problem.goal)}.", markup=False)


def _notes(problem: Problem) -> Iterator[str]:
    """Which options are not worth offering, those with the mean of a smaller one and those that are never the best; and
    whether the variables are too densely connected for estimates that use all of them."""
    if not sums_fit(problem):
        yield (
            f"The graph is dense: exact sums over it need tables of more than {MOST_CELLS:,} numbers. Our policies "
            "estimate some options in a smaller graph around them, or from their own outcomes alone."
        )
    if problem.sets_single_variables:
        return
    by_set: dict[Set, list[Standing]] = {}
    for arm, standing in zip(problem.arms, standings(problem), strict=True):
        by_set.setdefault(arm.variables, []).append(standing)
    same = [s for s, found in by_set.items() if s and all(one.alias_of is not None for one in found)]
    never = [s for s, found in by_set.items() if s not in same and all(one.never_best for one in found)]
    if same:
        yield f"Same mean as a smaller option: {listing(map(_name, same))}."
    if never:
        yield f"Never the only best option, but it may be cheap to learn from: {listing(map(_name, never))}."


def _name(variables: Set) -> str:
    return f"do({', '.join(map(quoted, variables))})"


def _value(text: str) -> str:
    """A value in a list; one that has a comma itself is in quotes."""
    return in_quotes(text) if "," in text else text


def _cost_texts(problem: Problem) -> dict[Set, str]:
    """The cost of setting variables, by these; where it differs between values, the cost of each."""
    by_set: dict[Set, dict[str, str]] = {}
    for arm, cost in zip(problem.arms, problem.costs, strict=True):
        values = ", ".join(value for _, value in arm.settings)
        by_set.setdefault(arm.variables, {})[values] = amount(cost) if isinstance(cost, float) else str(cost)
    return {variables: _one_or_each(costs) for variables, costs in by_set.items()}


def _one_or_each(costs: dict[str, str]) -> str:
    if len(set(costs.values())) == 1:
        return next(iter(costs.values()))
    return "\n".join(cell(f"{values}: {cost}") for values, cost in costs.items())


def _show_independencies(problem: Problem, verdicts: list[Verdict] | None) -> None:
    screen, found = console(), number_of_independencies(problem.graph) if verdicts is None else len(verdicts)
    screen.print()
    if not found:
        screen.print("The graph implies no independence, so no data could contradict it.")
        return
    if verdicts is None:
        which = "1 independence; test it" if found == 1 else f"{found:,} independencies; test them"
        screen.print(f"The graph implies {which} on your rows with --data FILE.")
        return
    shown, listed = table("the graph implies", "p-value", "the data"), _listed(verdicts)
    for verdict in listed:
        p = verdict.p_value
        shown.add_row(
            cell(str(verdict.independence)),
            "" if p is None else "<0.0001" if p < 1e-4 else number(p, 2),
            _in_words(problem, verdict),
        )
    screen.print(shown)
    if len(listed) < len(verdicts):
        screen.print(f"shown: {_which(verdicts)}; --json lists all {len(verdicts):,} independencies")
    screen.print(f"\n{_summary(verdicts)}")


def _listed(verdicts: list[Verdict]) -> list[Verdict]:
    """All verdicts. If there are too many, those with the smallest p-values."""
    if len(verdicts) <= MOST_LISTED:
        return verdicts
    return sorted(verdicts, key=lambda verdict: 2.0 if verdict.p_value is None else verdict.p_value)[:MOST_LISTED]


def _which(verdicts: list[Verdict]) -> str:
    """Which of many verdicts are listed."""
    tested, wrong = sum(verdict.p_value is not None for verdict in verdicts), sum(v.rejected for v in verdicts)
    if wrong > MOST_LISTED:
        return f"{MOST_LISTED} of {wrong:,} contradictions"
    return (
        f"the {MOST_LISTED} smallest p-values" if tested >= MOST_LISTED else f"{MOST_LISTED}, those with p-values first"
    )


def _in_words(problem: Problem, verdict: Verdict) -> str:
    if verdict.p_value is not None:
        return "[red]contradict it[/]" if verdict.rejected else "agree"
    independence = verdict.independence
    if problem.reward_is_continuous and problem.reward in (independence.a, independence.b, *independence.given):
        return f"not tested: {cell(problem.reward)} is a measurement"
    return "are too few to test it"


def _summary(verdicts: list[Verdict]) -> str:
    """What all tests come to; of what was not tested nothing is claimed."""
    tested = [verdict for verdict in verdicts if verdict.p_value is not None]
    wrong, of_all = sum(verdict.rejected for verdict in tested), f"of {len(verdicts):,} independencies"
    if not tested:
        return "Nothing was tested, so the data say nothing about the graph."
    limit = number(LEVEL / (len(tested) - wrong or 1), 2)  # of the smallest p-value that is not rejected (Holm 1979)
    together = f"({LEVEL:g} shared by {counted(len(tested), 'test')}, Holm's method)"
    if wrong:
        rest = f"\nOther p-values are above {limit} {together}." if wrong < len(tested) else ""
        which = f"[red]{wrong:,} {of_all} {'is' if wrong == 1 else 'are'} contradicted[/]"
        return f"{which}: draw the missing edge or hidden cause. Effects and bounds rest on the graph.{rest}"
    part = f" in the {len(tested):,} {of_all} that were tested" if len(tested) < len(verdicts) else ""
    return f"No contradiction{part}: no p-value is at most {limit} {together}."


def _draw(problem: Problem, ranges: list[Range], path: Path) -> None:
    from dobandit.plots import save

    bounds = {str(arm): known.bounds for arm, known in zip(problem.arms, ranges, strict=True) if known.bounds}
    save(problem_figure(problem, bounds), path)
