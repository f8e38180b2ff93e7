"""Worlds from the networks of the literature, some of whose variables may be hidden."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from pathlib import Path

from dobandit.errors import WorldError, did_you_mean, listing
from dobandit.files import read_text
from dobandit.graph import Origin, normal, without_latents
from dobandit.problem import is_number, label
from dobandit.worlds import bif
from dobandit.worlds.model import World
from dobandit.worlds.tables import Node, number

YES = ("yes", "true", "y", "t", "positive", "present", "on")
NO = ("no", "false", "n", "f", "negative", "absent", "off")


def from_bif(
    path: str | PathLike[str],
    hide: str | Iterable[str] = (),
    reward: str | None = None,
    values: Mapping[str, float] | None = None,
) -> World:
    """The world of a BIF file.

    Parameters
    ----------
    path
        The file.
    hide
        Variables that act but are not observed; the graph is projected.
    reward
        A variable whose values become the numbers that they are worth, so that its name is enough for a `Problem`.
    values
        What each value of the reward is worth. By default numbers are themselves, yes and no (true and false, positive
        and negative, ...) are 1 and 0, and any others are spread evenly from 0 to 1 in the order of the file.
    """
    path = Path(path)
    network = bif.read(read_text(path), path.name)
    hidden = [_known(name, network.domains, path) for name in ([hide] if isinstance(hide, str) else hide)]
    if len(hidden) == len(network.domains):
        raise WorldError(f"{path.name}: all variables are hidden; at least one must be seen")
    domains = {v: labels for v, labels in network.domains.items() if v not in hidden}
    if reward is not None:
        reward = _known(reward, network.domains, path)
        if reward in hidden:
            raise WorldError(f"{path.name}: the reward {reward} must not be hidden")
        domains[reward] = _worth(reward, domains[reward], values)
    elif values is not None:
        raise WorldError("values: name the variable they belong to, with reward=...")
    graph = without_latents(network.graph, list(network.domains), hidden, Origin(outcome=reward))
    nodes = (Node(v, network.parents[v], network.tables[v]) for v in network.graph.variables)
    return World(graph, tuple(nodes), {v: domains[v] for v in graph.variables})


def _known(name: str, names: Collection[str], path: Path) -> str:
    name = normal(name) if isinstance(name, str) else name
    if name not in names:
        hint = did_you_mean(str(name), names) or f"it has {listing(names)}"
        raise WorldError(f"{path.name}: there is no variable {name} in this network; {hint}")
    return name


def _worth(reward: str, labels: tuple[str, ...], values: Mapping[str, float] | None) -> tuple[str, ...]:
    """The labels replaced by what they are worth."""
    given = _default_worth(labels) if values is None else {label(k): v for k, v in values.items()}
    if given.keys() != set(labels):
        raise WorldError(f"values: expected the worth of {listing(labels)}, the values of {reward}")
    for value, worth in given.items():
        if not is_number(worth):
            raise WorldError(f"values: the worth of {value} is a number, not {worth!r}")
    worths = tuple(label(float(given[value])) for value in labels)
    if len(set(worths)) < len(worths):
        raise WorldError(
            f"values: two values of {reward} are worth the same, so they could not be distinguished; "
            "leave reward= out here and give the worths to the Problem"
        )
    return worths


def _default_worth(labels: tuple[str, ...]) -> dict[str, float]:
    numbers = {value: worth for value in labels if (worth := number(value)) is not None}
    if len(numbers) == len(labels):
        return numbers
    words = [value.lower() for value in labels]
    if any({yes, no} == set(words) for yes, no in zip(YES, NO, strict=True)):
        return {value: float(word in YES) for value, word in zip(labels, words, strict=True)}
    return {value: i / max(1, len(labels) - 1) for i, value in enumerate(labels)}
