"""Everything that can go wrong, one sentence each, and what to do about it.

Every exception that a user's input can cause derives from `DobanditError`, so that one `except`
(and the command line) can tell a mistake in the input from a bug in the program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from dobandit.numerals import size as shown


class DobanditError(Exception):
    """A mistake in what was handed in: the text says what and where, and nothing was changed."""

    exit_code = 2  # of the command line


class GraphError(DobanditError):
    """A text, file or list of edges that is not an acyclic graph with bidirected edges."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        self.message, self.line, self.column = message, line, column
        super().__init__(message if line is None else f"line {line}, column {column}: {message}")


class UnknownAttribute(GraphError):
    """An attribute of a variable or an edge that is not known here, so that it may say something about causes."""


class CycleError(GraphError):
    """The directed edges run in a circle; `cycle` lists its variables, the first one once more at the end."""

    def __init__(self, cycle: Sequence[str], line: int | None = None, column: int | None = None) -> None:
        self.cycle = tuple(cycle)
        super().__init__("the directed edges form a cycle: " + " -> ".join(cycle), line, column)


class UnknownVariable(DobanditError):
    """A name that is not a variable of the graph, or that is marked as hidden where the graph was read from."""

    def __init__(self, name: str, known: Iterable[str], hidden: Collection[str] = ()) -> None:
        self.name = name
        missing = f"{name} is hidden" if name in hidden else f"there is no variable {name!r}"
        super().__init__(f"{missing} in the graph; it has {listing(known)}")


class NotIdentifiable(DobanditError):
    """Observations cannot reveal this effect, however many there are; `path` is the hidden obstacle."""

    def __init__(self, do: Sequence[str], on: str, path: Sequence[str]) -> None:
        self.do, self.on, self.path = tuple(do), on, tuple(path)
        target = "everything else" if on == "all" else on
        self.obstacle = f"{path[0]} and its child {path[-1]} share hidden causes: {' <-> '.join(path)}"
        super().__init__(
            f"the effect of {listing(do)} on {target} is not identifiable from observations: {self.obstacle}"
        )


class MissingCell(DobanditError):
    """A formula needs P(variable | given) at values of `given` that never occur.

    `cell` maps the given variables to the positions of their values in their domains.
    """

    def __init__(self, table: str, cell: Mapping[str, int]) -> None:
        self.table, self.cell = table, dict(cell)
        where = ", ".join(f"{v}={value}" for v, value in cell.items())
        super().__init__(f"{table} is needed " + (f"where {where}, which never occurs" if where else "and unknown"))


class MissingExtra(DobanditError):
    """An optional dependency is needed for this and not installed."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f"this needs {module}, which is not installed: pip install 'dobandit[{extra}]'")


@contextmanager
def needing(module: str, extra: str) -> Iterator[None]:
    """Imports of an optional dependency; where it is not installed, the error says how to install it."""
    try:
        yield
    except ImportError:
        raise MissingExtra(module, extra) from None


class ArmError(DobanditError):
    """A text that is not an arm such as do(X1=1)."""


class Fault(NamedTuple):
    """One thing that is wrong with a problem: where (as keys from the outside in), and a sentence."""

    place: tuple[str, ...]
    message: str


class ProblemError(DobanditError):
    """All that is wrong with a problem, at once; `faults` lists the places, the text has one line for each."""

    def __init__(self, faults: Sequence[Fault], lines: Sequence[str] | None = None) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(lines or [f"{'.'.join(f.place)}: {f.message}" for f in faults]))


class FileError(DobanditError):
    """A file that is missing or cannot be read."""


class PolicyError(DobanditError):
    """A name that is no policy, or an option that it does not have."""


class MissingPolicy(PolicyError):
    """A policy that is not here: an unknown name, or a plug-in that is not installed."""

    def __init__(self, policy: str, message: str) -> None:
        self.policy = policy
        super().__init__(message)


class SimulationError(DobanditError):
    """A simulation that cannot be run as asked."""


class TooDense(DobanditError):
    """Variables so densely connected that exact sums over them do not fit into memory."""

    def __init__(self, size: float, most: float) -> None:
        super().__init__(
            f"the variables are too densely connected for exact sums: a table of {shown(size)} numbers would be "
            f"needed on the way, and the memory limit allows {shown(most)}; DOBANDIT_MEMORY=4GB sets another limit"
        )


class WorldError(DobanditError):
    """A model, or a file of one, that is no world, or a problem that does not fit the world."""


class StorageError(DobanditError):
    """A place that cannot be written to."""

    exit_code = 5


class StudyError(DobanditError):
    """A study or a pull that is missing, exists already or conflicts, or a file that is not a study."""

    exit_code = 4


class NoSuchPull(StudyError):
    """A number that no pull of the study has."""

    def __init__(self, number: int, last: int) -> None:
        has = f"its pulls are 1 to {last}" if last else "nothing has been asked yet"
        super().__init__(f"there is no pull {number} in this study; {has}")


class Conflict(StudyError):
    """Two statements about the same thing that cannot both be true; both are in the text."""


class OutcomeError(DobanditError):
    """An outcome that does not fit its pull: what is wrong with it, and what to send instead."""

    def __init__(self, faults: Sequence[str], expected: str) -> None:
        self.faults, self.expected = tuple(faults), expected
        super().__init__(f"{'; '.join(faults)}; send {expected}")


class DataError(DobanditError):
    """Rows or a file of rows that do not fit the problem."""


class FaultyRows(DataError):
    """All rows of a file that cannot be recorded, at once; the text has one line for each, and nothing was changed."""

    MOST = 20  # lines of the text

    def __init__(self, faults: Sequence[str], exit_code: int) -> None:
        self.faults, self.exit_code = tuple(faults), exit_code
        more = len(faults) - self.MOST
        super().__init__("\n".join([*faults[: self.MOST], *([f"and {more:,} more faulty rows"] if more > 0 else [])]))


def listing(names: Iterable[str], most: int = 12) -> str:
    """Names as people write them, long lists cut: `X1, X2 and X3`.

    >>> listing(["X1", "X2", "X3"])
    'X1, X2 and X3'
    """
    names = list(names)
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    if len(names) < 2:
        return "".join(names) or "none"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def counted(number: float, thing: str) -> str:
    """Things and their number.

    >>> counted(1, "trial"), counted(1000, "trial")
    ('1 trial', '1,000 trials')
    """
    return f"{number:,.15g} {thing if number == 1 else f'{thing}s'}"


def did_you_mean(name: str, known: Iterable[str], most: int = 1) -> str:
    """The known names nearest to a misspelt one, at most so many, as a question; an empty text if none is near.

    >>> did_you_mean("Prise", ["Price", "Ad"]), did_you_mean("Z", ["Price", "Ad"])
    ('did you mean Price?', '')
    """
    from difflib import get_close_matches

    cutoff = 0.6 if most == 1 else 0.5  # where several are offered, they may be further away
    near = get_close_matches(name, list(known), n=most, cutoff=cutoff)
    return f"did you mean {' or '.join(near)}?" if near else ""
