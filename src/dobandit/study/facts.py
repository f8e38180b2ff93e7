"""What can happen in a study: a class for each kind of event.

Its fields are what the event says, and their types are what is checked whenever one is written or read, so code that
gets a fact can rely on it. A field with a default may be missing, as in studies of earlier versions; a key that is not
a field is left alone. To add a kind, write its class here and say in `Books.apply` what it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import get_annotations
from typing import Annotated, Any, ClassVar, NamedTuple, Self, dataclass_transform

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


class _Field(NamedTuple):
    name: str
    check: Callable[[Any], bool]  # of a value that is not None, or that has to be there
    is_needed: bool


@dataclass_transform(frozen_default=True)
class Fact:
    """What an event says: like a frozen dataclass; the classes and their facts are made in less time."""

    kind: ClassVar[str]
    _names: ClassVar[tuple[str, ...]] = ()
    _fields: ClassVar[tuple[_Field, ...]] = ()  # all but the number of the pull

    def __init_subclass__(cls) -> None:
        cls.kind, own = cls.__name__.lower(), get_annotations(cls)
        cls._names += (*own,)
        cls._fields += tuple(
            _Field(name, globals()[written].__metadata__[0], not hasattr(cls, name))  # `get_type_hints` takes longer
            for name, written in own.items()
            if name != "pull"
        )

    def __init__(self, *values: Any, **named: Any) -> None:
        vars(self).update(zip(self._names, values, strict=False), **named)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a fact does not change")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in self._names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._names)})"

    @classmethod
    def read(cls, pull: object, content: Mapping[str, Any]) -> Self:
        """The fact about a pull that is written down like this; a ValueError says what is wrong with it."""
        return cls.made(pull, cls.checked(content))

    @classmethod
    def made(cls, pull: object, checked: Mapping[str, Any]) -> Self:
        """The same of a content that was checked already."""
        return cls(**checked)

    def content(self) -> dict[str, Any]:
        """What is written down, beside the number of the pull; a ValueError says what is wrong with it."""
        return self.checked(vars(self))

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that have a value, but for the number of the pull; a ValueError says what is wrong with them."""
        found = {}
        for name, check, is_needed in cls._fields:
            value = values.get(name)
            if value is None and name not in values and is_needed:
                raise ValueError(f"{cls.kind} has no {name}")
            if value is None and not is_needed:
                continue
            if check(value):
                found[name] = value
            else:
                raise ValueError(f"{cls.kind} has the {name} {str(value)[:40]!r}")
        return found


class Created(Fact):
    problem: Plain
    policy: Text
    seed: Integer
    version: Name = None
    id: Name = None  # of the study, whatever it is called and wherever it is copied to


class AboutPull(Fact):
    pull: int

    @classmethod
    def made(cls, pull: object, checked: Mapping[str, Any]) -> Self:
        return cls(_pull(cls.kind, pull), **checked)

    def content(self) -> dict[str, Any]:
        _pull(self.kind, self.pull)
        return super().content()


def _pull(kind: str, pull: object) -> int:
    """The number of a pull; anything else is refused."""
    if type(pull) is not int or pull < 1:
        raise ValueError(f"{kind} has the pull {str(pull)[:40]!r}")
    return pull


class Begun(AboutPull):
    """A new pull."""

    arm: Whole


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


class Leased(AboutPull):
    """An open pull is given back to its worker."""

    worker: Text
    expires: End


class Told(AboutPull):
    outcome: Outcome
    by: Name = None


class Recorded(Begun):
    """An experiment that was not asked for."""

    outcome: Outcome
    name: Name = None
    by: Name = None


class Amended(AboutPull):
    """The outcome that counts instead of what was told."""

    outcome: Outcome
    by: Name = None


class Withdrawn(AboutPull):
    refund: Flag
    reason: Text
    by: Name = None


class Extended(Fact):
    amount: Amount
    name: Name = None
    by: Name = None


class Stopping(Fact):
    """The stopping rule from now on; without one, the whole budget may be spent."""

    rule: Rule
    by: Name = None


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
Result = Told | Recorded | Amended  # what says an outcome
Correction = Amended | Withdrawn  # what changes the meaning of events before it
