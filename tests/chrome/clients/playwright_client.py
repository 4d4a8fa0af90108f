"""A Playwright program that opens the page argv[2] in the browser argv[1], uses it, and prints its results.

Run with the peers' interpreter.
"""

# mypy: ignore-errors
import json
import sys

from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(sys.argv[1])
    context = browser.new_context()
    page = context.new_page()
    page.goto(sys.argv[2])
    page.fill("#name", "Ada")
    page.get_by_role("button", name="Greet").click()
    other = context.new_page()
    other.goto(sys.argv[2])
    said = {
        "greeting": page.locator("#greeting").inner_text(),
        "title": other.title(),
        "sum": page.evaluate("([a, b]) => a + b", [2, 3]),
        "screenshot": len(other.screenshot()) > 1000,
        "pages": len(context.pages),
    }
    context.close()
    browser.close()
print(json.dumps(said))
