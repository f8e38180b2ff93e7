"""Forms: what a browser sends, believed only if it comes from a page of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.requests import Request

from dobandit.problem import Arm, Problem
from dobandit.service.refusals import Refusal
from dobandit.service.tokens import Role
from dobandit.service.uploads import Upload
from dobandit.service.visitors import Visitor, check_form, visitor

MOST_FIELDS = 500
OF_VARIABLE = "v."  # how the names of the fields begin that hold the value of a variable
FEW = 4  # values that are shown as buttons; more are a list


class Form(dict[str, str]):
    """The texts of a form by the names of its fields, nothing where a field is missing; and its file, if it has one."""

    file: Upload | None = None

    def __missing__(self, name: str) -> str:
        return ""

    def outcome(self, problem: Problem) -> dict[str, str]:
        """The values of variables that were filled in."""
        return {v: self[OF_VARIABLE + v] for v in problem.graph.variables if self[OF_VARIABLE + v]}


async def read_form(request: Request) -> Form:
    found = Form()
    try:
        async with request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=2**20) as sent:
            for name, value in sent.items():
                if isinstance(value, str):
                    found[name] = value.strip()
                elif value.filename:
                    found.file = Upload(value.filename, await value.read())
    except (ValueError, KeyError):
        raise Refusal(400, "this form cannot be read") from None
    return found


async def posted(request: Request, role: Role) -> tuple[Visitor, Form]:
    """Who sent a form, and what is in it."""
    who = visitor(request, role)
    form = await read_form(request)
    check_form(who, form["csrf"])
    return who, form


def inputs(problem: Problem, arm: Arm, given: Mapping[str, str] | None = None) -> list[dict[str, object]]:
    """What a form asks for: each variable with its values; what the option sets is filled in and locked."""
    is_set = dict(arm.settings)
    return [
        {
            "variable": v,
            "field": OF_VARIABLE + v,
            "values": () if _is_number(problem, v) else problem.domains[v],
            "as_buttons": len(problem.domains[v]) <= FEW,
            "locked": is_set.get(v),
            "value": (given or {}).get(v, ""),
            "is_reward": v == problem.reward,
        }
        for v in problem.graph.variables
    ]


def _is_number(problem: Problem, variable: str) -> bool:
    measured = variable == problem.reward and problem.reward_is_continuous
    return measured or bool(problem.domains[variable].cuts)


def beside_fields(faults: Sequence[str], variables: Sequence[str]) -> dict[str, str]:
    """The faults of an outcome by the variable that they are about; under "" those about none, or several."""
    found: dict[str, list[str]] = {}
    for fault in faults:
        sentence = fault.partition(": ")[2] if fault.startswith("pull ") else fault
        about = [v for v in variables if sentence.startswith(f"{v} ") or sentence == v]
        if sentence.endswith((" is missing", " are missing")):
            names = [v for v in variables if v in sentence]
            for v in names:
                found.setdefault(v, []).append("Choose a value.")
            continue
        found.setdefault(max(about, key=len, default=""), []).append(sentence[0].upper() + sentence[1:] + ".")
    return {name: " ".join(sentences) for name, sentences in found.items()}
