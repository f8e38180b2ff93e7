"""`dobandit study ...`: a real budget, asked for and told about from the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dobandit import study as studies
from dobandit.cli import study_answers
from dobandit.cli.common import FILE, PROBLEM, ROWS, answer, print_json, read_arm, read_rows, say, with_common_options
from dobandit.cli.study_answers import PULL, STUDY, study_command
from dobandit.errors import DobanditError, counted
from dobandit.graph import QUOTED, unquoted
from dobandit.numerals import amount as as_money
from dobandit.printable import shortened
from dobandit.problem import Problem
from dobandit.report import rule_in_words, stop_in_words, why_nothing
from dobandit.study import MEMORY, WORKER, Money, Receipt, Study, is_whole, shown

VALUES = click.argument("values", metavar="X=1 Y=0 ...", nargs=-1)
BY = click.option("--by", metavar="NAME", help="Who decided this, for the log.")
NOTHING = 3  # the exit code when there is no pull at all to give


class _InOrder(click.Group):
    """Commands in the order in which a study meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder)
def command() -> None:
    """Spend a real budget: ask what to try next, report the outcome, see what is best.

    STUDY is a file, or the URL of a PostgreSQL database: postgresql://host/database#name.
    """


@command.command()
@STUDY
@PROBLEM
@click.option(
    "--policy", metavar="P", help="The policy that chooses the pulls; default: the recommended one for the objective."
)
@click.option("--seed", default=0, show_default=True, help="The seed of the policy's random choices.")
@with_common_options
def init(study: str, problem: Path, policy: str | None, seed: int, as_json: bool, quiet: bool) -> None:
    """Make a new STUDY of PROBLEM."""
    from shlex import quote

    if study == MEMORY:
        raise DobanditError("a study in memory would be gone at once: give it the name of a file")
    with Study.create(study, Problem.load(problem), policy, seed) as created:
        name, place = created.policy, shown(study)
    sentence = f"Created {place}; its policy is {name}. Next: dobandit study ask {quote(place)}"
    answer({"study": place, "policy": name}, sentence, as_json, quiet)


@study_command
@click.option("-n", "number", default=1, show_default=True, type=click.IntRange(1), help="How many pulls.")
@click.option(
    "--worker",
    default=WORKER,
    show_default=True,
    metavar="W",
    help="Who asks; a worker first gets their own open pulls again.",
)
@click.option("--ttl", metavar="TIME", help="After this time, such as 2d or 8h, a pull may go to another worker.")
@click.option("--force", is_flag=True, help="Take over expired pulls even if the clock may be wrong.")
@click.option("--anyway", is_flag=True, help="Go on even if the stopping rule holds.")
def ask(
    study: Study,
    number: int,
    worker: str,
    ttl: str | None,
    force: bool,
    anyway: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Ask for pulls to carry out. Their cost is reserved until you report the outcome or withdraw them."""
    pulls = study.ask(number, worker, ttl, force=force, anyway=anyway)
    if as_json:
        print_json(studies.asked_document(pulls))
    else:
        study_answers.show_pulls(pulls)
        if pulls.reason:
            say(f"Nothing {'more ' if pulls else ''}to hand out: {why_nothing(study, pulls)}.", quiet)
    click.get_current_context().exit(0 if pulls else NOTHING)


@study_command
@click.argument("told", metavar="[ID X=1 Y=0 ...]", nargs=-1)
@click.option("--file", type=FILE, metavar="FILE", help=f"Many outcomes, with a column id: {ROWS}.")
def tell(study: Study, told: tuple[str, ...], file: Path | None, as_json: bool, quiet: bool) -> None:
    """Report the outcome of pull ID.

    An outcome is every observed variable and its value; what the experiment set may be left out. A file has a column
    for each variable and one called id; all its outcomes count, or none.
    """
    if bool(told) == (file is not None):
        raise click.UsageError(f"give {'either ' if told else ''}the ID of a pull and its values, or --file with many")
    receipts = study.tell_file(read_rows(file)) if file is not None else [study.tell(_id(told[0]), _outcome(told[1:]))]
    ids = [receipt.id for receipt in receipts]
    what = f"pull {ids[0]}" if len(ids) == 1 else counted(len(ids), "pull")
    missing = study.missing(ids)
    document = {**receipts[-1]._asdict(), "id": ids[0] if file is None else ids, "missing": missing._asdict()}
    sentence = f"Recorded {what}. {_stand(receipts[-1])}"
    answer(document, " ".join(filter(None, (sentence, missing.told()))), as_json, quiet)


@study_command
@click.argument("data", type=FILE)
@click.option(
    "--name",
    metavar="BATCH",
    help="The name of these rows, under which they count only once; default: that of the file.",
)
def observe(study: Study, data: Path, name: str | None, as_json: bool, quiet: bool) -> None:
    """Add logged rows as evidence.

    DATA is a CSV, Parquet or JSON lines file, a quoted pattern for several files, or - for standard input. Where a row
    was no plain observation, its column `intervention` says what was done.
    """
    from dobandit.evidence import STANDARD_INPUT

    source = read_rows(data)
    own = None if str(data) == STANDARD_INPUT else data.name
    rows = study.observe(source, own if name is None else name)
    what = counted(rows, "row")
    added = f"Added {what} to the evidence." if rows.new else f"Nothing added: this batch of {what} was added before."
    document = {"rows": rows, "missing": rows.missing._asdict()}
    answer(document, " ".join(filter(None, (added, rows.missing.told()))), as_json, quiet)


@study_command
@click.argument("arm")
@VALUES
@click.option(
    "--name", metavar="NAME", help="A name for it: under the same name it counts only once, however often it is sent."
)
def record(study: Study, arm: str, values: tuple[str, ...], name: str | None, as_json: bool, quiet: bool) -> None:
    """Record an experiment that was not asked for.

    ARM is what was done, such as do() or X=1. Its cost is charged to the budget, even if that overdraws it.
    """
    receipt = study.record(read_arm(arm), _outcome(values), name)
    answer(receipt._asdict(), f"Recorded pull {receipt.id}. {_stand(receipt)}", as_json, quiet)


@study_command
@PULL
@VALUES
@BY
def amend(study: Study, pull: int, values: tuple[str, ...], by: str | None, as_json: bool, quiet: bool) -> None:
    """Correct the outcome of pull ID.

    Name the variables that change and their right values; the others stay as they are.
    """
    if not values:
        raise click.UsageError(f"say what changes: write {pull} Y=0, with the variables that change and their values")
    study.amend(pull, _outcome(values), by)
    answer({"id": pull}, f"Amended pull {pull}.", as_json, quiet)


@study_command
@PULL
@click.option(
    "--refund/--no-refund",
    default=None,
    help="Return its cost to the budget, or undo an earlier refund. Default: as decided before; at first no refund.",
)
@click.option("--reason", default="", help="Why, for the log.")
@BY
def withdraw(
    study: Study, pull: int, refund: bool | None, reason: str, by: str | None, as_json: bool, quiet: bool
) -> None:
    """Withdraw pull ID: its outcome does not count.

    It was not carried out, or it went wrong. What it cost stays spent without --refund. Withdrawing it again without an
    option changes nothing: only --no-refund takes a refund back.
    """
    found = study.withdraw(pull, refund, reason, by)
    what = f"Withdrew pull {pull}" if found.new else f"Nothing changed: pull {pull} was withdrawn before,"
    sentence = f"{what} {'with' if found.refund else 'without'} a refund. {_stand(study.budget)}"
    answer({"id": pull}, sentence, as_json, quiet)


@study_command
@click.argument("amount", type=float)
@click.option(
    "--name", metavar="NAME", help="A name for it: under the same name it counts only once, however often it is sent."
)
@BY
def extend(study: Study, amount: float, name: str | None, by: str | None, as_json: bool, quiet: bool) -> None:
    """Add AMOUNT to the budget."""
    total = study.extend(amount, name, by)
    answer({"total": total}, f"The budget is now {as_money(total)}.", as_json, quiet)


@study_command
@click.option("--probability", type=float, metavar="P", help="Stop when the answer is the best with this probability.")
@click.option(
    "--loss",
    type=float,
    metavar="L",
    help="Stop when the answer is expected to lose no more than this, in units of the reward.",
)
@click.option("--gain-per-cost", is_flag=True, help="Stop when the next pull is not expected to earn its cost back ...")
@click.option("--pulls-ahead", type=float, metavar="N", help="... over this many uses of the answer.")
@click.option(
    "--min-pulls",
    type=int,
    metavar="N",
    help="The least number of outcomes of the answer before stopping; default: 10.",
)
@click.option("--off", is_flag=True, help="No rule: the whole budget may be spent.")
@BY
def stop(study: Study, off: bool, by: str | None, as_json: bool, quiet: bool, **parts: Any) -> None:
    """Set when to stop before the budget is spent; any part of the rule that holds is enough.

    The new rule replaces the one that the study has. Without an option, show how that one stands.
    """
    given = {name: value for name, value in parts.items() if value not in (None, False)}
    if off and given:
        raise click.UsageError("give either a rule or --off, not both")
    if off or given:
        rule = study.stop(None if off else given, by)
        answer({"stop": rule and rule.to_plain()}, f"From now on: {rule_in_words(rule)}.", as_json, quiet)
        return
    found = study.status().stop
    document = {"stop": None if found is None else found.rule.to_plain()}
    sentence = "There is no stopping rule." if found is None else stop_in_words(found, study.problem)
    answer(document, sentence, as_json, quiet)


def _id(text: str) -> int:
    if not is_whole(text):
        raise click.UsageError(f"{shortened(text)!r} is not the ID of a pull: write ID X=1 Y=0")
    return int(text)


_SETTING = rf"\s*({QUOTED}|[^=\s][^=]*?)\s*=\s*(.*?)\s*"


def _outcome(values: Sequence[str]) -> dict[str, str]:
    """`X=1 "Customer segment"=young` as a mapping; names and values may stand in quotes."""
    found: dict[str, str] = {}
    for text in values:
        setting = re.fullmatch(_SETTING, text, re.DOTALL)
        if setting is None:
            raise click.UsageError(
                f"{text!r} is not an outcome of a variable: write X=1 Y=0, and 'my name=1' for a name with a space"
            )
        name, value = (unquoted(part) if re.fullmatch(QUOTED, part) else part for part in setting.groups())
        if name in found:
            raise click.UsageError(f"{name} is given twice")
        found[name] = value
    return found


def _stand(money: Receipt | Money) -> str:
    return f"Spent {as_money(money.spent)}, remaining {as_money(money.free)}."


for made in (ask, tell, observe, record, amend, withdraw, extend, stop, *study_answers.COMMANDS):
    command.add_command(made)
