"""Networks in the Bayesian Interchange Format: read right, or refused with the place."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import dobandit
from dobandit.errors import DobanditError, FileError
from dobandit.graph import Graph
from dobandit.problem import Problem
from dobandit.worlds import World, WorldError, bif, from_bif
from tests.test_worlds_means import enumerated, mechanisms_of

Array = NDArray[np.float64]
GREENHOUSE = Path(dobandit.__file__).parent / "examples" / "networks" / "greenhouse.bif"

SPRINKLER = """// the lawn of every textbook
network "lawn" { property "version 1"; }
variable rain { type discrete [ 2 ] { yes, no }; property position = (73, 165) ; }
variable sprinkler { type discrete[2] { "on" "off" }; }
variable wet { type discrete [ 3 ] { dry, damp, soaked }; }
probability ( rain ) { table 0.2, 0.8; }
probability ( sprinkler | rain ) { table 0.01 0.4 0.99 0.6; } /* the variable itself runs slowest */
probability ( wet | sprinkler, rain ) {
  (on, yes) 0.0, 0.1, 0.9;
  (off, yes) 0.1, 0.4, 0.5;
  default 0.7, 0.2, 0.1;
  (on, no) 0.1, 0.5, 0.4;
}
"""


def world_of(text: str, folder: Path, **more: object) -> World:
    file = folder / "net.bif"
    file.write_text(text, encoding="utf-8")
    return from_bif(file, **more)  # type: ignore[arg-type]


def problem_of(world: World, reward: str) -> Problem:
    values = {value: i * i for i, value in enumerate(world.domains[reward])}
    return Problem(world.graph, {"variable": reward, "values": values}, budget=1, domains=world.domains)


# -- reading -----------------------------------------------------------------------------------


def test_a_small_network_is_read_right(tmp_path: Path) -> None:
    world = world_of(SPRINKLER, tmp_path)
    assert world.graph == Graph("rain -> sprinkler -> wet; rain -> wet")
    assert world.domains == {"rain": ("yes", "no"), "sprinkler": ("on", "off"), "wet": ("dry", "damp", "soaked")}
    joint = world.distribution(["rain", "sprinkler", "wet"])
    assert joint[0, 0].tolist() == pytest.approx([0, 0.2 * 0.01 * 0.1, 0.2 * 0.01 * 0.9])
    assert joint[1, 0].tolist() == pytest.approx([0.8 * 0.4 * 0.1, 0.8 * 0.4 * 0.5, 0.8 * 0.4 * 0.4])
    assert joint[1, 1].tolist() == pytest.approx([0.8 * 0.6 * 0.7, 0.8 * 0.6 * 0.2, 0.8 * 0.6 * 0.1])


@pytest.mark.parametrize("hide", [(), ("season",), ("season", "health"), ("soil", "pests", "sunlight")])
def test_means_of_the_shipped_network_equal_enumeration(hide: tuple[str, ...]) -> None:
    world = from_bif(GREENHOUSE, hide=hide)
    assert len(world.nodes) == 8
    assert set(world.graph.variables) == {node.name for node in world.nodes} - set(hide)
    whole = from_bif(GREENHOUSE).graph
    assert world.graph == whole.project([v for v in whole.variables if v not in hide])
    problem = problem_of(world, "harvest")
    np.testing.assert_allclose(world.means(problem), enumerated(mechanisms_of(world), problem), atol=1e-12)


def test_names_as_people_have_them(tmp_path: Path) -> None:
    text = SPRINKLER.replace("wet", "a=b").replace("sprinkler", "Gro\u0308ße").replace("rain", '"heavy rain"')
    world = world_of(text, tmp_path, hide=["heavy rain"])
    assert world.graph == Graph('Größe -> "a=b"; Größe <-> "a=b"')
    assert world.domains["Größe"] == ("on", "off")


def test_the_season_confounds_the_greenhouse() -> None:
    """What the example is for: those who heat harvest less, and heating is not to blame."""
    world = from_bif(GREENHOUSE, hide=["season"], reward="harvest")
    naive = world.distribution(["heating", "harvest"])[1]
    truth = world.distribution(["harvest"], "do(heating=on)")[1]
    assert naive[1] / naive.sum() < truth - 0.05
    assert world.graph.origin.outcome == "harvest"
    assert "season is latent" in world.graph.origin.notes[0]


def test_a_hidden_variable_is_not_for_a_problem_to_observe() -> None:
    seen, hidden = from_bif(GREENHOUSE), from_bif(GREENHOUSE, hide="season")
    with pytest.raises(WorldError, match="season is hidden in the world, but the problem observes it"):
        hidden.means(problem_of(seen, "harvest"))


@pytest.mark.parametrize(
    ("labels", "values", "worth"),
    [
        ("yes, no", None, ("1", "0")),
        ("FALSE, TRUE", None, ("0", "1")),
        ("0, 1", None, ("0", "1")),
        ("5, 2.50", None, ("5", "2.5")),
        ("low, mid", None, ("0", "1")),
        ("a, b, c", None, ("0", "0.5", "1")),
        ("yes, no", {"no": 3, "yes": 1.5}, ("1.5", "3")),
    ],
)
def test_the_reward_becomes_what_its_values_are_worth(
    labels: str, values: Mapping[str, float] | None, worth: tuple[str, ...], tmp_path: Path
) -> None:
    n = labels.count(",") + 1
    text = f"variable Y {{ type discrete [{n}] {{ {labels} }}; }} probability (Y) {{ table {f'{1 / n} ' * n}; }}"
    world = world_of(text, tmp_path, reward="Y", values=values)
    assert world.domains["Y"] == worth
    if set(worth) == {"0", "1"}:
        assert world.means(Problem(world.graph, budget=1, domains=world.domains)).tolist() == [0.5]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"hide": ["wett"]}, "net.bif: there is no variable wett in this network; did you mean wet?"),
        ({"hide": ["qqq"]}, "net.bif: there is no variable qqq in this network; it has rain, sprinkler and wet"),
        ({"hide": ["rain", "sprinkler", "wet"]}, "net.bif: all variables are hidden"),
        ({"reward": "rein"}, "net.bif: there is no variable rein in this network; did you mean rain?"),
        ({"reward": "rain", "hide": "rain"}, "net.bif: the reward rain must not be hidden"),
        ({"values": {"yes": 1}}, "values: name the variable they belong to"),
        ({"reward": "rain", "values": {"yes": 1}}, "values: expected the worth of yes and no, the values of rain"),
        ({"reward": "rain", "values": {"yes": 1, "no": "0"}}, "values: the worth of no is a number, not '0'"),
        ({"reward": "rain", "values": {"yes": 1, "no": 1}}, "values: two values of rain are worth the same"),
    ],
)
def test_wishes_that_a_network_cannot_fulfil(more: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=re.escape(message)):
        world_of(SPRINKLER, tmp_path, **more)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "net.bif").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "net.bif", tmp_path / "none.bif", tmp_path):
        with pytest.raises(FileError):
            from_bif(path)


# -- a large network ---------------------------------------------------------------------------


def large(rng: np.random.Generator, n: int = 76) -> tuple[list[str], dict[str, list[str]], dict[str, Array]]:
    """Variables with two or three values and at most three parents, which are not far away."""
    names = [f"N{i}" for i in range(n)]
    parents, tables = {}, {}
    cards = {v: int(rng.integers(2, 4)) for v in names}
    for i, v in enumerate(names):
        near = names[max(0, i - 6) : i]
        parents[v] = [str(p) for p in rng.permutation(near)[: int(rng.integers(1, 4))]]
        tables[v] = rng.dirichlet(np.ones(cards[v]), size=[cards[p] for p in parents[v]])
    return names, parents, tables


def written(names: list[str], parents: Mapping[str, list[str]], tables: Mapping[str, Array]) -> str:
    lines = ["network large { }"]
    for v in names:
        values = ", ".join(f"s{k}" for k in range(tables[v].shape[-1]))
        lines.append(f"variable {v} {{ type discrete [ {tables[v].shape[-1]} ] {{ {values} }}; }}")
    for v in reversed(names):
        lines.append(f"probability ( {v} {'|' if parents[v] else ''} {', '.join(parents[v])} ) {{")
        for row in np.ndindex(*tables[v].shape[:-1]):
            start = f"({', '.join(f's{k}' for k in row)})" if row else "table"
            lines.append(f"  {start} {', '.join(map(repr, tables[v][row].tolist()))};")
        lines.append("}")
    return "\n".join(lines)


def swept(
    names: list[str], parents: Mapping[str, list[str]], tables: Mapping[str, Array], reward: str, do: dict[str, int]
) -> Array:
    """P(reward | do) by walking through the variables in causal order and carrying along the joint
    distribution of those that a later variable still reads."""
    carried: list[str] = []
    joint = np.array(1.0)
    for i, v in enumerate(names):
        letter = {name: k for k, name in enumerate([*carried, v])}
        table, axes = tables[v], [*parents[v], v]
        if v in do:
            table, axes = np.eye(tables[v].shape[-1])[do[v]], [v]
        needed = {reward}.union(*(parents[later] for later in names[i + 1 :]))
        left = [name for name in [*carried, v] if name in needed]
        operands = (joint, [letter[c] for c in carried], table, [letter[a] for a in axes], [letter[x] for x in left])
        joint, carried = np.asarray(np.einsum(*operands)), left
    return joint


@pytest.mark.parametrize(("reward", "hidden"), [("N75", 0), ("N40", 20)])
def test_76_variables_against_another_algorithm(reward: str, hidden: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(76)
    names, parents, tables = large(rng)
    hide = [str(v) for v in rng.permutation([v for v in names if v != reward])[:hidden]]
    world = world_of(written(names, parents, tables), tmp_path, hide=hide)
    problem = problem_of(world, reward)
    assert len(problem.arms) > 100
    expected = []
    for arm in problem.arms:
        do = arm.codes(problem.domains)
        expected.append(swept(names, parents, tables, reward, do) @ np.array(problem.reward_values))
    np.testing.assert_allclose(world.means(problem), expected, rtol=0, atol=1e-10)


# -- refusing ----------------------------------------------------------------------------------

VALID = """network n {
}
variable A {
  type discrete [ 2 ] { a0, a1 };
}
variable B {
  type discrete [ 3 ] { b0, b1, b2 };
}
probability ( A ) {
  table 0.3, 0.7;
}
probability ( B | A ) {
  (a0) 0.1, 0.2, 0.7;
  (a1) 0.3, 0.3, 0.4;
}
"""
MANY = "".join(f"variable V{i} {{ type discrete [ 2 ] {{ 0, 1 }}; }}\n" for i in range(40))

# What is replaced in VALID, by what (None: the whole text is the second), and the place and the sentence.
BROKEN: list[tuple[str | None, str, str]] = [
    (None, "", "line 1, column 1: there is no variable in this file"),
    (None, "   \n // nothing\n", "line 3, column 1: there is no variable in this file"),
    (None, "network n { }", "line 1, column 14: there is no variable in this file"),
    (None, "hello", "line 1, column 1: expected 'network', 'variable' or 'probability', found 'hello'"),
    (None, "{}", "line 1, column 1: expected 'network', 'variable' or 'probability', found '{'"),
    (None, '"', "line 1, column 1: unexpected character '\"'"),
    (None, "network n { } /* open", "line 1, column 15: unexpected character '/'"),
    (None, "network", "line 1, column 8: expected the name of the network or '{', found the end of the text"),
    (None, "network n", "line 1, column 10: expected '{', found the end of the text"),
    (None, "network n {", "line 1, column 12: expected 'property' or '}', found the end of the text"),
    (None, "network n { x }", "line 1, column 13: expected 'property' or '}', found 'x'"),
    (None, "network n { property x }", "line 1, column 24: expected ';' at the end of the property, found '}'"),
    (None, "network n { property x", "line 1, column 23: expected ';' at the end of the property, found the end"),
    (None, "variable", "line 1, column 9: expected the name of a variable, found the end of the text"),
    (None, "variable A", "line 1, column 11: expected '{', found the end of the text"),
    (None, "variable A { }", "line 1, column 10: the type of A is missing"),
    (None, "variable A {", "line 1, column 13: expected 'type', 'property' or '}', found the end of the text"),
    ("variable A", 'variable "A "', "line 3, column 10: 'A ' cannot be the name of a variable: it starts or ends"),
    ("variable A", 'variable ""', "line 3, column 10: '' cannot be the name of a variable: it is empty"),
    ("variable A", "variable {", "line 3, column 10: expected the name of a variable, found '{'"),
    ("variable B", "variable A", "line 6, column 10: the variable A is declared twice"),
    ("type discrete [ 2 ]", "kind discrete [ 2 ]", "line 4, column 3: expected 'type', 'property' or '}'"),
    ("type discrete [ 2 ]", "type continuous [ 2 ]", "line 4, column 8: only variables of the type 'discrete'"),
    ("type discrete [ 2 ]", "type [ 2 ]", "line 4, column 8: expected 'discrete', found '['"),
    ("discrete [ 2 ]", "discrete 2", "line 4, column 17: expected '[', found '2'"),
    ("discrete [ 2 ]", "discrete [ ]", "line 4, column 19: expected the number of values, found ']'"),
    ("discrete [ 2 ]", "discrete [ 2 {", "line 4, column 21: expected ']', found '{'"),
    ("discrete [ 2 ]", "discrete [ 3 ]", "line 4, column 19: the number of values is '3', but 2 are listed"),
    ("discrete [ 2 ]", "discrete [ two ]", "line 4, column 19: the number of values is 'two', but 2 are listed"),
    ("[ 2 ] { a0", "[ " + "9" * 5000 + " ] { a0", "line 4, column 19: the number of values is '9999"),
    ("{ a0, a1 }", "a0, a1", "line 4, column 23: expected '{', found 'a0'"),
    ("{ a0, a1 }", "{ a0, a0 }", "line 4, column 29: the value a0 is listed twice"),
    ("{ a0, a1 }", "{ 1, 1.0 }", "line 4, column 28: the value 1 is listed twice"),
    ("{ a0, a1 }", '{ a0, "" }', "line 4, column 29: a value must not be empty"),
    ("{ a0, a1 }", "{ a0,, a1 }", "line 4, column 28: expected a value or '}', found ','"),
    ("{ a0, a1 }", "{ }", "line 4, column 19: the number of values is '2', but 0 are listed"),
    ("{ a0, a1 };", "{ a0, a1 }", "line 5, column 1: expected ';', found '}'"),
    ("{ a0, a1 };", "{ a0, a1 }; type", "line 4, column 35: expected 'property' or '}', found 'type'"),
    ("probability ( A )", "probability A", "line 9, column 13: expected '(', found 'A'"),
    ("probability ( A )", "probability ( )", "line 9, column 15: expected a variable, found ')'"),
    ("probability ( A )", "probability ( C )", "line 9, column 15: there is no variable C declared above"),
    ("( B | A )", "( B | C )", "line 12, column 19: there is no variable C declared above"),
    ("( B | A )", "( B | B )", "line 12, column 19: B is named twice"),
    ("( B | A )", "( B | A, A )", "line 12, column 22: A is named twice"),
    ("( B | A )", "( B | A ", "line 12, column 22: expected a parent or ')', found '{'"),
    ("( B | A )", "( B || A )", "line 12, column 18: expected a parent or ')', found '|'"),
    ("( B | A )", "( A )", "line 12, column 15: the probabilities of A are given twice"),
    ("table 0.3, 0.7;", "table 0.3, 0.6;", "line 10, column 3: the table of A: the probabilities sum to 0.9, not"),
    ("table 0.3, 0.7;", "table 0.3;", "line 10, column 3: expected 2 probabilities, found 1"),
    ("table 0.3, 0.7;", "table 0.3, 0.3, 0.4;", "line 10, column 3: expected 2 probabilities, found 3"),
    ("table 0.3, 0.7;", "table -0.3, 1.3;", "line 10, column 9: a probability is a number from 0 to 1, not '-0.3'"),
    ("table 0.3, 0.7;", "table nan, 0.7;", "line 10, column 9: a probability is a number from 0 to 1, not 'nan'"),
    ("table 0.3, 0.7;", "table 1e999, 0.7;", "line 10, column 9: a probability is a number from 0 to 1, not '1e999'"),
    ("table 0.3, 0.7;", "table 0.3 x 0.7;", "line 10, column 13: a probability is a number from 0 to 1, not 'x'"),
    ("table 0.3, 0.7;", "table ٠.٣, 0.7;", "line 10, column 9: a probability is a number from 0 to 1, not '٠.٣'"),
    ("table 0.3, 0.7;", "table 0.3, 0.7", "line 11, column 1: expected a probability or ';', found '}'"),
    ("table 0.3, 0.7;", "tabel 0.3, 0.7;", "line 10, column 3: expected a row such as '(yes, no)', 'table'"),
    ("table 0.3, 0.7;", "", "line 9, column 15: the row () of A is missing, and there is no default"),
    ("table 0.3, 0.7;", "table 1 0; table 1 0;", "line 10, column 14: these probabilities of A are given twice"),
    ("table 0.3, 0.7;", "default 1 0; default 1 0;", "line 10, column 16: expected a row"),
    ("(a0) 0.1", "(a2) 0.1", "line 13, column 4: A has no value a2; its values are a0, a1"),
    ("(a0) 0.1", "(a0, a1) 0.1", "line 13, column 3: a row names one value for each parent (A), not 2"),
    ("(a0) 0.1", "() 0.1", "line 13, column 3: a row names one value for each parent (A), not 0"),
    ("(a0) 0.1", "(a0 0.1", "line 13, column 20: expected a value or ')', found ';'"),
    ("(a0) 0.1, 0.2, 0.7;", "(a0) 0.1, 0.2;", "line 13, column 3: expected 3 probabilities, found 2"),
    ("(a0) 0.1, 0.2, 0.7;", "(a0) 0.1, 0.2, 0.8;", "line 13, column 3: the table of B: the probabilities sum to 1.1"),
    ("(a0) 0.1, 0.2, 0.7;", "", "line 12, column 15: the row (a0) of B is missing, and there is no default"),
    ("(a1) 0.3", "(a0) 0.3", "line 14, column 3: these probabilities of B are given twice"),
    ("(a1) 0.3", "table 0.3", "line 14, column 3: expected 6 probabilities, found 3"),
    (
        "  (a0) 0.1, 0.2, 0.7;\n  (a1) 0.3, 0.3, 0.4;",
        "  table 0.1 0.2 0.7 0.3 0.3 0.4;",
        "line 13, column 3: the table of B, row A=a0: the probabilities sum to 1.1, not to 1",
    ),
    ("probability ( B | A ) {", "probability ( B | A )", "line 13, column 3: expected '{', found '('"),
    ("0.4;\n}", "0.4;\n", "line 16, column 1: expected a row such as '(yes, no)', 'table', 'default' or '}'"),
    (
        "}\nprobability ( A )",
        "}\nprobability ( B | A ) { default 1 0 0; }\nprobability ( A )",
        "line 13, column 15: the",
    ),
    (
        "probability ( A ) {\n  table",
        "probability ( A | B ) {\n  default",
        "line 12, column 19: the directed edges form",
    ),
    (None, VALID + "}", "line 16, column 1: expected 'network', 'variable' or 'probability', found '}'"),
    (None, VALID + "variable C { type discrete [ 1 ] { c }; }", "line 16, column 10: C has no probabilities: there"),
    (
        None,
        MANY + "probability ( V0 | " + ", ".join(f"V{i}" for i in range(1, 40)) + ") { default 1 0; }",
        "line 41, column 15: the table of V0 would have 10^12 cells, since it reads 39 variables",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN, ids=range(len(BROKEN)))
def test_what_is_wrong_is_said_with_its_place(old: str | None, new: str, message: str) -> None:
    if old is not None:
        assert VALID.count(old) >= 1
        new = VALID.replace(old, new, 1)
    with pytest.raises(DobanditError) as caught:
        bif.read(new, "net.bif")
    assert str(caught.value).startswith(f"net.bif, {message}")


def test_there_are_enough_broken_texts() -> None:
    assert len(BROKEN) > 50
    bif.read(VALID, "net.bif")


PIECES = [*'{}()[]|,;"/*\n', "//", "/*", "*/", "table", "default", "property", "type", "variable A {", "0.5", "1e400"]


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A valid text in which a few pieces were cut out, doubled, or put in."""
    text = draw(st.sampled_from([VALID, SPRINKLER]))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from(PIECES) | st.text(max_size=3) | st.just(text[at:end] * 2))
        text = text[:at] + piece + text[end:]
    return text


@given(mutations())
@settings(derandomize=True, deadline=None, max_examples=600)
def test_a_mutated_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(WorldError):
        network = bif.read(text, "net.bif")
        assert all(np.allclose(table.sum(axis=-1), 1) for table in network.tables.values())


@given(st.text(alphabet='variable pobty()[]{}|;,01."/*\n', max_size=80))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    refusal = "net.bif, line 0, column 0: read after all"
    try:
        bif.read(text, "net.bif")
    except WorldError as error:
        refusal = str(error)
    assert re.match(r"net\.bif, line \d+, column \d+: ", refusal)
