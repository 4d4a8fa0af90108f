"""A Playwright program that launches a browser at a named path, over its pipe, and uses the page argv[1]."""

# mypy: ignore-errors
import json
import sys

from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page()
    page.goto(sys.argv[1])
    page.fill("#name", "Ada")
    page.get_by_role("button", name="Greet").click()
    print(json.dumps([page.locator("#greeting").inner_text(), page.title()]))
    browser.close()
