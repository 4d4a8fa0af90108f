"""Read a page as roles, names and refs, and act on the refs.

Run: python examples/read_and_act.py
"""

from __future__ import annotations

import trio
from pages import serve

import cdpengine

PAGE = """<!doctype html><title>To do</title>
<h1>To do</h1>
<form><label>New entry <input id=entry></label> <button>Add</button></form>
<ul aria-label="Entries"></ul>
<script>
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const entry = document.querySelector("#entry"), item = document.createElement("li");
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    const label = document.createElement("label");
    label.append(box, " " + entry.value);
    item.append(label);
    document.querySelector("ul").append(item);
    entry.value = "";
  });
</script>"""


async def main() -> None:
    """Add two entries, check the first, and print the page before and after."""
    with serve({"/": PAGE}) as address:
        async with cdpengine.launch() as browser:
            page = await browser.new_page(f"{address}/")
            before = await page.snapshot()
            print(f"{before}\n")

            field = before.find(role="textbox", name="New entry")
            await page.type(field, "water the plants")
            await page.click(before.find(role="button", name="Add"))
            await page.type(field, "call Ada", submit=True)  # the ref still refers to the field

            filled = await page.snapshot()
            await page.click(filled.find(role="checkbox", name="water the plants"))
            print(await page.snapshot())


if __name__ == "__main__":
    trio.run(main)
