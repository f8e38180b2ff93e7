"""The pictures of docs/tutorial-team.md: pages of the demo study in a real browser.

python docs/screenshots.py dobandit-out/demo
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parent / "images"


def main(folder: str) -> None:
    command = [str(Path(sys.executable).with_name("dobandit")), "serve", folder, "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1000, "height": 760})
            page.goto(address)
            home = page.url.rstrip("/")
            _show(page, f"{home}/studies/shop", "team-study.png")
            page.set_viewport_size({"width": 360, "height": 700})
            page.goto(f"{home}/studies/shop/next")
            page.get_by_role("button", name="Take the next pull").click()
            _show(page, page.url, "team-phone.png")
            browser.close()
        finally:
            server.terminate()


def _show(page: Page, address: str, name: str) -> None:
    page.goto(address)
    page.screenshot(path=IMAGES / name)


if __name__ == "__main__":
    main(sys.argv[1])
