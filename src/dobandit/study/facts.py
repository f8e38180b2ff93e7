"""What can happen in a study: a class for each kind of event.

Its fields are what the event says, and their types are what is checked whenever one is written or read, so code that
gets a fact can rely on it. A field with a default may be missing, as in studies of earlier versions; a key that is not
a field is left alone. To add a kind, write its class here and say in `Books.apply` what it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, ClassVar, Self

LAST_MOMENT = 253_402_300_799  # the end of the year 9999, in seconds since 1970


def _is_number(value: object) -> bool:
    return type(value) is int or isinstance(value, float)


def is_moment(value: Any) -> bool:
    return (isinstance(value, float) or type(value) is int) and 0 <= value <= LAST_MOMENT


def is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_mapping(value: object) -> bool:
    return type(value) is dict or isinstance(value, Mapping)


# The types of fields, each with the check of a value that is given; a field with a default may be None.
Whole = Annotated[int, _is_whole]
Integer = Annotated[int, lambda value: type(value) is int]
Flag = Annotated[bool, lambda value: isinstance(value, bool)]
Amount = Annotated[float, lambda value: _is_number(value) and 0 < value < float("inf")]
End = Annotated[float | None, lambda value: value is None or is_moment(value)]
Text = Annotated[str, is_text]
Name = Annotated[str | None, is_text]
Outcome = Annotated[Mapping[str, str], lambda value: _is_mapping(value) and all(map(is_text, value.values()))]
Source = Annotated[int | str, lambda value: value in ("policy", "extension") or _is_whole(value)]
Plain = Annotated[Mapping[str, Any], _is_mapping]
Rule = Annotated[Mapping[str, Any] | None, lambda value: value is None or _is_mapping(value)]
PlainOrNone = Annotated[Mapping[str, Any] | None, _is_mapping]


class Fact:
    """What an event says."""

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__name__.lower()

    @classmethod
    def read(cls, pull: object, content: Mapping[str, Any]) -> Self:
        """The fact about a pull that is written down like this; a ValueError says what is wrong with it."""
        return cls.made(pull, cls.checked(content))

    @classmethod
    def made(cls, pull: object, checked: Mapping[str, Any]) -> Self:
        """The same of a content that was checked already."""
        fact = object.__new__(cls)  # many are read: `__init__` of a frozen class takes as long as all the rest
        vars(fact).update(checked)
        return fact

    def content(self) -> dict[str, Any]:
        """What is written down, beside the number of the pull; a ValueError says what is wrong with it."""
        return self.checked(vars(self))

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that have a value, but for the number of the pull; a ValueError says what is wrong with them."""
        found = {}
        for name, check, is_needed in _FORMS[cls]:
            value = values.get(name, MISSING)
            if value is MISSING or (value is None and not is_needed):
                if is_needed:
                    raise ValueError(f"{cls.kind} has no {name}")
            elif check(value):
                found[name] = value
            else:
                raise ValueError(f"{cls.kind} has the {name} {str(value)[:40]!r}")
        return found


@dataclass(frozen=True)
class Created(Fact):
    problem: Plain
    policy: Text
    seed: Integer
    version: Name = None
    id: Name = None  # of the study, whatever it is called and wherever it is copied to


@dataclass(frozen=True)
class AboutPull(Fact):
    pull: int

    @classmethod
    def made(cls, pull: object, checked: Mapping[str, Any]) -> Self:
        if type(pull) is not int or pull < 1:
            raise ValueError(f"{cls.kind} has the pull {str(pull)[:40]!r}")
        fact = object.__new__(cls)
        vars(fact).update(checked, pull=pull)
        return fact

    def content(self) -> dict[str, Any]:
        self.made(self.pull, {})  # refuses a pull that is none
        return super().content()


@dataclass(frozen=True)
class Begun(AboutPull):
    """A new pull."""

    arm: Whole


@dataclass(frozen=True)
class Asked(Begun):
    """A pull is handed out. A new decision says how often its arm is wanted; pulls that carry it out repeat 0 times."""

    repeats: Whole
    source: Source  # "policy", "extension" (after the plan, with money added later) or the expired pull it replaces
    worker: Text
    expires: End
    why: PlainOrNone = None  # what a new decision was made by: the index of every arm (and sweep), or the phase
    state: PlainOrNone = None  # what the policy remembers of a new decision: the fields that have changed

    @property
    def is_decision(self) -> bool:
        return self.source == "policy" and self.repeats > 0


@dataclass(frozen=True)
class Leased(AboutPull):
    """An open pull is given back to its worker."""

    worker: Text
    expires: End


@dataclass(frozen=True)
class Told(AboutPull):
    outcome: Outcome
    by: Name = None


@dataclass(frozen=True)
class Recorded(Begun):
    """An experiment that was not asked for."""

    outcome: Outcome
    name: Name = None
    by: Name = None


@dataclass(frozen=True)
class Amended(AboutPull):
    """The outcome that counts instead of what was told."""

    outcome: Outcome
    by: Name = None


@dataclass(frozen=True)
class Withdrawn(AboutPull):
    refund: Flag
    reason: Text
    by: Name = None


@dataclass(frozen=True)
class Extended(Fact):
    amount: Amount
    name: Name = None
    by: Name = None


@dataclass(frozen=True)
class Stopping(Fact):
    """The stopping rule from now on; without one, the whole budget may be spent."""

    rule: Rule
    by: Name = None


@dataclass(frozen=True)
class Observed(Fact):
    """Logged rows: how many, their counts, and a digest of these."""

    name: Text
    rows: Whole
    evidence: Plain
    digest: Text
    by: Name = None


KINDS = {
    kind.kind: kind
    for kind in (Created, Asked, Leased, Told, Recorded, Amended, Withdrawn, Extended, Observed, Stopping)
}
EVENT_KINDS = tuple(KINDS)
# Every field but the number of the pull: its check, and whether it must be there.
_FORMS: dict[type[Fact], list[tuple[str, Callable[[Any], bool], bool]]] = {}
for _kind in KINDS.values():
    _FORMS[_kind] = [  # types are written as the names above; `get_type_hints` takes a hundred times as long
        (f.name, globals()[str(f.type)].__metadata__[0], f.default is MISSING)
        for f in fields(_kind)
        if f.name != "pull"
    ]
Result = Told | Recorded | Amended  # what says an outcome
Correction = Amended | Withdrawn  # what changes the meaning of events before it
