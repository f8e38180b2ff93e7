"""Names of variables: which ones there can be, and how they are written in texts."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dobandit.errors import GraphError
from dobandit.graph import NAME, in_quotes, normal, quoted, unquoted
from tests.strategies import fixed


@pytest.mark.parametrize("name", ["X", "_", "x.1", "X_2", "Größe", "価格", "Цена", "मूल्य", "ราคา", "سعر"])
def test_words_of_any_alphabet_are_bare(name: str) -> None:
    assert quoted(name) == name
    assert re.fullmatch(NAME, name)


@pytest.mark.parametrize("name", ["", "1", ".a", "a b", "a-b", "a=b, c", "a,b", "a;b", "{a}", "a->b", "#", "😀"])
def test_other_names_are_quoted(name: str) -> None:
    assert quoted(name) == f'"{name}"'


@fixed
@given(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
def test_quoting_round_trip(text: str) -> None:
    for written in (quoted(text), in_quotes(text)):
        assert re.fullmatch(NAME, written)
        assert unquoted(written) == unicodedata.normalize("NFC", text)


def test_a_name_ends_where_its_quotes_end() -> None:
    text = r'do("a \"b\" = \\"=1, Größe=2, "c"=3)'
    assert [unquoted(found) for found in re.findall(NAME, text)][1:] == ['a "b" = \\', "Größe", "c"]


def test_names_compare_in_their_normal_form() -> None:
    assert normal("Gro\u0308ße") == unquoted("Gro\u0308ße") == unquoted('"Gro\u0308ße"') == "Größe"


@pytest.mark.parametrize("text", ['"', '"a', '"a"b"', '"a\\"', '"a\\n"', '"\\', '"a\nb"'])
def test_bad_quotes_say_what_to_write(text: str) -> None:
    with pytest.raises(GraphError, match=r'write (it as|\\\\ for a backslash and) \\"'):
        unquoted(text)
