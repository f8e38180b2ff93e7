"""Names of variables: which ones there can be, and how they are written in texts."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dobandit.errors import GraphError
from dobandit.graph import Graph, check_name, in_quotes, name_pattern, normal, quoted, unquoted
from tests.strategies import fixed


@pytest.mark.parametrize("name", ["X", "_", "x.1", "X_2", "Größe", "価格", "Цена", "मूल्य", "ราคา", "سعر"])
def test_words_of_any_alphabet_are_bare(name: str) -> None:
    assert quoted(name) == name
    assert re.fullmatch(name_pattern(), name)


@pytest.mark.parametrize("name", ["", "1", "½", "²", ".a", "a b", "a-b", "a=b, c", "a,b", "a;b", "{a}", "a->b", "#"])
def test_other_names_are_quoted(name: str) -> None:
    assert quoted(name) == f'"{name}"'


@fixed
@given(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
def test_quoting_round_trip(text: str) -> None:
    for written in (quoted(text), in_quotes(text)):
        assert re.fullmatch(name_pattern(), written)
        assert unquoted(written) == unicodedata.normalize("NFC", text)


def test_a_name_ends_where_its_quotes_end() -> None:
    text = r'do("a \"b\" = \\"=1, Größe=2, "c"=3)'
    assert [unquoted(found) for found in re.findall(name_pattern(), text)][1:] == ['a "b" = \\', "Größe", "c"]


def test_names_compare_in_their_normal_form() -> None:
    assert normal("Gro\u0308ße") == unquoted("Gro\u0308ße") == unquoted('"Gro\u0308ße"') == "Größe"


@pytest.mark.parametrize("text", ['"', '"a', '"a"b"', '"a\\"', '"a\\n"', '"\\'])
def test_bad_quotes_say_what_to_write(text: str) -> None:
    with pytest.raises(GraphError, match=r'write (it as|\\\\ for a backslash and) \\"'):
        unquoted(text)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "^'' cannot be the name of a variable: it is empty$"),
        (" a", "it starts or ends with a blank$"),
        ("a\u00a0", "it starts or ends with a blank$"),
        ("a\tb", r"a line end or an invisible character \(U\+0009\)$"),
        ("a\nb", r"\(U\+000A\)$"),
        ("a\u2028b", r"\(U\+2028\)$"),
        ("a\u200bb", r"\(U\+200B\)$"),
        ("a\ud800", r"\(U\+D800\)$"),
        ("x" * 256, r"^'x{37}\.\.\.' cannot .*: it has 256 characters, and at most 255 are possible$"),
        (1, "^1 cannot be the name of a variable: a name must be a text$"),
    ],
)
def test_names_that_no_variable_can_have(name: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        check_name(name)
    with pytest.raises(GraphError, match=message):
        Graph.from_edges([(name, "Y")])


def test_a_name_of_255_signs_with_joiners_is_one() -> None:
    for name in ("x" * 255, "می\u200cخواهم", "a\u00a0b", "a  b"):
        assert check_name(name) == name


def test_a_graph_finds_its_variables_however_their_letters_are_composed() -> None:
    composed, split = "Größe", "Gro\u0308ße"
    graph = Graph(f'{split} -> "Customer segment"; {split} <-> Y')
    assert graph == Graph(f'{composed} -> "Customer segment"; {composed} <-> Y')
    assert split in graph
    assert graph.children(split) == {"Customer segment"}
    assert graph.ancestors("Customer segment") == {composed}
    assert graph.descendants(split) == {"Customer segment"}
    assert graph.project([split]).variables == (composed,)
    assert Graph.from_edges([(split, "Y")]) == Graph.from_edges([(composed, "Y")])
