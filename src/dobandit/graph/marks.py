"""What attributes say in DOT, dagitty and networkx: which variables are hidden, and which way an edge points.

Attributes of drawing and bookkeeping say nothing about causes and are passed over. Any other attribute is
refused: a mark that is overlooked makes a hidden variable look observed, and a wrong effect look right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from dobandit.errors import GraphError, UnknownAttribute

HIDDEN = frozenset({"hidden", "latent", "unobserved", "unmeasured"})
OBSERVED = frozenset({"observed", "measured"})
YES = frozenset({"yes", "true", "1", "1.0", "y", "t", "on"})
NO = frozenset({"no", "false", "0", "0.0", "n", "f", "off"})
UNOBSERVED_LABEL = "unobserved confounders"  # DoWhy marks a hidden variable by this label alone
ROLES = frozenset("exposure treatment outcome adjusted adjustment covariate instrument mediator confounder".split())
ARROWS = {"forward": "->", "back": "<-", "both": "<->"}
TYPES = {"directed": "->", "bidirected": "<->"}  # of the edges of a mixed graph in pgmpy
CONFOUNDING = frozenset({"bidirected", "confounded", "confounding"})  # what people write at edges

Mark = str | float | Iterable[str] | None  # the value of an attribute: a text in DOT, any of these in networkx

OF_EDGES = frozenset({"weight"})  # drawing at an edge; at a variable it may mean anything
TEXTS = frozenset({"label", "xlabel", "class", "comment", "group", "id", "title", "tooltip"})


@cache
def drawing() -> frozenset[str]:
    """Attributes that say how a graph is drawn: those of Graphviz, then others of networkx, dagitty, DoWhy and
    CausalNex."""
    from importlib.resources import files

    return frozenset(files("dobandit.graph").joinpath("drawing-attributes.txt").read_text(encoding="utf-8").split())


class Marks:
    """Which variables are said to be hidden and which observed, and by which words."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[bool, str]] = {}
        self._suggested: dict[str, str] = {}

    def read(self, variable: str, key: str, value: Mark) -> None:
        """Take in one attribute of a variable."""
        hidden = hides(key, value)
        if hidden is None and value is not None and suggests_hidden(key, value):
            self._suggested[variable] = f"{key}={value}"
        if hidden is not None:
            self.add(variable, hidden, f"{key}={value}")

    def add(self, variable: str, hidden: bool, words: str) -> None:
        before, first = self._said.setdefault(variable, (hidden, words))
        if before != hidden:
            raise GraphError(f"{variable} is marked both hidden and observed ({first}, {words}); keep one of the marks")

    def hidden(self, variable: str) -> bool | None:
        """Whether the variable is hidden; None if nothing was said."""
        if variable not in self._said and variable in self._suggested:
            raise GraphError(
                f"{variable}: {self._suggested[variable]} looks like the mark of a hidden variable; "
                "add observed=no if it is hidden, observed=yes if not"
            )
        return self._said.get(variable, (None, ""))[0]


def suggests_hidden(key: str, value: Mark) -> bool:
    """Whether the text or the style of a drawing may be meant as a mark.

    >>> suggests_hidden("label", "U (unobserved)"), suggests_hidden("label", "Age"), suggests_hidden("style", "invis")
    (True, False, True)
    """
    words = set(re.findall(r"[a-z]+", str(value).lower()))
    return bool(words & HIDDEN) if _word(key) in TEXTS else _word(key) == "style" and bool(words & {"invis"})


def hides(key: str, value: Mark) -> bool | None:
    """Whether an attribute of a variable says that it is hidden (True) or observed (False); drawing says nothing.

    >>> hides("observed", "no"), hides("Latent", 0), hides("color", "red")
    (True, False, None)
    """
    word = _word(key)
    if word in HIDDEN | OBSERVED:
        return _is_true(key, value) == (word in HIDDEN)
    if value is None:  # networkx: not set
        return None
    if word in ("role", "roles"):
        return _role(value)
    if word == "label" and _plain(value).lower() == UNOBSERVED_LABEL:
        return True
    if word not in drawing() or word in OF_EDGES:
        raise UnknownAttribute(
            f"unknown attribute {key!r}; mark a hidden variable with observed=no, "
            "and leave out what is not about drawing"
        )
    return None


def arrow(key: str, value: Mark) -> str | None:
    """The arrow that an attribute of an edge asks for; drawing asks for none.

    >>> arrow("dir", "both"), arrow("color", "red")
    ('<->', None)
    """
    word = _word(key)
    if word == "dir":
        return _direction(_plain(value))
    if word == "type" and _plain(value) in TYPES:
        return TYPES[_plain(value)]
    if value is None and word not in HIDDEN | OBSERVED | CONFOUNDING:  # networkx: not set
        return None
    if word in HIDDEN | OBSERVED | CONFOUNDING:
        if _is_true(key, value) != (word in OBSERVED):
            raise GraphError(
                f"{key}={value} cannot mark an edge; write dir=both for a hidden common cause of the two ends, "
                "or mark the hidden variable itself"
            )
    elif word in ("arrowhead", "arrowtail") and _plain(value) in ("none", "odot"):
        raise GraphError(f"{key}={value} leaves an end of the edge open; write dir=forward, back or both instead")
    elif word == "style" and "invis" in _plain(value):
        raise GraphError(f"an edge with {key}={value} is not seen; leave out the style, or the edge if it is no cause")
    elif word not in drawing():
        raise UnknownAttribute(
            f"unknown attribute {key!r} of an edge; write a hidden common cause as dir=both, "
            "and leave out what is not about drawing"
        )
    return None


def check_setting(key: str, value: Mark) -> None:
    """Attributes of a whole graph or subgraph are drawing; marks of variables are refused there."""
    words = {word.removesuffix("s") for word in re.findall(r"[a-z]+", key.lower())}
    if words & (HIDDEN | OBSERVED | CONFOUNDING):
        raise GraphError(f"{key}={value} cannot mark a whole graph; mark each hidden variable itself, with observed=no")
    if _word(key) not in drawing():
        raise UnknownAttribute(f"unknown attribute {key!r} of a graph; leave out what is not about drawing")


def _direction(value: str) -> str:
    if value == "none":
        raise GraphError("dir=none leaves open which way the edge points; write forward, back or both")
    if value not in ARROWS:
        raise GraphError(f"unknown dir {value!r}; write forward, back or both")
    return ARROWS[value]


def _role(value: Mark) -> bool | None:
    """Roles as pgmpy keeps them: a set of words, or their text."""
    text = value if isinstance(value, str) or not isinstance(value, Iterable) else " ".join(map(str, value))
    words = {word.removesuffix("s") for word in re.findall(r"\w+", str(text).lower())}
    if words - HIDDEN - OBSERVED - ROLES:
        raise GraphError(f"unknown role {value!r}; a hidden variable has the role latent")
    if words & HIDDEN and words & OBSERVED:
        raise GraphError(f"the role {value!r} says both hidden and observed; keep one of them")
    return True if words & HIDDEN else False if words & OBSERVED else None


def _is_true(key: str, value: Mark) -> bool:
    word = _plain(value).lower()
    if word not in YES | NO:
        raise GraphError(f"{key} is yes or no (or true, false, 1, 0), not {value!r}")
    return word in YES


def _word(key: str) -> str:
    return key.strip().lower().removeprefix("is_")


def _plain(value: Mark) -> str:
    return str(value).strip().strip("\"'")  # pydot leaves the quotes of DOT around values
