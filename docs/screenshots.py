"""The pictures of docs/tutorial-team.md: pages of the demo study in a real browser.

python docs/screenshots.py dobandit-out/demo
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
OUTCOMES = """id,Loyalty,Newsletter,Ad,Visit,Discount,Buy
101,0,1,0,1,0,0
102,1,1,0,1,0,1
"""


def main(folder: str) -> None:
    command = [str(Path(sys.executable).with_name("dobandit")), "serve", folder, "--port", "0", "--quiet"]
    os.environ["LOGNAME"] = "maria"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=quiet)
            page = browser.new_page(viewport={"width": 1000, "height": 800}, device_scale_factor=1.5)
            page.goto(address)
            study = f"{page.url.rstrip('/')}/studies/shop"
            take(page, study)
            browser.close()
        finally:
            server.terminate()


def take(page: Page, study: str) -> None:
    page.goto(study)
    page.screenshot(path=IMAGES / "team-study.png")
    page.goto(f"{study}/next")
    page.get_by_text("Upload outcomes").click()
    page.get_by_label("File of outcomes").set_input_files(
        {"name": "outcomes.csv", "mimeType": "text/csv", "buffer": OUTCOMES.encode()}
    )
    page.locator("details[open]").get_by_role("button", name="Check the file").click()
    page.get_by_role("button", name="Record 2 outcomes").wait_for()
    page.set_viewport_size({"width": 1000, "height": 480})
    page.screenshot(path=IMAGES / "team-upload.png")
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(f"{study}/next")
    page.get_by_role("button", name="Take the next pull").click()
    page.wait_for_load_state()
    page.screenshot(path=IMAGES / "team-phone.png")


if __name__ == "__main__":
    main(sys.argv[1])
