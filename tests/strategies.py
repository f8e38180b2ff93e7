"""Random graphs for hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from hypothesis import settings
from hypothesis import strategies as st

from dobandit.errors import GraphError
from dobandit.graph import Graph, check_name, normal

fixed = settings(derandomize=True, deadline=None, max_examples=100)

# Words that mean something in one of the formats, and names that a writer of hidden nodes could make itself.
AWKWARD = (
    "node edge graph digraph subgraph strict Node EDGE dag pdag dir both latent exposure outcome hidden "
    "word quoted operator name newline end end_of_statement _ __ U_X_Y X Y X.1"
).split()
names = st.sampled_from(AWKWARD) | st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,5}", fullmatch=True)


def is_name(text: str) -> bool:
    try:
        return bool(check_name(text))
    except GraphError:
        return False


SIGNS = ["a=b, c", '"', "\\", '\\"', "//", "#", "{X}", "X -> Y", "<b>", "$x$", "&lt;", "1", "-1.5", "[bold]"]
SPELT = ["Customer segment", "Größe", "価格", *SIGNS]
any_names = (names | st.sampled_from(SPELT) | st.text(min_size=1, max_size=6)).filter(is_name).map(normal)


@st.composite
def admgs(draw: st.DrawFn, min_size: int = 0, max_size: int = 7, names: st.SearchStrategy[str] = names) -> Graph:
    """A graph with both kinds of edges, bows among them; its names are declared in any order."""
    causal = draw(st.lists(names, min_size=min_size, max_size=max_size, unique=True))
    directed, bidirected = [], []
    for pair in combinations(causal, 2):
        kind = draw(st.sampled_from(["none", "none", "->", "->", "<->", "bow"]))
        if kind in ("->", "bow"):
            directed.append(pair)
        if kind in ("<->", "bow"):
            bidirected.append(pair)
    return Graph.from_edges(directed, bidirected, draw(st.permutations(causal)))


def attempt(read: Callable[[str], Graph], text: str) -> Graph | GraphError:
    """The graph of a text, or why it is none."""
    try:
        return read(text)
    except GraphError as error:
        return error
