"""Many tables are counted from few questions to a source, with the same counts as one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dobandit.errors import DataError
from dobandit.evidence import Source, count, counts, open_source
from dobandit.evidence.batches import batches, pairs_counted
from dobandit.evidence.grouped import Grouped

NAMES = tuple("ABCDEFG")
CARDS = dict(zip(NAMES, (2, 3, 2, 4, 1, 2, 3), strict=True))
DOMAINS = {v: tuple(map(str, range(card))) for v, card in CARDS.items()}
GROUPS = st.lists(st.lists(st.sampled_from(NAMES), unique=True, max_size=4).map(tuple), max_size=30)


class Asked:
    """A source that notes what it is asked for."""

    def __init__(self, source: Source) -> None:
        self._source, self.questions = source, list[tuple[str, ...]]()
        self.columns, self.probabilities, self.name = source.columns, source.probabilities, source.name

    def group(self, variables: tuple[str, ...], measure: str | None = None) -> Grouped:
        self.questions.append(tuple(variables))
        return self._source.group(variables, measure)


def drawn(rows: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {v: rng.integers(0, card, rows) for v, card in CARDS.items()}


@given(GROUPS, st.integers(0, 40), st.sampled_from([8, 30, 200, 10**6]), st.booleans())
def test_counts_do_not_depend_on_what_is_counted_together(
    groups: list[tuple[str, ...]], rows: int, most: int, weighed: bool
) -> None:
    data = drawn(rows, seed=rows)
    weights = np.random.default_rng(1).random(rows) if weighed else None
    source = open_source(data, weights)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counts, "LARGEST", 0)
        patched.setattr(counts, "MOST_READ", most)
        found = count(source, groups, DOMAINS)
    assert list(found) == list(dict.fromkeys(groups))
    for group, table in found.items():
        expected = np.zeros([CARDS[v] for v in group])
        for row in range(rows):
            expected[tuple(data[v][row] for v in group)] += 1.0 if weights is None else weights[row]
        np.testing.assert_allclose(table, expected, rtol=1e-12)


def test_all_pairs_of_many_variables_are_few_questions() -> None:
    names = [f"v{i}" for i in range(300)]
    rng = np.random.default_rng(2)
    rows = {v: rng.integers(0, 2, 50) for v in names}
    source = Asked(open_source(rows))
    pairs = list(combinations(names, 2))
    found = count(source, pairs, dict.fromkeys(names, ("0", "1")))  # type: ignore[arg-type]
    assert len(found) == len(pairs)
    assert len(source.questions) == 2  # how many rows there are, and the rows
    for a, b in pairs[::997]:
        np.testing.assert_array_equal(found[a, b], np.histogram2d(rows[a], rows[b], bins=2)[0])


def test_products_of_matrices_count_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of variables with different numbers of values, with weights, and some rows after the other."""
    rng, rows = np.random.default_rng(3), 100
    cards = {f"v{i}": int(card) for i, card in enumerate(rng.integers(1, 5, 40))}
    data, weights = {v: rng.integers(0, card, rows) for v, card in cards.items()}, rng.integers(1, 4, rows)
    codes = {v: column.astype(np.intp) for v, column in data.items()}
    monkeypatch.setattr("dobandit.evidence.batches.MARKED", 7 * sum(cards.values()))  # seven rows
    of_pair = pairs_counted(codes, weights.astype(float), cards)
    pairs = list(combinations(cards, 2))
    whole = count(open_source(data, weights), pairs, {v: tuple(map(str, range(card))) for v, card in cards.items()})
    for a, b in pairs:
        expected = np.zeros((cards[a], cards[b]))
        np.add.at(expected, (data[a], data[b]), weights)
        np.testing.assert_array_equal(of_pair((a, b)), expected)
        np.testing.assert_array_equal(whole[a, b], expected)


def test_what_was_done_takes_memory_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source returns experiments, too, so that few observations do not mean few rows."""
    names, rows = [f"v{i}" for i in range(40)], 1000
    rng = np.random.default_rng(4)
    data = {v: rng.integers(0, 2, rows) for v in names}
    done = np.where(np.arange(rows) < 10, "", "do(v0=1)")
    source = Asked(open_source({**data, "intervention": done}))
    monkeypatch.setattr(counts, "MOST_READ", 20_000)
    found = count(source, list(combinations(names, 2)), dict.fromkeys(names, ("0", "1")))  # type: ignore[arg-type]
    assert max(map(len, source.questions)) <= 1 + 20  # a thousand rows of twenty variables
    assert {table.sum() for table in found.values()} == {10.0}


def test_a_table_that_is_too_large_is_refused_among_others() -> None:
    names = [f"v{i}" for i in range(30)]
    source = open_source({v: [0, 1, 1] for v in names})
    with pytest.raises(DataError, match=r"a table of v0, .* would have .* cells, which is too many"):
        count(source, [("v0", "v1"), tuple(names), ("v1", "v2")], dict.fromkeys(names, ("0", "1")))


@given(GROUPS.filter(lambda groups: all(groups)), st.integers(4, 7))
def test_batches_fit(groups: list[tuple[str, ...]], most: int) -> None:
    made = list(batches(groups, lambda block, number: number * len(block) <= most))
    assert sorted(group for batch in made for group in batch) == sorted(groups)
    assert all(len({v for group in batch for v in group}) <= most for batch in made)


def test_blocks_need_few_batches() -> None:
    """With room for k blocks' halves, all pairs of n variables need about (n / k)² / 2 questions, not n."""
    made = list(batches(list(combinations(map(str, range(120)), 2)), lambda block, number: number * len(block) <= 20))
    assert len(made) == 12 * 11 // 2
