"""Playwright's side of snapshot.py: opens pages and takes `aria_snapshot(mode="ai")` when told. Run by it."""

# mypy: ignore-errors
import gc
import json
import os
import statistics
import sys
import time

from playwright.sync_api import sync_playwright


def main(executable):
    with sync_playwright() as playwright:
        args = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=executable, args=args)
        page = browser.new_page()
        for line in sys.stdin:
            turn = json.loads(line)
            if turn["do"] == "open":
                page.close()
                page = browser.new_page()
                page.goto(turn["url"])
                said = {}
            else:
                gc.collect()
                taken = []
                for _ in range(turn["times"]):
                    started = time.perf_counter()
                    text = page.locator("body").aria_snapshot(mode="ai", timeout=120_000)
                    taken.append((time.perf_counter() - started) * 1000)
                said = {"chars": len(text), "ms": statistics.median(taken)}
            print(json.dumps(said), flush=True)
        browser.close()


main(sys.argv[1])
