"""Problems proposed from data: what `init --data` writes can be completed and used with the same data."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dobandit as db
from dobandit.proposal import cut_points
from tests.conftest import Ran

ROWS = 400


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """A log as people have them."""
    chance = np.random.default_rng(5)
    ad, age = chance.integers(0, 2, ROWS), chance.integers(18, 90, ROWS).astype(float)
    age[:20] = np.nan
    buy = (chance.random(ROWS) < 0.2 + 0.4 * ad).astype(int)
    frame = pd.DataFrame(
        {
            "order id": range(7000, 7000 + ROWS),
            "day": pd.date_range("2026-01-01", periods=ROWS).astype(str),
            'Customer "segment"': chance.choice(["new", "regular", "NA"], ROWS, p=[0.5, 0.4, 0.1]),
            "age": age,
            "temperature": chance.normal(2, 8, ROWS).round(2),
            "Newsletter": chance.choice(["True", "False"], ROWS),
            "country": "DE",
            "comment": [f"text {i % 300}" for i in range(ROWS)],
            "empty": "",
            "Größe": chance.choice(["S", "M", "L"], ROWS),
            "Ad": ad,
            "intervention": np.where(np.arange(ROWS) < 5, "do(Ad=" + pd.Series(ad).astype(str) + ")", ""),
            "Revenue": np.where(buy, np.exp(chance.normal(3, 1, ROWS)).round(2), 0),
            "Buy": buy,
        }
    )
    path = tmp_path / "log.csv"
    frame.to_csv(path, index=False)
    return path


def _draw(file: Path, edges: str) -> None:
    """What a person adds to the proposed file."""
    text = file.read_text(encoding="utf-8")
    start = text.index("edges = ") + len('edges = """\n')
    file.write_text(text[:start] + edges + "\n" + text[start:], encoding="utf-8")


def test_decimal_commas_are_named(tmp_path: Path, dobandit: Callable[..., Ran]) -> None:
    file = tmp_path / "log.csv"
    file.write_text("X;Umsatz €\n" + "".join(f"{i % 2};{i},{i % 10}0\n" for i in range(40)), encoding="cp1252")
    ran = dobandit("init", tmp_path / "p.toml", "--data", file, "--reward", "Umsatz €")
    assert ran.code == 2
    assert "cannot be the reward: numbers with a decimal comma, such as '0,00'; write decimals with a point" in ran.err
    ran = dobandit("init", tmp_path / "p.toml", "--data", file, "--reward", "X")
    assert "2 variables" not in ran.err
    assert "1 column set aside" in ran.err
    assert "read log.csv as CSV: separator semicolon" in ran.err


def test_a_proposal_is_complete_but_for_the_arrows(messy: Path, dobandit: Callable[..., Ran]) -> None:
    file = messy.parent / "shop.toml"
    found = json.loads(dobandit("init", file, "--data", messy, "--reward", "Buy", "--json").out)
    segment = 'Customer "segment"'
    assert found["variables"] == [segment, "age", "temperature", "Newsletter", "Größe", "Ad", "Revenue", "Buy"]
    assert found["path"] == str(file)
    assert {column: why.split(";")[0].split(",")[0] for column, why in found["set_aside"].items()} == {
        "order id": "an identifier",
        "day": "dates or times (400 different ones)",
        "country": "always the same value",
        "comment": "an identifier",
        "empty": "no row has a value",
    }
    before = dobandit("check", file, "--data", messy)
    assert before.code == 2
    assert "no arrows are drawn yet" in before.err
    _draw(file, "age -> {Newsletter, Buy}; {Ad, Newsletter} -> Buy -> Revenue")
    checked = json.loads(dobandit("check", file, "--data", messy, "--json").out)
    frame = pd.read_csv(messy)
    holes = frame[[segment, "age"]].isna().any(axis=1)
    assert checked["missing"] == {"dropped": int(holes.sum()), "category": 0}
    answer = json.loads(dobandit("effect", file, messy, "--do", "Ad=1", "--json").out)
    plain = frame[~holes & frame["intervention"].isna()]
    assert answer["effects"][0]["mean"] == pytest.approx(plain[plain["Ad"] == 1]["Buy"].mean())
    assert answer["effects"][0]["n"] == len(plain)


def test_a_proposal_tells_what_it_saw(messy: Path, dobandit: Callable[..., Ran]) -> None:
    file, frame = messy.parent / "shop.toml", pd.read_csv(messy)
    dobandit("init", file, "--data", messy, "--reward", "Buy")
    text = file.read_text(encoding="utf-8")
    sizes = frame["Größe"].value_counts()
    assert f'"Größe" = ["L", "M", "S"]  # L: {sizes["L"]}, M: {sizes["M"]}, S: {sizes["S"]} rows' in text
    assert "age in 20" in text
    assert "The column intervention says what was done: do(Ad=" in text
    assert max(map(len, text.splitlines())) <= 140
    table = tomllib.loads(text)
    bins = np.digitize(frame["age"].dropna(), table["bins"]["age"])
    assert np.bincount(bins).min() > 0.15 * len(bins)


def test_the_reward_may_be_a_number_or_have_names(messy: Path, dobandit: Callable[..., Ran]) -> None:
    revenue, size = messy.parent / "revenue.toml", messy.parent / "size.toml"
    dobandit("init", revenue, "--data", messy, "--reward", "Revenue")
    seen = pd.read_csv(messy)["Revenue"]
    assert tomllib.loads(revenue.read_text(encoding="utf-8"))["reward"]["range"] == [0, seen.max()]
    dobandit("init", size, "--data", messy, "--reward", "Größe")
    assert tomllib.loads(size.read_text(encoding="utf-8"))["reward"]["values"] == {"L": 0, "M": 1, "S": 2}
    for file in (revenue, size):
        _draw(file, "Ad -> Buy -> Revenue; Ad -> Größe")
        assert dobandit("check", file, "--data", messy).code == 0


def test_a_graph_gives_the_edges_and_names_the_variables(messy: Path, dobandit: Callable[..., Ran]) -> None:
    graph, file = messy.parent / "graph.dot", messy.parent / "shop.toml"
    graph.write_text("digraph { customer_segment -> Buy; Ad -> Buy; Weather -> Buy }", encoding="utf-8")
    assert dobandit("init", file, "--data", messy, "--reward", "Buy", "--graph", graph).code == 0
    problem = db.Problem.load(file)
    assert problem.graph.parents("Buy") == {"customer_segment", "Ad"}
    assert problem.hidden == ("Weather",)
    assert problem.columns == {"customer_segment": 'Customer "segment"'}
    assert dobandit("effect", file, messy, "--all").code == 0


def test_quantiles_in_a_file_become_cut_points_and_nothing_else_changes(
    messy: Path, dobandit: Callable[..., Ran]
) -> None:
    file = messy.parent / "shop.toml"
    text = """# mine
reward = "Buy"
budget = 9
[graph]
edges = "{age, warmth} -> Buy"
[columns]
warmth = "temperature"
[bins]
age = { quantiles = 4 }   # quarters
warmth = [0]
"""
    file.write_text(text, encoding="utf-8")
    assert "have not been computed yet" in dobandit("check", file).err
    assert dobandit("init", file, "--data", messy).code == 0
    cuts = db.Problem.load(file).bins["age"]
    assert file.read_text(encoding="utf-8") == text.replace(
        "{ quantiles = 4 }", f"[{', '.join(f'{c:g}' for c in cuts)}]"
    )
    assert "column age has 20 rows without a value" in dobandit("check", file, "--data", messy).err
    ages = pd.read_csv(messy)["age"].dropna()
    assert np.bincount(np.digitize(ages, cuts)).min() > 0.15 * len(ages)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--reward", "Bye"], "there is no column Bye for the reward; did you mean Buy?"),
        (["--reward", "country"], "the column country cannot be the reward: always the same value, DE"),
        (["--reward", "comment"], "the column comment cannot be the reward: an identifier"),
        ([], "name the reward: --reward COLUMN"),
    ],
)
def test_what_cannot_be_proposed(
    messy: Path, dobandit: Callable[..., Ran], arguments: list[str], sentence: str
) -> None:
    ran = dobandit("init", messy.parent / "shop.toml", "--data", messy, *arguments)
    assert ran.code == 2
    assert sentence in ran.err
    assert not (messy.parent / "shop.toml").exists()


def test_an_existing_file_is_not_touched(messy: Path, dobandit: Callable[..., Ran]) -> None:
    file = messy.parent / "shop.toml"
    file.write_text("mine", encoding="utf-8")
    assert dobandit("init", file, "--data", messy, "--reward", "Buy").code == 2
    assert file.read_text(encoding="utf-8") == "mine"


@given(
    st.dictionaries(st.floats(-1e9, 1e9).map(lambda x: round(x, 3)), st.integers(1, 50), min_size=2), st.integers(2, 6)
)
def test_cut_points_split_rows_into_bins_that_are_all_filled(rows: dict[float, int], bins: int) -> None:
    numbers = np.array(sorted(rows))
    assume(len(numbers) > 1)
    times = np.array([rows[number] for number in numbers.tolist()], dtype=float)
    cuts = cut_points(numbers, times, bins)
    assert 1 <= len(cuts) < bins
    assert cuts == sorted(set(cuts))
    counts = np.bincount(np.digitize(numbers, cuts), times, len(cuts) + 1)
    assert counts.min() > 0


def _proposed(tmp_path: Path, dobandit: Callable[..., Ran], rows: list[str]) -> tuple[Ran, str]:
    """What `init` says of a column Z beside a reward Y, and what it writes."""
    data, file = tmp_path / "log.csv", tmp_path / "p.toml"
    data.write_text("Z;Y\n" + "".join(f"{z};{i % 2}\n" for i, z in enumerate(rows)), encoding="utf-8")
    ran = dobandit("init", file, "--data", data, "--reward", "Y")
    return ran, file.read_text(encoding="utf-8")


def test_none_among_words_is_a_value_and_is_told(tmp_path: Path, dobandit: Callable[..., Ran]) -> None:
    ran, text = _proposed(tmp_path, dobandit, ["none", "basic", "premium", ""] * 10)
    assert tomllib.loads(text)["domains"]["Z"] == ["basic", "none", "premium"]
    assert "10 of 40 rows miss a value of some variable: Z in 10\n" in text
    assert "warning: Z: the text 'none' (10 rows) is listed as a value" in ran.err
    (numbers := tmp_path / "numbers").mkdir()
    ran, text = _proposed(numbers, dobandit, ["none", "1", "2", "3"] * 10)
    assert "domains" not in tomllib.loads(text) or "none" not in tomllib.loads(text)["domains"]["Z"]
    assert "(written 'none')" in text


@pytest.mark.parametrize("missing", ["drop", "category"])
def test_none_that_is_read_as_missing_is_told(tmp_path: Path, missing: str, dobandit: Callable[..., Ran]) -> None:
    data, file = tmp_path / "log.csv", tmp_path / "p.toml"
    data.write_text("Z,Y\n" + "none,1\nbasic,0\nbasic,1\npremium,0\n,1\n" * 10, encoding="utf-8")
    domains = '[domains]\nZ = ["basic", "premium"]\n'
    file.write_text(
        f'budget = 10\nreward = "Y"\n[graph]\nedges = "Z -> Y"\n[data]\nmissing = "{missing}"\n{domains}',
        encoding="utf-8",
    )
    told = "warning: Z: the text 'none' (10 rows) is read as a missing value"
    assert told in dobandit("check", file, "--data", data).err
    assert told in dobandit("effect", file, data, "--all").err
    file.write_text(file.read_text(encoding="utf-8").replace('["basic"', '["none", "basic"'), encoding="utf-8")
    assert "none" not in dobandit("check", file, "--data", data).err


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([f"${i},{i:03}.50" for i in range(1, 41)], "amounts such as '$1,001.50'; write plain numbers"),
        ([f"{i} %" for i in range(40)], "amounts such as '0 %'; write plain numbers"),
        ([f"{i % 28 + 1}/12/2026" for i in range(40)], "dates or times (28 different ones)"),
        ([f"{i % 28 + 1:02}.12.26 10:30" for i in range(40)], "dates or times (28 different ones)"),
    ],
)
def test_columns_that_have_to_be_rewritten(
    tmp_path: Path, dobandit: Callable[..., Ran], values: list[str], reason: str
) -> None:
    _, text = _proposed(tmp_path, dobandit, values)
    assert f"#   Z: {reason}" in text


def test_yes_and_no_in_several_spellings_are_two_words(tmp_path: Path, dobandit: Callable[..., Ran]) -> None:
    _, text = _proposed(tmp_path, dobandit, ["yes", "no", "YES", "No"] * 10)
    assert 'Z = ["no", "yes"]  # no: 20, yes: 20 rows' in text
    assert (
        "# Read as CSV: separator semicolon, double quotes, header in line 1, encoding UTF-8, decimals with a point."
        in text
    )


def test_ticks_and_spellings_are_told(tmp_path: Path, dobandit: Callable[..., Ran]) -> None:
    _, text = _proposed(tmp_path, dobandit, ["x", ""] * 10)
    assert "#   Z: x or nothing (10 rows); if nothing means no, write 0 there to use it" in text
    (words := tmp_path / "two words").mkdir()
    ran, text = _proposed(words, dobandit, ["phone call", "PHONE CALL", "mail"] * 10)
    assert "warning: Z: 'phone call' and 'PHONE CALL' differ only in upper and lower case" in ran.err
    for told in (text, ran.err):  # what to type, where a name has a space
        assert f"--data '{words / 'log.csv'}'" in told
