"""Reports: pages that need nothing else, the same content as HTML and as Markdown."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import dobandit as db
from dobandit.paper import PANELS, Reproduced, reproduce
from dobandit.paper.comparison import agreement, nearest
from dobandit.report import Page, Picture, Points, Section, Table, comparison_page, to_html, to_markdown
from dobandit.report.comparison import verdict
from dobandit.report.reproduction import reproduction_page, write_page, write_reproduction
from dobandit.simulation import Results
from tests.conftest import Ran

VOID = {"meta", "img", "br"}
PAGE = Page(
    "Runs & <b>",
    "Of `ucb[x=1]`.",
    {"seed": "0"},
    [
        Section("One: a | b", ["Text <script>.", Table(["policy", "regret"], [["`a|b`", "1.0"]]), Points(["x < y"])]),
        Section("Two", [Picture("drawing", b"<svg/>", 'a "figure"')]),
        Section("Three", []),
    ],
)


class Checked(HTMLParser):
    """Every tag is closed in order; what is shown and what is linked is collected."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.sources: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.sources += [str(found[key]) for key in ("src", "srcset", "data") if key in found]
        self.ids += [str(found["id"])] if "id" in found else []
        self.links += [str(found["href"])] if "href" in found else []
        assert tag not in {"script", "link", "iframe", "object"}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def check_alone(text: str) -> Checked:
    """Nothing is fetched: pictures are inside, links stay on the page."""
    found = Checked(text)
    assert all(source.startswith("data:image/svg+xml;base64,") for source in found.sources)
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert len(set(found.ids)) == len(found.ids)
    assert not re.search(r"url\(|@import|https?://", text)
    return found


def test_a_page_as_html() -> None:
    text = to_html(PAGE)
    found = check_alone(text)
    shown = "".join(found.words)
    for words in ("Runs & <b>", "Of ucb[x=1].", "Text <script>.", "a|b", "x < y"):
        assert words in shown
    assert "<code>ucb[x=1]</code>" in text
    assert base64.b64decode(found.sources[0].partition(",")[2]) == b"<svg/>"
    assert 'alt="a &quot;figure&quot;"' in text
    assert found.links == ["#s0", "#s1", "#s2"]


def test_a_page_as_markdown() -> None:
    lines = to_markdown(PAGE).splitlines()
    assert lines[0] == "# Runs & <b>"
    assert "| `a\\|b` | 1.0 |" in lines
    assert "| --- | ---: |" in lines
    assert '![a "figure"](images/drawing.svg)' in lines


@pytest.fixture(scope="module")
def found() -> list[Reproduced]:
    small = replace(PANELS["fig10-budget"], grid=(100.0, 220.0, 340.0))
    return reproduce([small, replace(PANELS["fig8-budget"], grid=(100.0, 150.0))], trials=16, workers=1)


def test_the_report_of_a_reproduction(found: list[Reproduced], tmp_path: Path) -> None:
    write_reproduction(found, tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    shown = "".join(check_alone(text).words)
    assert "NumPy" in shown
    assert np.__version__ in shown
    assert "seed" in shown
    for one in found:
        assert one.panel.name in shown
        assert f"{one.seconds:.1f}" in shown
        for form in ("png", "svg"):
            assert (tmp_path / f"{one.panel.name}.{form}").stat().st_size > 10_000
        ElementTree.parse(tmp_path / f"{one.panel.name}.svg")
        for name, curve in one.curves.items():
            assert str(agreement(curve, one.published[name])) in shown


def test_the_markdown_page_is_the_same_for_the_same_run(found: list[Reproduced], tmp_path: Path) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
    for folder, run in (("a", found), ("b", [replace(one, seconds=9.9) for one in found])):
        write_page(run, tmp_path / folder / "page.md")
    pages = [(tmp_path / folder / "page.md").read_text(encoding="utf-8") for folder in "ab"]
    assert pages[0] == pages[1]
    pictures = re.findall(r"\]\((images/.*?)\)", pages[0])
    assert pictures == ["images/fig10-budget.svg", "images/fig8-budget.svg"]
    for picture in pictures:
        assert (tmp_path / "a" / picture).read_bytes() == (tmp_path / "b" / picture).read_bytes()


def test_explanations_stand_where_the_numbers_differ_and_only_there(found: list[Reproduced]) -> None:
    _, hidden = found
    explained = hidden.panel.notes["f-kube"]
    assert explained in to_markdown(reproduction_page([hidden]))
    there = [point.regret for point in hidden.published_points("f-kube") if point]
    alike = replace(hidden, regret={name: np.tile(there, (16, 1)) for name in hidden.regret})
    assert explained not in to_markdown(reproduction_page([alike]))
    alone = replace(hidden, regret={name: regret[:1] for name, regret in hidden.regret.items()})
    assert explained not in to_markdown(reproduction_page([alone])), "one trial explains nothing"
    assert "within the noise" not in to_markdown(reproduction_page([alone]))


def test_bounds_are_drawn_on_request(found: list[Reproduced]) -> None:
    _, hidden = found
    plain, bounded = (reproduction_page([hidden], bounds=bounds).pictures[0].svg for bounds in (False, True))
    assert b"upper bound (Theorem 1)" not in plain
    assert b"upper bound (Theorem 1)" in bounded
    assert b"lower bound" in bounded
    assert b"mean of 8 trials" in bounded


def test_what_is_drawn_for_simple_regret_is_called_what_it_is(found: list[Reproduced]) -> None:
    """A bound where the constant is known, on the parallel graph; else a rate."""
    parallel, _ = found
    general = reproduce([replace(PANELS["fig4-cost"], grid=(2.0, 3.0))], trials=3, policies=["paper-simple"], workers=1)
    bound, rate = (reproduction_page([one], bounds=True) for one in (parallel, *general))
    assert b"upper bound (Theorem 2), mean of 8 trials" in bound.pictures[0].svg
    assert b"rate of Theorem 2, mean of 3 trials" in rate.pictures[0].svg
    assert "costs of the first 8 trials" in to_markdown(bound)
    assert "costs of the first 3 trials" in to_markdown(rate)


def test_the_page_states_its_criteria_and_which_forms_it_took(found: list[Reproduced]) -> None:
    _, hidden = found
    text = to_markdown(reproduction_page([hidden]))
    assert "less than 10% of its value there" in text
    assert f"Of two forms each, these are closest to the published curves: `{nearest(hidden, 'f-kube')}`" in text


def test_run_writes_a_report(dobandit: Callable[..., Ran], tmp_path: Path) -> None:
    dobandit("init", tmp_path / "p.toml", "--example", "paper-n6")
    arguments = ["run", tmp_path / "p.toml", "--trials", 4, "--budget", 40, "--budget", 60, "--policy", "ucb"]
    ran = dobandit(*arguments, "--out", tmp_path / "out")
    assert "report.html" in ran.err
    found = check_alone((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert len(found.sources) == 2, "regret and the graph"
    shown = "".join(found.words)
    for words in ("Policies on p.toml", "ucb", "the best way to spend the budget", "60"):
        assert words in shown


def compared(*means: float) -> Results:
    """Results of policies with these mean regrets and a standard error of 0.1."""
    luck = np.tile([-0.5, 0.5], 13)[:, np.newaxis] * np.sqrt(25 / 26)
    problem = db.Problem("X -> Y", reward="Y", budget=10)
    names = ["ucb", "f-kube", "thompson"][: len(means)]
    results = db.simulate(problem, db.worlds.xor(problem.graph, seed=0), names, trials=26)
    signs = (-1) ** np.arange(len(means))
    return replace(results, regret={n: m + s * luck for n, m, s in zip(names, means, signs, strict=True)})


def test_the_verdict_is_a_sentence_that_admits_luck() -> None:
    assert verdict(compared(3)) == "With a budget of 10, `ucb` has a mean cumulative regret of 3 ± 0.098."
    assert verdict(compared(3, 2)) == (
        "With a budget of 10, `f-kube` has the least mean cumulative regret: 2 ± 0.098. `ucb` follows with 3 ± 0.098."
    )
    assert "which may be luck" in verdict(compared(2.3, 2))


def test_the_report_shows_the_problem_and_fits_a_phone(tmp_path: Path) -> None:
    problem = db.Problem("X -> Y; X <-> Y", reward="Y", budget=1234, costs={"do(X=1)": 3.25})
    page = comparison_page(compared(3, 2), "Policies", {}, problem)
    html = to_html(page)
    shown = ("has the least mean", "Make <code>Y</code> large", "1,234", "<code>do(X=1)</code>", "max-width: 40rem")
    assert all(text in html for text in shown)
    assert [picture.name for picture in page.pictures] == ["regret", "graph"]
