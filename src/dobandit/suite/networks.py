"""A benchmark by its name, or from a network of the literature: `asia.bif?hide=smoke&reward=dysp`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qsl

from dobandit.errors import WorldError, did_you_mean, listing
from dobandit.graph import QUOTED, unquoted
from dobandit.suite.classes import WORLDS, Source
from dobandit.worlds import from_bif

KEYS = ("hide", "reward")


def find(name: str) -> Source:
    """The source of worlds with this name, or of the world of a BIF file."""
    path, _, query = name.partition("?")
    if path.lower().endswith(".bif"):
        return _network(name, path, query)
    plain = name.strip().lower().replace("_", "-")
    if plain not in WORLDS:
        hint = did_you_mean(plain, WORLDS, most=3) or f"there are {listing(WORLDS, most=20)}"
        raise WorldError(f"there is no benchmark world {name!r}; {hint} (or FILE.bif?hide=A,B&reward=Y)")
    return WORLDS[plain]


def _network(name: str, path: str, query: str) -> Source:
    asked = _keys(name, query)
    if not asked.get("reward"):
        raise WorldError(f"{name}: which variable is the reward? Write {path}?reward=Y")
    hide = [unquoted(v.strip()) for v in re.findall(rf"\s*({QUOTED}|[^,]+)", asked.get("hide", "")) if v.strip()]
    reward, file = unquoted(asked["reward"]), Path(path).name
    world, as_written = from_bif(path, hide, reward), from_bif(path, hide)
    note = _worths(f"{file}: {reward}", as_written.domains[reward], world.domains[reward])
    # One world for all trials; only costs and luck differ between them.
    return Source(name, f"the network {file}", lambda chance, trial: world, one_graph=True, reward=reward, note=note)


def _worths(whose: str, values: Sequence[str], worths: Sequence[str]) -> str:
    """Words are no numbers: what they are taken for is said."""
    if tuple(values) == tuple(worths):
        return ""
    taken = listing((f"{value} = {worth}" for value, worth in zip(values, worths, strict=True)), most=len(values))
    return f"{whose} counts as {taken}; a problem file that has this network as its [world] can say otherwise"


def _keys(name: str, query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise WorldError(f"{name}: after the question mark, write hide=A,B&reward=Y") from None
    asked = dict(pairs)
    for key in asked:
        if key not in KEYS:
            raise WorldError(f"{name}: unknown key {key!r}; {did_you_mean(key, KEYS) or f'known are {listing(KEYS)}'}")
    if len(asked) < len(pairs):
        raise WorldError(f"{name}: a key is given twice; list several hidden variables as hide=A,B")
    return asked
