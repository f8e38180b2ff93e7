"""The pages in a real browser: Debian's Chromium, driven by Playwright. One server and one browser for all tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from dobandit.study import Study
from tests.service.running import Service

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: install the package chromium")
PROBLEM = """
budget = 40
objective = "simple"
[reward]
variable = "Yield"
range = [0, 10]
[graph]
edges = "Dose -> Yield; Dose <-> Yield"
[domains]
Dose = ["low", "mid", "high"]
"""
PAGES = (
    "/",
    "/studies/shop",
    "/studies/shop/next",
    "/studies/shop/pulls/20",
    "/studies/shop/history",
    "/studies/hostile",
    "/studies/hostile/next",
    "/nothing/here",
)
Colours = Literal["light", "dark"]
PATIENCE = 180_000  # milliseconds: a busy machine is no fault of a page
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


def visit(
    browser: Browser,
    service: Service,
    role: str = "manager",
    width: int = 1100,
    colours: Colours = "light",
    **more: Any,
) -> BrowserContext:
    """A browser window of a visitor who has signed in."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=colours, **more)
    context.add_cookies([{"name": "dobandit", "value": service.tokens[role], "url": service.address}])
    context.set_default_timeout(PATIENCE)
    return context


def opened(context: BrowserContext, address: str) -> Page:
    """A page; a fault in a script fails the test."""
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    assert not faults
    return page


def test_a_study_from_the_first_form_to_the_last(service: Service, browser: Browser, tmp_path: Path) -> None:
    context = visit(browser, service)
    page = opened(context, service.address)
    page.get_by_text("New study").click()
    page.get_by_label("Name").fill("field")
    page.get_by_label("or its text").fill("budget = ")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("alert")).to_contain_text("field.toml")
    page.get_by_label("or its text").fill(PROBLEM)
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_text("Nothing is known yet.")).to_be_visible()
    watching = opened(context, f"{service.address}/studies/field")  # a second tab

    page.get_by_role("link", name="Do next").first.click()
    page.get_by_role("button", name="Take the next pull").click()
    card = page.locator("#pull-1")
    card.get_by_text("mid").click()
    card.get_by_label("Yield").fill("12")
    card.get_by_role("button", name="Tell").click()
    fault = card.locator(".fault")
    expect(fault).to_contain_text("Yield is 12, and not a number from 0 to 10")
    expect(card.get_by_label("Yield")).to_have_attribute("aria-invalid", "true")
    expect(card.get_by_label("mid")).to_be_checked()  # what was right is still there
    card.get_by_label("Yield").fill("7.5")
    card.get_by_role("button", name="Tell").click()
    expect(page.get_by_text("Recorded pull 1.")).to_be_visible()
    expect(watching.get_by_text("is best so far")).to_be_visible()  # without a reload
    expect(watching.get_by_text("1 outcome,")).to_be_visible()

    page.goto(f"{service.address}/studies/field/pulls/1")
    page.get_by_text("Amend the outcome").click()
    page.get_by_label("Yield").fill("6.5")
    page.get_by_role("button", name="Amend").click()
    expect(page.locator(".events")).to_contain_text("Dose=mid Yield=6.5")

    page.goto(f"{service.address}/studies/field/next")
    page.get_by_role("button", name="Take the next pull").click()
    with Study.open(service.folder / "field.db") as study:
        arm = study.problem.arms[study.log(pull=2)[0].content["arm"]]
        dose = dict(arm.settings).get("Dose", "low")
        upload(page, "outcomes", tmp_path / "outcomes.csv", f"id,Dose,Yield\n2,{dose},99\n")
        expect(page.get_by_role("alert")).to_contain_text("outcomes.csv, line 2")
        upload(page, "outcomes", tmp_path / "outcomes.csv", f"id,Dose,Yield\n2,{dose},3\n")
        expect(page.locator("main")).to_contain_text("1 outcome, and all of them fit. Nothing has been changed yet.")
        assert [row["Yield"] for row in study.outcomes()] == ["6.5"]
        page.get_by_role("button", name="Record 1 outcome").click()
        expect(page.get_by_text("Recorded 1 outcome from outcomes.csv.")).to_be_visible()
        assert [row["Yield"] for row in study.outcomes()] == ["6.5", "3"]
        upload(page, "logged rows", tmp_path / "log.csv", "Dose,Yield\nlow,1\nmid,2\nmid,3\n")
        expect(page.get_by_role("cell", name="no intervention")).to_be_visible()
        assert not serious(page)
        assert study.status().logged == 0
        page.get_by_role("button", name="Add 3 rows").click()
        expect(page.get_by_text("Added 3 rows to the evidence from log.csv.")).to_be_visible()
        assert study.status().logged == 3
    context.close()


def serious(page: Page) -> list[tuple[str, str]]:
    """What makes a page hard to use without eyes or a mouse, with the first place of each."""
    found = Axe().run(page)["violations"]
    return [(f["id"], f["nodes"][0]["html"]) for f in found if f["impact"] in ("serious", "critical")]


def upload(page: Page, what: str, file: Path, text: str) -> None:
    """Choose a file on the page Do next, and have it checked."""
    file.write_text(text)
    page.get_by_text(f"Upload {what}").first.click()
    page.get_by_label(f"File of {what}").set_input_files(file)
    page.locator("details[open]").get_by_role("button", name="Check the file").click()


def test_a_form_that_is_sent_twice_counts_once(service: Service, browser: Browser) -> None:
    context = visit(browser, service, "worker", java_script_enabled=False)  # a script would send it once
    one, two = (opened(context, f"{service.address}/studies/shop/next") for _ in range(2))
    with Study.open(service.folder / "shop.db") as study:
        before = len(study.pulls())
        for page in (one, two):
            page.get_by_role("button", name="Take the next pull").click()
            page.wait_for_load_state()
        assert len(study.pulls()) == before + 1
    expect(one.get_by_text("Upload logged rows")).to_have_count(0)  # that is for managers
    context.close()


def test_without_scripts(service: Service, browser: Browser) -> None:
    context = visit(browser, service, java_script_enabled=False)
    page = opened(context, f"{service.address}/studies/shop/next")
    page.get_by_role("button", name="Take the next pull").click()
    card = page.locator(".pull", has=page.get_by_role("button", name="Tell")).last
    number = str(card.get_attribute("id")).removeprefix("pull-")
    for values in card.locator("fieldset").all():
        values.get_by_text("1", exact=True).click()
    page.locator(f"#pull-{number}").get_by_role("button", name="Tell").click()
    expect(page.get_by_text(f"Recorded pull {number}.")).to_be_visible()
    context.close()


@pytest.mark.parametrize(("width", "colours"), [(1100, "light"), (360, "dark")])
def test_every_page_is_accessible_and_fits(width: int, colours: Colours, service: Service, browser: Browser) -> None:
    context = visit(browser, service, width=width, colours=colours)
    for path in PAGES:
        page = opened(context, service.address + path)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert not serious(page), path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate("[...document.images].every((i) => i.complete && i.naturalWidth > 0)"), path
        page.close()
    context.clear_cookies()
    page = opened(context, f"{service.address}/studies/shop")
    expect(page.get_by_label("Token")).to_be_visible()
    assert not serious(page)
    context.close()
